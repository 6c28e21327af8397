"""A kind of hierarchy that a test adds goes through every statement, or is refused when a hierarchy is made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlglot import exp

from sqlanon import Connection, connect, plugins
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.errors import InternalError
from sqlanon.estimates.labels import spans
from sqlanon.plugins import names
from sqlanon.sql.hierarchies.base import READINGS, builder

KIND = "remainders"


def _labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """The remainders that values leave: 10 under REMAINDERS (6, 2) has the labels 4 and 0."""
    return tuple(
        exp.cast(exp.Mod(this=value.copy(), expression=exp.Literal.number(str(by))), "VARCHAR")
        for by in definition.arguments
    )


def kind_of(**parts: Any) -> ModuleType:
    module = ModuleType(f"sqlanon.sql.hierarchies.{KIND}")
    given = {
        "STORED": False,
        "KEEPS_ORDER": False,
        "READ_AS": "any",
        "validate": lambda definition: None,
        "height": lambda definition: len(definition.arguments) + 1,
        "accepts": lambda column_type: column_type == "INTEGER",
        "labels": _labels,
    }
    for name, part in (given | parts).items():
        if part is not None:
            setattr(module, name, part)
    return module


def add(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    def with_kind(package: str) -> tuple[str, ...]:
        # A module that is imported meanwhile keeps this function: afterwards it has to answer as the other.
        is_there = package == "sqlanon.sql.hierarchies" and f"{package}.{KIND}" in sys.modules
        return (*names(package), KIND) if is_there else names(package)

    monkeypatch.setitem(sys.modules, f"sqlanon.sql.hierarchies.{KIND}", module)
    monkeypatch.setattr(plugins, "names", with_kind)


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    add(monkeypatch, kind_of())
    with connect(config={"threads": "1"}) as opened:
        opened.execute("CREATE TABLE t AS SELECT CAST(i AS INTEGER) AS n, 'd' || i AS disease FROM range(12) AS r(i)")
        opened.execute(f"CREATE HIERARCHY h AS {KIND.upper()} (6, 2)")
        opened.execute(
            "CREATE POLICY p ON t (n QUASI IDENTIFIER USING h, disease SENSITIVE) REQUIRE k_anonymity(k => 4)"
        )
        yield opened


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("method", "labels"),
    [
        ("generalization", {"0", "1"}),
        # In the order of the hierarchy, not of the values: even numbers lie on one side of the cut.
        ("mondrian(publish => 'ancestor')", {"0", "1"}),
    ],
)
def test_a_new_kind_goes_through_every_statement(
    con: Connection, method: str, labels: set[str], tmp_path: Path
) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert {label for (label,) in con.duckdb.execute("SELECT DISTINCT n FROM r").fetchall()} == labels
    assert con.execute("CHECK r").fetchall()[0][-1] is True
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT parquet)")
    for release in ("r", f"'{tmp_path / 'out' / 'r.parquet'}'"):
        answers = con.execute(f"ESTIMATE SELECT count(*) AS c FROM t WHERE n < 3 FROM RELEASE {release}").fetchall()
        # A label says nothing of its values: none of the rows may be meant, or all.
        assert {0.0, 12.0} <= {float(cell) for row in answers for cell in row if isinstance(cell, int | float)}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"labels": None, "KEEPS_ORDER": None}, "the hierarchy kind remainders has no labels, KEEPS_ORDER\n"),
        ({"READ_AS": None}, "is read as None, which is none of interval, period, mask, any"),
        ({"READ_AS": "tea leaves"}, "is read as tea leaves, which is none of"),
        ({"STORED": None}, "does not say in STORED whether its labels are rows"),
        ({"STORED": True}, "the hierarchy kind remainders has no values, checks\n"),
    ],
)
def test_a_kind_that_lacks_a_part_is_refused_when_a_hierarchy_is_made(
    parts: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, kind_of(**parts))
    with connect(config={"threads": "1"}) as con, pytest.raises(InternalError, match=message):
        con.execute(f"CREATE HIERARCHY h AS {KIND.upper()} (6, 2)")


def test_estimates_can_read_what_kinds_say_of_themselves() -> None:
    assert set(READINGS) <= set(spans._FORMS)
    for kind in names("sqlanon.sql.hierarchies"):
        assert isinstance(builder(kind).STORED, bool)
