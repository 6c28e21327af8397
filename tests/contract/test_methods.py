"""What every method has to do: each goes through all statements, and one that lacks a part is refused."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sqlanon
from sqlanon import InternalError, PolicyError, PrivacyViolation
from sqlanon.methods.base import OF_ROWS, Method, Wording
from sqlanon.methods.limits import Limits
from sqlanon.methods.registry import METHODS, find_method
from tests.support.database import template
from tests.support.methods import CALLS, EXAMPLE, PAID, RANGES, SETUP, SOURCE, default_call, limits_of, with_example
from tests.support.names import quoted

# The parts without which there is no method.
PARTS = ("OPTIONS", *sorted(Method.__abstractmethods__))
# The methods that publish counts with noise, or rows made from them, and no row of the source.
# How likely a text is between two others, nobody knows, nor which values are behind a mean.
BOUNDS_ALONE = {RANGES, "microaggregation"}
WITH_NOISE = {name for name, (_, call) in CALLS.items() if call.endswith(PAID)}


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


def test_every_method_goes_through_what_follows() -> None:
    assert set(CALLS) == {*METHODS, EXAMPLE, RANGES}
    # The policy follows from what a method can do; a baseline is compared with releases of buckets.
    assert {name: default_call(name)[0] for name in METHODS if name != "trivial"} == {
        name: CALLS[name][0] for name in METHODS if name != "trivial"
    }


@pytest.mark.one_in(11)
@pytest.mark.parametrize("name", CALLS)
def test_a_method_goes_through_every_statement(con: sqlanon.Connection, name: str, tmp_path: Path) -> None:
    policy, call = CALLS[name]
    create = f"ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}"
    explained = con.execute(f"EXPLAIN VERBOSE {create}").fetchall()
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
    if policy == "families":
        with pytest.raises(PolicyError, match="several tables"):
            con.execute(f"ESTIMATE {counted} FROM RELEASE made")
        assert con.execute("MEASURE made").fetchall() == []
        return
    if name in WITH_NOISE:
        with pytest.raises(PolicyError, match="counts with noise"):
            con.execute(f"ESTIMATE {counted} FROM RELEASE made")
        return
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
    assert con.duckdb.execute(errors).fetchall() == [(40, name not in BOUNDS_ALONE, True)]

    con.execute(f"CREATE OR REPLACE {create}")
    assert made(con) == tables
    con.execute("DROP ANONYMIZED TABLE made")
    assert made(con) == []


# Noise makes rows of none.
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [name for name in CALLS if name not in WITH_NOISE])
def test_an_empty_source_shows_no_row(con: sqlanon.Connection, name: str) -> None:
    con.duckdb.execute(f"DELETE FROM {SOURCE}").fetchall()
    policy, call = CALLS[name]
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    for table in made(con):
        assert con.duckdb.execute(f"SELECT count(*) FROM {quoted(table)}").fetchall() == [(0,)]


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


# Fragments that nothing links promise nothing of rows, and counts with noise have none: there is none to withhold.
@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", [name for name in CALLS if name not in {"fragments", *WITH_NOISE}])
def test_what_may_not_be_published_is_withheld(con: sqlanon.Connection, name: str) -> None:
    """More is asked than the source has: the statement ends, and there is no table."""
    policy, call = CALLS[name]
    if policy == "baskets":
        con.execute(
            f"""CREATE OR REPLACE POLICY baskets ON {SOURCE} ("[ite""ms]" QUASI IDENTIFIER USING goods)
            REQUIRE km_anonymity(k => 1000, m => 2)"""
        )
    elif policy == "families":
        con.execute("ALTER POLICY families REQUIRE k_anonymity(k => 1000)")
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


def module_of(monkeypatch: pytest.MonkeyPatch, parts: dict[str, object], *others: type[Method[Any, Any]]) -> None:
    """Registers METHOD part: a module with a class of these parts, and other classes."""
    part = ModuleType("part")
    part.__dict__["Part"] = type("Part", (Method,), {"__module__": "part", **parts})
    part.__dict__.update({f"Other{number}": other for number, other in enumerate(others)})
    monkeypatch.setitem(sys.modules, "part", part)
    monkeypatch.setattr("sqlanon.methods.registry.METHODS", {**METHODS, "part": "part"})


def parts_of(name: str) -> dict[str, object]:
    """The parts that a method has itself."""
    return {part: member for part, member in vars(type(find_method(name))).items() if not part.startswith("_")}


@pytest.mark.parametrize("lacking", PARTS)
def test_a_method_that_lacks_a_part_publishes_nothing(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    parts = parts_of("fragments")
    del parts[lacking]
    module_of(monkeypatch, parts)
    with pytest.raises(InternalError, match=f"the method part has no {lacking}"):
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY apart METHOD part")
    assert made(con) == []


def test_a_module_has_one_method(con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes that it imports are not counted."""
    create = "CREATE ANONYMIZED TABLE made AS POLICY apart METHOD part"
    again = type("Again", (Method,), {"__module__": "part", **parts_of("fragments")})
    module_of(monkeypatch, parts_of("fragments"), again)
    with pytest.raises(InternalError, match="the method part has 2 subclasses of Method"):
        con.execute(create)
    module_of(monkeypatch, parts_of("fragments") | {"__module__": "elsewhere"})
    with pytest.raises(InternalError, match="the method part has no subclasses of Method"):
        con.execute(create)
    assert made(con) == []
    module_of(monkeypatch, parts_of("fragments"), type(find_method("loose")))
    con.execute(create)
    assert made(con) == ["made_1", "made_2"]


# What a method that overrides nothing else does with a release of its own.
NOTHING = {part: parts_of("fragments")[part] for part in PARTS}


def test_a_method_that_overrides_nothing_else_refuses_every_ability(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_of(monkeypatch, NOTHING)
    part = find_method("part")
    assert part.limits(part.options(())) == Limits()
    assert None not in [getattr(Limits(), ability.name) for ability in fields(Limits)]
    assert (part.promises(None), part.assumes(None, ["ill"])) == ((), ())
    with pytest.raises(PolicyError, match="METHOD part is about several tables"):
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY p METHOD part")


def test_several_tables_that_no_part_verifies_are_not_published(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_of(monkeypatch, NOTHING | {"limits": parts_of("fragments")["limits"]})
    with pytest.raises(InternalError, match="the method part does not say how its tables belong together"):
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY apart METHOD part")
    assert made(con) == []


def test_a_measurement_that_no_certificate_could_explain_publishes_nothing(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(find_method(EXAMPLE)), "wording", lambda self, options: Wording(None, {}))
    policy, call = CALLS[EXAMPLE]
    with pytest.raises(InternalError, match="does not say what rows_shown means"):
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    assert made(con) == []


def test_a_table_that_no_certificate_could_describe_is_not_exported(
    con: sqlanon.Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    example = type(find_method(EXAMPLE))
    wording = example.wording
    monkeypatch.setattr(example, "wording", lambda self, options: replace(wording(self, options), tables=(OF_ROWS,)))
    policy, call = CALLS[EXAMPLE]
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
    with pytest.raises(InternalError, match="does not say that it publishes a table whose columns are read as bucket"):
        con.execute(f"EXPORT made TO '{tmp_path}/out/'")
    assert list(tmp_path.glob("out*")) == []
