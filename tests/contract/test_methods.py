"""What every method has to do: each goes through all statements, and one that lacks a part is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import sqlanon
from sqlanon import InternalError, PolicyError, PrivacyViolation
from sqlanon.methods.base import OF_ROWS, Method, Wording, parts_lacking
from sqlanon.methods.registry import METHODS, find_method
from tests.support.database import template
from tests.support.methods import CALLS, EXAMPLE, RANGES, SETUP, SOURCE, limits_of, with_example

# What a method has to have.
PARTS = ("OPTIONS", *(name for name in vars(Method) if not name.startswith("_")))


@pytest.fixture(scope="module")
def methods(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return with_example(tmp_path_factory.mktemp("example"))


@pytest.fixture(autouse=True)
def _registered(methods: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.methods.registry.METHODS", methods)


@pytest.fixture
def con() -> sqlanon.Connection:
    return template(SETUP)


def made(con: sqlanon.Connection) -> list[str]:
    found = con.duckdb.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'made%' ORDER BY 1")
    return [name for (name,) in found.fetchall()]


def test_every_method_has_a_line_here() -> None:
    assert set(CALLS) == {*METHODS, EXAMPLE, RANGES}


@pytest.mark.one_in(11)
@pytest.mark.parametrize("name", CALLS)
def test_a_method_goes_through_every_statement(con: sqlanon.Connection, name: str, tmp_path: Path) -> None:
    policy, call = CALLS[name]
    create = f"ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}"
    explained = con.execute(f"EXPLAIN {create}").fetchall()
    assert {"resolve", "bind", "solve", "compile"} <= {stage for stage, *_ in explained}
    assert made(con) == []

    con.execute(f"CREATE {create}")
    tables = made(con)
    assert tables
    checked = con.execute("CHECK made").fetchall()
    assert checked
    con.execute(f"EXPORT made TO '{tmp_path / 'files'}'")
    assert (tmp_path / "files" / "certificate.json").is_file()

    counted = f"SELECT count(*) AS n FROM {SOURCE} WHERE \"select\" = 'z1'"
    answers = [
        con.execute(f"ESTIMATE {counted} FROM RELEASE {source}").fetchall()
        for source in ("made", f"'{tmp_path / 'files' / 'certificate.json'}'")
    ]
    assert answers[0] == answers[1]
    exact = con.duckdb.execute(counted).fetchall()[0][0]
    (answer,) = answers[0]
    _, _, low, high, _ = answer
    assert low <= exact <= high
    con.execute("MEASURE made WITH WORKLOAD asked")
    # `within`: no answer lies beyond its bounds; it is NULL where there are none.
    errors = "SELECT count(*), count(estimated) > 0, bool_and(within IS DISTINCT FROM false) FROM anon.query_error"
    # How likely a text is between two others, nobody knows: of buckets with such ranges there are bounds alone.
    assert con.duckdb.execute(errors).fetchall() == [(40, name != RANGES, True)]

    con.execute(f"CREATE OR REPLACE {create}")
    assert made(con) == tables
    con.execute("DROP ANONYMIZED TABLE made")
    assert made(con) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CALLS)
def test_an_empty_source_shows_no_row(con: sqlanon.Connection, name: str) -> None:
    con.duckdb.execute(f"DELETE FROM {SOURCE}").fetchall()
    policy, call = CALLS[name]
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    for table in made(con):
        assert con.duckdb.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CALLS)
def test_a_live_view_shows_what_it_may_or_is_refused(con: sqlanon.Connection, name: str) -> None:
    policy, call = CALLS[name]
    create = f"CREATE ANONYMIZED VIEW made AS POLICY {policy} METHOD {call}"
    if limits_of(call).view is not None:
        with pytest.raises(PolicyError, match="view"):
            con.execute(create)
        return
    con.execute(create)
    classes = con.execute('SELECT count(*) FROM made GROUP BY "é age", "select"').fetchall()
    assert min(count for (count,) in classes) >= 2


# Fragments that nothing links promise nothing of rows: there is none to withhold.
@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", [name for name in CALLS if name != "fragments"])
def test_what_may_not_be_published_is_withheld(con: sqlanon.Connection, name: str) -> None:
    """More is asked than the source has: the statement ends, and there is no table."""
    policy, call = CALLS[name]
    if policy == "baskets":
        con.execute(
            f"""CREATE OR REPLACE POLICY baskets ON {SOURCE} ("[ite""ms]" QUASI IDENTIFIER USING goods)
            REQUIRE km_anonymity(k => 1000, m => 2)"""
        )
    elif policy == "apart":
        con.duckdb.execute(f"DELETE FROM {SOURCE} WHERE rowid > 0").fetchall()
    else:
        con.duckdb.execute(f"UPDATE {SOURCE} SET \"it's\" = 'd1'").fetchall()
        # The other policies require it.
        con.execute(
            f"""CREATE OR REPLACE POLICY p ON {SOURCE} ("é age" QUASI IDENTIFIER, "it's" SENSITIVE)
            REQUIRE l_diversity(l => 2)"""
        )
    with pytest.raises(PrivacyViolation):
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    assert made(con) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("lacking", PARTS)
def test_a_method_that_lacks_a_part_publishes_nothing(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    whole = find_method("fragments")
    part = ModuleType("part")
    part.__dict__.update({name: getattr(whole, name) for name in dir(whole) if name != lacking})
    assert parts_lacking(part) == [lacking]
    monkeypatch.setitem(sys.modules, "part", part)
    monkeypatch.setattr("sqlanon.methods.registry.METHODS", {**METHODS, "part": "part"})
    with pytest.raises(InternalError, match=f"the method part has no {lacking}"):
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY apart METHOD part")
    assert made(con) == []


def test_a_measurement_that_no_certificate_could_explain_publishes_nothing(
    con: sqlanon.Connection, methods: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = sys.modules[methods[EXAMPLE]]
    monkeypatch.setattr(example, "wording", lambda given: Wording(None, {}))
    policy, call = CALLS[EXAMPLE]
    with pytest.raises(InternalError, match="does not say what rows_shown means"):
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    assert made(con) == []


def test_a_table_that_no_certificate_could_describe_is_not_exported(
    con: sqlanon.Connection, methods: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    example = sys.modules[methods[EXAMPLE]]
    wording = example.wording
    monkeypatch.setattr(example, "wording", lambda given: replace(wording(given), tables=(OF_ROWS,)))
    policy, call = CALLS[EXAMPLE]
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    with pytest.raises(InternalError, match="does not say that it publishes a table whose columns are read as bucket"):
        con.execute(f"EXPORT made TO '{tmp_path}/out/'")
    assert list(tmp_path.glob("out*")) == []
