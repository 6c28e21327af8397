"""CONTRIBUTING.md's example of a new privacy model works: its two files, as they stand on the page, are all it takes.

They are put where they would stand, and then go through the contract tests of every
model, the search and the statements.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sqlanon import assets
from sqlanon.sql.questions.load import load_question, model_names, question_names
from tests.support.database import one_thread
from tests.support.models.contract import (
    check_against_the_oracle,
    check_an_empty_table,
    check_model_is_portable,
    check_the_header,
)
from tests.support.models.search import Drawn, assert_optimal, drawn
from tests.support.pages import Reading

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# A file's path in a line of its own, and below it a block with the file's text.
FILE = re.compile(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = dict(FILE.findall(PAGE.partition("\n## Adding a privacy model\n")[2].partition("\n## Adding a figure\n")[0]))
USE = PAGE.partition("\n### What then happens\n")[2].partition("\n## ")[0]

SQL, ORACLE = "sql/models/frequent_l_diversity.sql", "tests/oracles/models/frequent_l_diversity.py"
NAME = Path(SQL).stem


def forget() -> None:
    for cached in (assets.read, assets.listing, load_question):
        cached.cache_clear()


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's files beside those of every model, in a copy of the folder."""
    shutil.copytree(ROOT / "sql", tmp_path / "sql")
    for path in (SQL, ORACLE):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(FILES[path], encoding="utf-8")
    original = assets.folder
    monkeypatch.setattr(assets, "folder", lambda kind: tmp_path / "sql" if kind == "sql" else original(kind))
    spec = spec_from_file_location(f"tests.oracles.models.{NAME}", tmp_path / ORACLE)
    assert spec is not None
    assert spec.loader is not None
    oracle = module_from_spec(spec)
    spec.loader.exec_module(oracle)
    monkeypatch.setitem(sys.modules, spec.name, oracle)
    forget()
    yield
    forget()


@pytest.fixture
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        yield opened


def drawn_tables(check: Callable[[Any, str, st.DataObject], None], connection: Any) -> None:
    # Where a failure is expected, the smallest table that shows it is not looked for.
    @given(data=st.data())
    @settings(deadline=None, max_examples=40, phases=[Phase.generate])
    def checked(data: st.DataObject) -> None:
        check(connection, NAME, data)

    checked()


def test_the_page_has_both_files_and_no_model_of_today_has_their_name() -> None:
    assert set(FILES) == {SQL, ORACLE}
    assert NAME not in question_names()


@pytest.mark.usefixtures("added")
def test_the_file_is_a_model_that_all_engines_answer_alike() -> None:
    assert NAME in question_names()
    assert NAME in model_names()
    for statement in ("achieved", "violations"):
        check_model_is_portable(NAME, statement)


@pytest.mark.long
@pytest.mark.usefixtures("added")
def test_the_model_keeps_the_contract_of_every_model(connection: Any) -> None:
    check_an_empty_table(connection, NAME)
    for check in (check_against_the_oracle, check_the_header):
        drawn_tables(check, connection)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("< $l\n", "<= $l\n"),
        ("n >= $m", "n > $m"),
        ("AS DOUBLE) AS excess", "AS DOUBLE) * 2 AS excess"),
    ],
)
def test_a_mistake_on_the_page_would_be_noticed(
    connection: Any, right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert right in FILES[SQL]
    (tmp_path / SQL).write_text(FILES[SQL].replace(right, wrong), encoding="utf-8")
    forget()
    # A group of them, if there are several ways to see it.
    with pytest.raises((AssertionError, ExceptionGroup)):
        drawn_tables(check_against_the_oracle, connection)


@pytest.mark.long
@pytest.mark.usefixtures("added")
def test_the_search_finds_the_optimum_under_the_model() -> None:
    @given(case=drawn(NAME))
    @settings(deadline=None, max_examples=10)
    def check(case: Drawn) -> None:
        assert_optimal(case)

    check()


@pytest.mark.usefixtures("added")
def test_the_statements_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert USE.count("```sql") == USE.count("```text") == 1
    folder = tmp_path / "page"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Reading(folder).page(USE, "CONTRIBUTING.md")
