"""The SQL that a statement runs on the hospital's patients, step by step, in words that are the same each time.

The rule. A step is what one stage of a statement does with one object, and has a file,
`<method>/<case>/<number>-<stage>-<object>.sql`; other statements than those that make a release lie in `statements/`,
and have no stage where the file says none. The numbers are the order in which the steps of a case begin. An object is

- a temporary table or view of sqlanon's, by its purpose: the statements that make, fill or rename it, and the queries
  that read it. A query that reads several counts for the first in its text;
- the source, the release (under the name that it has until it is published, too) or, for what writes into the schema
  `anon`, the catalog. The stages materialize, check and publish are a step each, whatever the object.

A statement stands in the first file that it belongs to, of whatever case and folder: `tests/golden/hospital.py` has the
cases in their order, and a file shows what is new in its case. Names of temporary tables and of the release make no
difference there. Left out are: queries that read only the catalog or DuckDB's own tables, DESCRIBE, the number of rows
of one table, tables that only keep a place (AS SELECT 0), and the DROP of what is temporary.

sqlglot breaks the lines, and `tests/golden/layout.py` joins those that fit into one; not a word of a statement is
changed by it, but for the body of a live view, whose text DuckDB writes with more parentheses and quotes. Names that
are drawn are numbered instead, and of several rows of parameters one stands for all. A relation that several statements
contain is a file of `relations/`: see `tests/golden/relations.py`.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

from sqlglot import parse_one
from sqlglot.dialects.duckdb import DuckDB

from sqlanon import connect
from sqlanon.sql.build.render import to_sql
from tests.golden.hospital import FOLDERS, SETUP, Case
from tests.golden.layout import Line, tree
from tests.golden.live_views import POLICIES, body

__all__ = ["in_lines", "steps"]

# What sqlglot does not know, and functions for which it writes others.
# DuckDB writes the body of a live view, with parentheses that sqlglot leaves out.
_VIEW = "CREATE SECURE VIEW"
_UNPARSED = ("ALTER", "COPY", "CREATE TEMPORARY TYPE")
_KEPT = re.compile(r"\b(concat_ws|len|list|range|string_agg)\(")
_TEMPORARY = r"__sqlanon_[0-9a-f]{12}_[0-9]+_(\w+)"
_CANDIDATE = r"__sqlanon_candidate_[0-9a-f]{12}_[0-9]+"
_RELEASE = rf'"(?:{_CANDIDATE}|hospital_release\w*)"'
_SOURCE = '"patients"'
_NUMBERED = r"(__sqlanon_\w+)_[0-9]+\b"
_WRITES = re.compile(
    r"\s*(?:CREATE|INSERT|DELETE|ALTER|DROP)\b.*?\b(?:TABLE|VIEW|TYPE|INTO|FROM)\s+(?:IF\s+EXISTS\s+)?(\S+)"
    r"|\s*UPDATE\s+(\S+)",
    re.DOTALL,
)
# A file of this name makes a database with the name that one in memory has.
_DATABASE = "memory.db"
# Some cases have a series.
_KEY = patch.dict(os.environ, {"SQLANON_TEST_KEY": "a key that nobody knows"})
# What a file of SQL says of itself.
_REMARKS = re.compile(r"\A(?:--[^\n]*\n)+")
# However many rows are inserted at once: the statement is the same.
_ROWS_OF_PARAMETERS = re.compile(r"(\(\?(?:, \?)*\))(?:, \1)+")
_COUNTS = re.compile(r"SELECT COUNT\(\*\) FROM \S+$")
_WHOLE_STAGES = ("materialize", "check", "publish")
# Objects that are understood together have one file: whose it is stands behind them.
_TOGETHER = {
    **dict.fromkeys(("texts", "word"), "words"),
    **dict.fromkeys(("points", "points_done", "regions_done"), "regions"),
    **dict.fromkeys(("sides", "medians"), "attempts"),
    **dict.fromkeys(("mask", "masked", "bit"), "masks"),
    **{"halves": "cut", "parts": "children", "free": "lacking"},
    **{"others": "share", "among": "asked"},
}


def _step(stage: str, text: str) -> str | None:
    """The name of the step that a statement belongs to; None if it belongs to none."""
    thing = _object(text)
    if thing is None:
        return None
    stage = stage.replace(" ", "-")
    return stage if stage in _WHOLE_STAGES else f"{stage}-{thing}".lstrip("-").replace("_", "-")


def _object(text: str) -> str | None:
    text = _REMARKS.sub("", text)
    if text.startswith("DESCRIBE") or _COUNTS.match(text) or text.endswith(" AS SELECT 0"):
        return None
    written = _WRITES.match(text)
    if written is None:
        return _named(text)
    target = written[1] or written[2]
    if re.match(r'"?anon"?\.', target):
        return "catalog"
    return None if text.startswith("DROP") and re.search(_TEMPORARY, text) else _named(target)


def _named(text: str) -> str | None:
    if temporary := re.search(_TEMPORARY, text):
        purpose = temporary[1]
        return _TOGETHER.get(purpose, purpose)
    if re.search(_RELEASE, text):
        return "release"
    return "source" if _SOURCE in text else None


class _InWords:
    """Puts a stable word for each name or number that is drawn: the same one each time that it occurs."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._drawn: dict[str, int] = {}

    def of(self, text: str) -> str:
        text = re.sub(_TEMPORARY, lambda found: self._word(found[0], f"__sqlanon_{found[1]}"), text)
        text = re.sub(_CANDIDATE, lambda found: self._word(found[0], "__sqlanon_candidate"), text)
        text = re.sub(r"\budf_[0-9a-f]{32}\b", "udf", text)
        text = re.sub(r"\b(region|place)_[0-9a-f]{32}\b", r"\1_of_the_release", text)
        text = re.sub(r"'[0-9a-f]{32}'", "'the release id'", text)
        text = re.sub(r"'[0-9a-f]{64}'", "'a digest'", text)
        return _ROWS_OF_PARAMETERS.sub(r"\1", text)

    def _word(self, name: str, word: str) -> str:
        if name not in self._words:
            self._drawn[word] = self._drawn.get(word, 0) + 1
            self._words[name] = f"{word}_{self._drawn[word]}"
        return self._words[name]


def in_lines(text: str) -> list[Line]:
    """Sets a statement in the lines that sqlglot prints, with its own words; as it is, where sqlglot has others."""
    text = text.strip().rstrip(";")
    if text.startswith(_VIEW):
        header, body = text.split(" AS\n", 1)
        return [Line(text)] if "\n" in body else tree(f"{header} AS\n{_printed(body)}")
    if "\n" in text or text.startswith(_UNPARSED):
        return [Line(text)]
    printed = _printed(_KEPT.sub(r"kept_\1(", text))
    own, others = DuckDB().tokenize(text), DuckDB().tokenize(printed)
    if [_word(token.text) for token in own] != [_word(token.text) for token in others]:
        return [Line(text)]
    parts: list[str] = []
    end = 0
    for token, other in zip(own, others, strict=True):
        parts += [printed[end : other.start], text[token.start : token.end + 1]]
        end = other.end + 1
    return tree("".join(parts))


def _printed(text: str) -> str:
    return to_sql(parse_one(text, dialect="duckdb"), pretty=True)


def _word(text: str) -> str:
    return text.lower().removeprefix("kept_")


@contextmanager
def _same_draws() -> Iterator[None]:
    """Random bits that are the same each time: how often a method tries again must not change what is seen."""
    generator = random.Random(1)
    with patch.object(os, "urandom", generator.randbytes):
        yield


def _prepared(before: str, folder: Path) -> Path:
    """Returns a database with the patients in which the statements before a case have run: one for all such cases."""
    path = folder / hashlib.sha256(before.encode()).hexdigest() / _DATABASE
    if not path.exists():
        path.parent.mkdir()
        if before:
            shutil.copy(_prepared("", folder), path)
        with _KEY, connect(path) as con:
            con.execute("SET threads = 1")
            con.execute(before or SETUP)
    return path


@contextmanager
def _errors_named(case: str) -> Iterator[None]:
    """Adds the name of a case to an error in the block."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the golden case tests/golden/{case}")
        raise


def _run(case: Case, folder: Path) -> dict[str, list[str]]:
    """The statements of each step, in the order in which the steps begin."""
    found: dict[str, list[str]] = {}
    words = _InWords()

    def observe(stage: str, sql: str | None, *_: object) -> None:
        if sql is not None and (step := _step(stage, sql)) is not None:
            found.setdefault(step, []).append(words.of(sql))

    database = ":memory:" if case.in_memory else shutil.copy(_prepared(case.before, folder), folder / _DATABASE)
    with _KEY, connect(database) as con, tempfile.TemporaryDirectory() as empty:
        con.execute("SET threads = 1")
        if case.in_memory:
            con.execute(SETUP + case.before)
        con.observe(observe)
        with _same_draws():
            con.execute(case.statement.replace("{folder}", empty))
    return found


@cache
def steps() -> dict[str, list[list[Line]]]:
    """Returns the bodies of live views, and what each step runs now, by the path of their files below this folder."""
    found: dict[str, list[list[Line]]] = {}
    for name in POLICIES:
        with _errors_named(f"{name}.sql"):
            found[f"{name}.sql"] = [tree(body(name))]
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for method, cases in FOLDERS.items():
            for case in cases:
                with _errors_named(f"{method}/{case.name}"):
                    found |= _new_steps(f"{method}/{case.name}", _run(case, Path(folder)), known)
    return found


def _new_steps(folder: str, steps: dict[str, list[str]], known: set[str]) -> dict[str, list[list[Line]]]:
    """The steps of a case that are like none of the `known` ones, by the path of their files; they are known then."""
    found: dict[str, list[list[Line]]] = {}
    for name, texts in steps.items():
        new: list[str] = []
        for text in texts:
            if (like := _nameless(text)) not in known:
                known.add(like)
                new.append(text)
        if new:
            found[f"{folder}/{len(found) + 1:02}-{name}.sql"] = [in_lines(text) for text in new]
    return found


def _nameless(text: str) -> str:
    """The statement without what tells two tables of one purpose, and a candidate from a release."""
    return re.sub(r"__sqlanon_candidate|hospital_release\w*", "release", re.sub(_NUMBERED, r"\1", text))
