"""The page about `sqlanon serve`: a reader's steps, from the export to the answer, and the files of the two users."""

from __future__ import annotations

import configparser
import io
import json
import shlex
import subprocess
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

import pytest

from tests.support.command_line import environment
from tests.support.pages import ROOT, Block, Reading, assert_parses, blocks, commands
from tests.support.processes import running
from tools.docs_size import page_words

PAGE = "docs/how-to/serve.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
PORT = "31337"


@pytest.mark.long
def test_the_steps_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The door of the page listens on a free port, which takes the place of the port in the text."""
    monkeypatch.chdir(tmp_path)
    port = ""

    def at_door(block: Block) -> str:
        nonlocal port
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(block.text.replace(PORT, port), {})  # noqa: S102 - the project's own page
            return out.getvalue()
        [command] = commands(block.text)
        arguments = [*command[1:], "--port", "0", "--rooms", str(tmp_path / "rooms")]
        program = [sys.executable, "-m", "sqlanon", *arguments]
        door = stack.enter_context(running(program, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True))
        printed = [door.stdout.readline()]
        while printed[-1] and not printed[-1].startswith("JDBC"):
            printed.append(door.stdout.readline())
        port = printed[0].rpartition(":")[2].strip()
        return "".join(printed).replace(port, PORT)

    with ExitStack() as stack:
        Reading(tmp_path, at_door=at_door).page(TEXT, PAGE)
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["started", "ended"]
    assert lines[1]["rows"] == 3


def test_commands_of_the_unit_and_of_the_container_are_read() -> None:
    texts = {block.language: block.text for block in blocks(TEXT, PAGE)}
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(texts["ini"])
    program, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert_parses([Path(program).name, *arguments], PAGE)
    lines = dict(line.split(" ", 1) for line in texts["dockerfile"].splitlines())
    program, *arguments = [*json.loads(lines["ENTRYPOINT"]), *json.loads(lines["CMD"])]
    assert_parses([program, *arguments], PAGE)


def test_the_page_is_short() -> None:
    assert page_words(TEXT) <= 900
