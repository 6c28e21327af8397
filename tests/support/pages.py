"""Reads a page of the documentation, runs its blocks and compares what they print with what the page shows."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import typer.main

import sqlanon
from sqlanon.clients.terminal.cli import app
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import ScriptRun
from tools.readme_picture import draw_patients

ROOT = Path(__file__).resolve().parents[2]
RUN_FIRST = re.compile(r"<!-- run first: (\S+) -->")
OUTPUT = "<!-- output -->"
FENCE = re.compile(r"^(`{3,})(.*)$")
# The reference of the catalog writes into a catalog that is there.
SCRIPTS = {"docs/catalog.md": ["sql/examples/hospital.sql"]}
# In place of the output of a block that another test runs.
_ELSEWHERE = "run by another test"
# Pages about a file that their readers have.
OF_A_FILE = {"README.md": "patients.csv"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words behind it, and whether it is marked as output."""

    place: str
    language: str
    words: tuple[str, ...]
    text: str
    is_output: bool


def blocks(text: str, page: str) -> Iterator[Block]:
    lines = text.splitlines()
    marked = False
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        fence = FENCE.match(line)
        if not fence:
            marked = line.strip() == OUTPUT or (marked and not line.strip())
            continue
        begun = number
        while number < len(lines) and lines[number] != fence[1]:
            number += 1
        assert number < len(lines), f"{page}:{begun}: this block is never closed"
        language, *words = fence[2].split() or [""]
        yield Block(f"{page}:{begun}", language, tuple(words), "\n".join(lines[begun:number]), marked)
        number += 1
        marked = False


@dataclass
class Reading:
    """Runs the blocks of one page in a folder; `printed` is what the last one printed.

    Of a ```python spark block only the syntax is read, unless the reading `has_spark`. `at_door` runs blocks with the
    word door, and returns what they print; without it they are parsed, and their outputs are skipped.
    """

    folder: Path
    has_spark: bool = False
    at_door: Callable[[Block], str] | None = None
    connection: Any = field(default_factory=sqlanon.connect)
    # Dataclasses of a page look for the module that they are in.
    variables: dict[str, Any] = field(default_factory=lambda: {"__name__": __name__})
    printed: str | None = None

    def page(self, text: str, name: str) -> None:
        (self.folder / "sql").symlink_to(ROOT / "sql")
        if name in OF_A_FILE:
            draw_patients(self.folder / OF_A_FILE[name])
        for script in (*SCRIPTS.get(name, ()), *RUN_FIRST.findall(text)):
            self._sql((ROOT / script).read_text(encoding="utf-8"), name, fails=False)
        for block in blocks(text, name):
            if block.is_output and self.printed == _ELSEWHERE:
                continue
            if block.is_output:
                assert self.printed is not None, f"{block.place}: no block before this output"
                assert_prints(self.printed, block)
            else:
                self.printed = self._run(block)

    def _run(self, block: Block) -> str | None:
        if self.at_door is not None and "door" in block.words:
            return self.at_door(block)
        match block.language:
            case "sql":
                return self._sql(block.text, block.place, fails="error" in block.words)
            case "python" if "door" in block.words:
                compile(block.text, block.place, "exec")
                return _ELSEWHERE
            case "sh" if "door" in block.words:
                for command in commands(block.text):
                    assert_parses(command, block.place)
                return _ELSEWHERE
            case "python" if "spark" not in block.words or self.has_spark:
                return self._python(block)
            case "python":
                compile(block.text, block.place, "exec")
            case "sh" if "no-run" not in block.words:
                return self._sh(block)
            case "sh":
                for command in commands(block.text):
                    assert_parses(command, block.place)
        return None

    def _sql(self, text: str, place: str, *, fails: bool) -> str:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            done = ScriptRun(self.connection, Output()).run(text, place)
        assert done is not fails, f"{place}: {'no error' if done else err.getvalue()}"
        return err.getvalue() if fails else out.getvalue()

    def _python(self, block: Block) -> str:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(block.text, block.place, "exec"), self.variables)  # noqa: S102 - the project's own pages
        return out.getvalue()

    def _sh(self, block: Block) -> str:
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        program = programs / "sqlanon"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sqlanon "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["sh", "-e", "-c", block.text],
            cwd=self.folder,
            env={**os.environ, **path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block.place}: {done.stderr}"
        return done.stdout + done.stderr


def tables(text: str) -> list[list[list[str]]]:
    """The Markdown tables in a text, the line of dashes left out: tables of rows of cells."""
    found = []
    for is_table, lines in groupby(text.splitlines(), key=lambda line: line.startswith("|")):
        if is_table:
            cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
            found.append([row for row in cells if not all(re.fullmatch(r"-+:?", cell) for cell in row)])
    return found


def other_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("|")]


def fits(wanted: str, found: str) -> bool:
    """Whether a cell or a line is what the page shows, `...` being any text."""
    return re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), found) is not None


def assert_prints(printed: str, block: Block) -> None:
    """Raises AssertionError unless the block shows all tables that were printed, and lines that were.

    A row that is `...` in each column stands for any number of further rows.
    """
    wanted, found = tables(block.text), tables(printed)
    assert wanted or other_lines(block.text), f"{block.place}: this output is empty; printed was\n{printed}"
    assert len(wanted) == len(found), f"{block.place}: {len(wanted)} tables, printed were\n{printed}"
    for shown, (head, *rows) in zip(wanted, found, strict=True):
        assert shown[0] == head, f"{block.place}: the columns are {head}"
        is_excerpt = any(set(row) == {"..."} for row in shown)
        for row in shown[1:]:
            if set(row) == {"..."}:
                continue
            same = [other for other in rows if len(other) == len(row) and all(map(fits, row, other))]
            assert same, f"{block.place}: no row {row}; printed was\n{printed}"
            rows.remove(same[0])
        assert rows == [] or is_excerpt, f"{block.place}: rows that the page does not show: {rows}"
    left = iter(other_lines(printed))
    for line in other_lines(block.text):
        assert any(fits(f"...{line}...", other) for other in left), f"{block.place}: no line {line!r} in\n{printed}"


def commands(text: str) -> Iterator[list[str]]:
    """The commands of a shell block, word by word."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        words.whitespace_split = True
        for is_end, command in groupby(words, key=lambda word: set(word) <= set("|&;")):
            if not is_end:
                yield list(command)


def assert_parses(command: list[str], place: str) -> None:
    """Raises AssertionError for a target that the Makefile lacks, and for a command line that sqlanon refuses."""
    program, *arguments = command
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(arguments[:1]) <= set(targets), f"{place}: there is no make {arguments[0]}"
    elif program == "sqlanon":
        try:
            parsed(arguments)
        except Exception as error:
            raise AssertionError(f"{place}: {shlex.join(command)}: {error}") from error


def parsed(arguments: list[str]) -> None:
    """Raises what typer raises for a command line that it cannot read; runs nothing."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("sqlanon", list(arguments))
    while hasattr(group, "resolve_command"):
        name, group, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        context = group.make_context(name, rest, parent=context)
