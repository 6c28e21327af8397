"""CONTRIBUTING.md's example of a new figure works: its two files, as they stand on the page, are all it takes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

import sqlanon
from sqlanon import assets
from sqlanon.sql.questions.statistics import load_statistic, statistic_names
from tests.support.figures import classes_of, measured, tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Adding a figure\n")[2].partition("\n## ")[0]
FILES = dict(re.findall(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL))
SQL, ORACLE = "sql/figures/belief.sql", "tests/oracles/belief.py"


def forget() -> None:
    for cached in (assets.read, assets.listing, load_statistic):
        cached.cache_clear()


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The page's file beside those of every figure, in a copy of the folder."""
    shutil.copytree(ROOT / "sql", tmp_path / "sql")
    (tmp_path / SQL).write_text(FILES[SQL], encoding="utf-8")
    original = assets.folder
    monkeypatch.setattr(assets, "folder", lambda kind: tmp_path / "sql" if kind == "sql" else original(kind))
    forget()
    yield tmp_path / SQL
    forget()


def oracle() -> Any:
    names: dict[str, Any] = {}
    exec(FILES[ORACLE], names)  # noqa: S102 - the page's code
    return names["belief"]


def check() -> None:
    belief = oracle()

    # A failure is expected below, so the smallest table that shows it is not looked for.
    @given(tables)
    @settings(deadline=None, max_examples=20, phases=[Phase.generate])
    def holds(table: list[tuple[Any, ...]]) -> None:
        found = measured(table)
        for name, value in belief(classes_of(table)).items():
            assert found[name] == (None if value is None else pytest.approx(value))

    holds()


def test_the_page_has_both_files_and_no_figure_of_today_has_their_name() -> None:
    assert set(FILES) == {SQL, ORACLE}
    assert "belief" not in statistic_names("figures")


@pytest.mark.long
@pytest.mark.usefixtures("added")
def test_the_figure_is_what_its_oracle_says() -> None:
    check()


@pytest.mark.long
def test_a_mistake_on_the_page_would_be_noticed(added: Path) -> None:
    added.write_text(FILES[SQL].replace("max(n)", "min(n)"), encoding="utf-8")
    forget()
    with pytest.raises((AssertionError, ExceptionGroup)):
        check()


@pytest.mark.usefixtures("added")
def test_a_release_is_measured_by_its_name() -> None:
    with sqlanon.connect() as con:
        con.execute("CREATE TABLE t AS SELECT i // 4 AS age, i % 2 AS s FROM range(8) AS n(i)")
        con.execute("CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        answer = con.execute("MEASURE r WITH FIGURES (belief)").fetchall()
    assert answer == [("main.r", "belief", "s", 0.5), ("main.r", "belief_mean", "s", 0.5)]
