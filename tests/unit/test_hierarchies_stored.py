"""LEVELS and PARENTS: what is wrong with the rows, and which names the checks return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pytest

from sqlanon import connect
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.errors import PolicyError
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import stored

Row = Sequence[str | None]
HOSTILE = 'a "b". select' + "\N{SNOWMAN}" * 190


@pytest.fixture
def con() -> Iterator[Any]:
    with duckdb.connect() as opened:
        yield opened


def load(con: Any, rows: Sequence[Row], names: Sequence[str]) -> None:
    quoted = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in names)
    con.execute(f'CREATE TEMP TABLE "the rows" ({quoted})')
    for row in rows:
        con.execute(f'INSERT INTO "the rows" VALUES ({", ".join("?" * len(row))})', list(row))


def faults(con: Any, kind: str, rows: Sequence[Row], names: Sequence[str]) -> dict[str, set[str]]:
    """The names that each check returns, for checks that return some."""
    load(con, rows, names)
    found = {}
    for check in stored(kind).checks(HierarchyDefinition(HOSTILE, kind, query="q"), names, relation("the rows")):
        assert check.message.startswith(f"hierarchy {HOSTILE}: ")
        assert check.hint
        result = con.execute(to_sql(check.query))
        assert [str(column_type) for _, column_type, *_ in result.description] == ["VARCHAR"]
        offending = [name for (name,) in result.fetchall()]
        assert None not in offending
        if offending:
            found[check.name] = set(offending)
    return found


WIDE = ("value", 'level "1"', "select")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("flu", "lung", "any"), ("cold", "lung", "any"), (None, "none", "any")], {}),
        ([("flu", "lung", "*"), ("cold", "*", "*")], {}),
        ([], {"no_rows": {HOSTILE}}),
        (
            [("flu", "lung", "any"), ("flu", "lung", "any"), (None, "a", "any"), (None, "a", "any")],
            {"value_twice": {"'flu'", "NULL"}},
        ),
        (
            [("flu", "lung", "any"), ("flu", "skin", "any"), ("cold", "lung", "any")],
            {"two_labels": {"'flu' under 'lung' and 'skin'"}, "value_twice": {"'flu'"}},
        ),
        (
            [("flu", None, "any"), (None, "lung", None), ("", "lung", "any")],
            {"label_missing": {"'flu' (level 1)", "NULL (level 2)"}},
        ),
        (
            [("flu", "lung", "inner"), ("cold", "lung", "outer"), ("burn", "skin", "outer")],
            {"levels_nest": {"'lung' of level 1 under 'inner' and 'outer' of level 2"}},
        ),
    ],
)
def test_levels_names_what_is_wrong(con: Any, rows: list[Row], expected: dict[str, set[str]]) -> None:
    assert faults(con, "levels", rows, WIDE) == expected


EDGES = ("node", 'its "parent"')
SOUND = [("flu", "lung"), ("cold", "lung"), ("burn", "skin"), ("lung", "any"), ("skin", "any"), ("any", None)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (SOUND, {}),
        ([*SOUND, (None, "skin")], {}),
        ([("flu", None), ("cold", None), (None, None)], {}),
        ([], {"no_rows": {HOSTILE}}),
        ([*SOUND, ("flu", "lung")], {"node_twice": {"'flu' under 'lung'"}}),
        ([*SOUND, ("any", None)], {"node_twice": {"'any' under NULL"}}),
        ([*SOUND, ("flu", "skin")], {"two_parents": {"'flu' under 'lung' and 'skin'"}}),
        ([*SOUND, ("skin", None)], {"two_parents": {"'skin' under 'any' and NULL"}}),
        ([*SOUND, ("cut", "wound"), ("tear", "wound")], {"orphan": {"'wound' (parent of 'cut')"}}),
        ([*SOUND, ("egg", "hen"), ("hen", "egg")], {"cycle": {"'egg'", "'hen'"}}),
        ([*SOUND, ("self", "self")], {"cycle": {"'self'"}}),
        ([("egg", "hen"), ("hen", "egg")], {"cycle": {"'egg'", "'hen'"}}),
        ([*SOUND, ("ache", "any")], {"shallow": {"'ache' (depth 1, the deepest 2)"}}),
        ([*SOUND, ("other", None)], {"shallow": {"'other' (depth 0, the deepest 2)"}}),
        (
            [*SOUND, ("h5n1", "flu")],
            {"shallow": {"'cold' (depth 2, the deepest 3)", "'burn' (depth 2, the deepest 3)"}},
        ),
        ([*SOUND, (None, "any")], {"shallow_null": {"NULL (depth 1, the deepest 2)"}}),
    ],
)
def test_parents_names_what_is_wrong(con: Any, rows: list[Row], expected: dict[str, set[str]]) -> None:
    found = faults(con, "parents", rows, EDGES)
    # Checks presume the earlier ones: the first that finds something is the one to report.
    assert dict([*found.items()][:1]) == expected


def test_a_chain_that_bites_its_tail_ends(con: Any) -> None:
    ring = [(str(place), str((place + 1) % 60)) for place in range(60)]
    found = faults(con, "parents", ring, EDGES)
    assert found["cycle"] == {f"'{place}'" for place in range(60)}


@pytest.mark.parametrize("names", [(), ("node",), ("node", "parent", "more")])
def test_parents_reads_two_columns(names: tuple[str, ...]) -> None:
    definition = HierarchyDefinition("tree", "parents", query="q")
    for ask in (stored("parents").values, stored("parents").checks):
        with pytest.raises(PolicyError, match=f"hierarchy tree: the query has {len(names)} columns instead of 2"):
            ask(definition, names, relation("r"))


def test_levels_reads_one_column_or_more() -> None:
    definition = HierarchyDefinition("tree", "levels", query="q")
    for ask in (stored("levels").values, stored("levels").checks):
        with pytest.raises(PolicyError, match="hierarchy tree: the query has no column"):
            ask(definition, (), relation("r"))


def stored_rows(con: Any, kind: str, rows: Sequence[Row], names: Sequence[str]) -> list[tuple[Any, ...]]:
    load(con, rows, names)
    query = stored(kind).values(HierarchyDefinition(HOSTILE, kind, query="q"), names, relation("the rows"))
    result = con.execute(to_sql(query))
    assert [(name, str(column_type)) for name, column_type, *_ in result.description] == [
        ("value", "VARCHAR"),
        ("level", "INTEGER"),
        ("label", "VARCHAR"),
    ]
    return sorted(result.fetchall(), key=repr)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a",), (None,)], {("a", 0, "a"), (None, 0, None)}),
        ([("a", "*"), ("b", "*")], {("a", 0, "a"), ("b", 0, "b")}),
        ([("a", "*", "*"), ("b", "*", "*")], {("a", 0, "a"), ("b", 0, "b")}),
        ([("a", "x"), ("b", "x")], {("a", 0, "a"), ("a", 1, "x"), ("b", 0, "b"), ("b", 1, "x")}),
        (
            [("a", "*", "x"), ("b", "*", "x")],
            {("a", 0, "a"), ("a", 1, "*"), ("a", 2, "x"), ("b", 0, "b"), ("b", 1, "*"), ("b", 2, "x")},
        ),
        ([("a", "*"), ("b", "x")], {("a", 0, "a"), ("a", 1, "*"), ("b", 0, "b"), ("b", 1, "x")}),
        ([(None, "x", "*"), ("b", "y", "*")], {(None, 0, None), (None, 1, "x"), ("b", 0, "b"), ("b", 1, "y")}),
    ],
)
def test_levels_keeps_what_lies_below_the_top(con: Any, rows: list[Row], expected: set[tuple[Any, ...]]) -> None:
    assert stored_rows(con, "levels", rows, WIDE[: len(rows[0])]) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a", None)], {("a", 0, "a")}),
        ([("a", None), ("b", None)], {("a", 0, "a"), ("b", 0, "b")}),
        ([("a", "r"), ("r", None)], {("a", 0, "a")}),
        (
            [("a", "r"), ("r", None), ("b", "s"), ("s", None)],
            {("a", 0, "a"), ("a", 1, "r"), ("b", 0, "b"), ("b", 1, "s")},
        ),
        (
            [("a", "x"), (None, "x"), ("x", "r"), ("r", None)],
            {("a", 0, "a"), ("a", 1, "x"), (None, 0, None), (None, 1, "x")},
        ),
        (
            [("a", "x"), ("b", "r"), ("x", "r"), ("r", None)],
            {("a", 0, "a"), ("a", 1, "x"), ("b", 0, "b"), ("b", 1, "b")},
        ),
        (
            [("a", "r"), ("b", None), ("r", None)],
            {("a", 0, "a"), ("a", 1, "r"), ("b", 0, "b"), ("b", 1, "b")},
        ),
    ],
)
def test_a_single_root_is_the_top(con: Any, rows: list[Row], expected: set[tuple[Any, ...]]) -> None:
    assert stored_rows(con, "parents", rows, EDGES) == sorted(expected, key=repr)


def test_values_of_any_type_become_text(con: Any) -> None:
    con.execute("CREATE TEMP TABLE typed AS SELECT DATE '2020-02-03' AS v, 7 AS l UNION ALL SELECT NULL, 8")
    definition = HierarchyDefinition("typed", "levels", query="q")
    query = stored("levels").values(definition, ("v", "l"), relation("typed"))
    assert set(con.execute(to_sql(query)).fetchall()) == {
        ("2020-02-03", 0, "2020-02-03"), ("2020-02-03", 1, "7"), (None, 0, None), (None, 1, "8"),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["LEVELS", "PARENTS"])
def test_two_cities_of_one_name_are_told_how_to_be_made_two(con: Any, kind: str) -> None:
    con.execute("CREATE TABLE places AS FROM (VALUES ('Springfield', 'IL'), ('Springfield', 'MA')) AS t(city, state)")
    with pytest.raises(PolicyError, match="'Springfield' under 'IL' and 'MA'") as caught:
        connect(con).execute(f"CREATE HIERARCHY h AS {kind} (FROM places)")
    assert """"city" || ', ' || "state", in the hierarchy and in the source""" in str(caught.value.hint)
