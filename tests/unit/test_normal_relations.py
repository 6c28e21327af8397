"""The normal relations of rows, against counting by hand."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Role
from sqlanon.errors import InternalError
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.classes.normal_relations import (
    Background,
    equivalence_class_of,
    literal_rows,
    relations_of,
    sensitive_values,
)
from sqlanon.sql.classes.rows import Rows, rows_of
from tests.support.draws import draws


@dataclass(frozen=True)
class Reads:
    """A requirement that reads relations and is never asked."""

    reads: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    question_name: str = "reads"
    on: tuple[str, ...] = ()
    of_whole_release: bool = False

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        raise AssertionError(name)


def attribute(
    kind: str = "VARCHAR", hierarchy: HierarchyDefinition | None = None, stored: bool = False, height: int = 1
) -> BoundAttribute:
    return BoundAttribute(Attribute("s", Role.SENSITIVE), "s", kind, kind, hierarchy, stored, height)


PREFIXES = HierarchyDefinition("p", "prefixes", (2, 1))
PREFIXED = Taxonomy(attribute(hierarchy=PREFIXES, height=3))
COUNTS = ("equivalence_class", "class_sensitive_value", "sensitive_value")


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    """The connection of all tests of this file."""
    return duckdb.connect(config={"threads": 1})


def made(steps: list[tuple[str, exp.Query]], name: str) -> list[tuple[object, ...]]:
    query = exp.select(exp.Star()).from_(relation(name))
    return con().execute(to_sql(with_steps(query, steps))).fetchall()


def table(rows: list[tuple[object, ...]], *columns: str) -> exp.Subquery:
    return literal_rows([(name, "VARCHAR") for name in columns], rows).subquery("t")


letters = st.sampled_from(["a", "b", None])
values = st.sampled_from(["aa", "ab", "b", "ba", "", None])


@pytest.mark.drawn
@settings(max_examples=draws(15, long=60), deadline=None)
@given(st.lists(st.tuples(letters, letters, values, values), max_size=25))
def test_counts_of_classes_and_values(rows: list[tuple[object, ...]]) -> None:
    """Classes by two columns, one attribute by itself and two jointly, NULL a value everywhere."""
    requirements = [Reads(COUNTS, ("s",)), Reads(COUNTS, ("s", "r"))]
    source = rows_of(table(rows, "q", "p", "s", "r"), ["q", "p"], {"s": column("s"), "r": column("r")})
    steps = [*relations_of(source, requirements), *sensitive_values(requirements)]
    label = {"q": 0, "p": 1}
    sizes = Counter(tuple(row[i] for i in label.values()) for row in rows)
    found = made(steps, "equivalence_class")
    assert {((c["q"], c["p"]), n, m) for c, n, m in found} == {(c, n, n) for c, n in sizes.items()}
    for subject, pick in enumerate((lambda row: (row[2],), lambda row: (row[2], row[3]))):
        order = sorted({pick(row) for row in rows}, key=lambda v: [(part is None, part or "") for part in v])
        coded = {value: code for code, value in enumerate(order, 1)}
        assert set(made(steps, f"sensitive_code_{subject}")) == {(*value, code) for value, code in coded.items()}
        held = Counter(((row[0], row[1]), coded[pick(row)]) for row in rows)
        found = made(steps, f"class_sensitive_value_{subject}")
        assert {((c["q"], c["p"]), v, n) for c, v, n in found} == {(*key, n) for key, n in held.items()}
        whole = Counter(coded[pick(row)] for row in rows)
        assert dict(made(steps, f"sensitive_value_{subject}")) == whole


def test_a_value_stands_for_itself_whatever_the_session_says_of_nulls() -> None:
    con().execute("SET default_null_order = 'nulls_first'")
    try:
        rows = rows_of(table([("x", None), ("x", "b"), ("x", "a")], "q", "s"), ["q"], {"s": column("s")})
        found = made(relations_of(rows, [Reads(COUNTS, ("s",))]), "sensitive_code_0")
    finally:
        con().execute("RESET default_null_order")
    assert sorted(found, key=lambda row: row[1]) == [("a", 1), ("b", 2), (None, 3)]


@pytest.mark.parametrize("name", ["class_id", "value_0", "n", "size", "entities", "counted"])
def test_columns_named_like_ours(name: str) -> None:
    rows = rows_of(table([("x", "a"), ("x", "b"), ("y", "a")], name, "s"), [name], {"s": column("s")})
    found = made(relations_of(rows, [Reads(COUNTS, ("s",))]), "equivalence_class")
    assert sorted((c[name], n) for c, n, _ in found) == [("x", 2), ("y", 1)]
    rows = rows_of(table([("x", "a"), ("x", "b"), ("y", "a")], "q", name), ["q"], {name: column(name)})
    found = made(relations_of(rows, [Reads(COUNTS, (name,))]), "class_sensitive_value_0")
    assert sorted((c["q"], v, n) for c, v, n in found) == [("x", 1, 1), ("x", 2, 1), ("y", 1, 1)]


def test_respondents_are_counted_beside_rows() -> None:
    rows = [("x", "a", "1"), ("x", "b", "1"), ("x", "b", None), ("x", "b", None), ("y", "a", "2")]
    source = rows_of(table(rows, "q", "s", "e"), ["q"], {"s": column("s")}, "e")
    steps = relations_of(source, [Reads(COUNTS, ("s",))])
    found = made(steps, "equivalence_class")
    assert sorted((c["q"], n, entities) for c, n, entities in found) == [("x", 4, 1), ("y", 1, 1)]
    assert sum(n for _, _, n in made(steps, "class_sensitive_value_0")) == 5


def test_without_quasi_identifiers_all_rows_are_one_class_and_no_row_is_none() -> None:
    counts = {}
    for rows in ([], [("a",), ("b",)]):
        own = rows_of(table(rows, "s"), [], {"s": column("s")})
        counts[len(rows)] = [
            [(n, m) for _, n, m in made(relations_of(own, [Reads(("equivalence_class",))]), "equivalence_class")],
            [(n, m) for _, n, m in made(relations_of(own, [Reads(COUNTS, ("s",))]), "equivalence_class")],
            [(n, m) for _, n, m in made([("c", equivalence_class_of(table(rows, "s"), []))], "c")],
        ]
    assert counts == {0: [[], [], []], 2: [[(2, 2)], [(2, 2)], [(2, 2)]]}


def ancestors(steps: list[tuple[str, exp.Query]]) -> dict[tuple[object, object], object]:
    """By value and level: the node."""
    codes = {code: value for value, code in made(steps, "sensitive_code_0")}
    return {(codes[v], level): node for v, level, node in made(steps, "sensitive_ancestor_0")}


@pytest.mark.drawn
@settings(max_examples=draws(10, long=40), deadline=None)
@given(st.lists(values, max_size=12))
def test_ancestors_of_a_computed_hierarchy(given_: list[str | None]) -> None:
    """A node is the least code among the values with its label; two values share it as far as their prefixes go."""
    rows = rows_of(table([(v,) for v in given_], "s"), [], {"s": column("s")})
    background = Background({"s": PREFIXED})
    steps = relations_of(rows, [Reads((*COUNTS, "sensitive_ancestor"), ("s",))], background)
    found = ancestors(steps)
    codes = dict(made(steps, "sensitive_code_0"))
    assert set(found) == {(v, level) for v in set(given_) for level in range(3)}

    def label(value: str | None, level: int) -> object:
        # PREFIXES (2, 1) masks what comes after so many characters and keeps the length.
        kept = [None, 2, 1][level]
        return value if value is None or kept is None else value[:kept] + "*" * (len(value) - kept)

    for v, level in found:
        path = [label(v, i) for i in range(level, 3)]
        alike = [u for u in set(given_) if [label(u, i) for i in range(level, 3)] == path]
        assert found[v, level] == min(codes[u] for u in alike)


def stored(*rows: tuple[str | None, str, str]) -> Taxonomy:
    """A stored hierarchy of two levels below `*`: value, level 1, level 2."""
    listed = literal_rows(
        [("value", "VARCHAR"), ("level_1", "VARCHAR"), ("level_2", "VARCHAR"), ("listed", "BOOLEAN")],
        [(*row, True) for row in rows],
    )
    return Taxonomy(attribute(hierarchy=HierarchyDefinition("h", "levels"), stored=True, height=3), listed)


DISEASES = stored(
    ("flu", "respiratory", "any"),
    ("cold", "respiratory", "any"),
    ("ulcer", "digestive", "any"),
    ("cancer", "other", "severe"),
    ("respiratory", "unclear", "severe"),
)


def test_what_a_stored_hierarchy_does_not_list_is_a_branch_of_its_own() -> None:
    rows = rows_of(table([("flu",), ("cold",), ("ulcer",), ("gout",), (None,), ("rash",)], "s"), [], {"s": column("s")})
    requirement = Reads((*COUNTS, "sensitive_ancestor"), ("s",))
    found = ancestors(relations_of(rows, [requirement], Background({"s": DISEASES})))
    # In order: cold 1, flu 2, gout 3, rash 4, ulcer 5, NULL 6; cancer does not occur.
    assert [found[v, 1] for v in ("cold", "flu", "ulcer")] == [1, 1, 5]
    assert [found[v, 2] for v in ("cold", "flu", "ulcer")] == [1, 1, 1]
    for value, code in (("gout", 3), ("rash", 4), (None, 6)):
        assert [found[value, level] for level in range(3)] == [code] * 3


def test_a_listed_null_has_its_place() -> None:
    taxonomy = stored(("flu", "known", "any"), (None, "unknown", "any"))
    rows = rows_of(table([("flu",), (None,)], "s"), [], {"s": column("s")})
    found = ancestors(relations_of(rows, [Reads((*COUNTS, "sensitive_ancestor"), ("s",))], Background({"s": taxonomy})))
    assert [found[None, level] for level in range(3)] == [2, 2, 1]


GUARDED = Reads(("equivalence_class", "class_sensitive_value", "guarded", "guarding_node"), ("s",))


def guards(rows: list[tuple[object, ...]], taxonomy: Taxonomy) -> dict[tuple[object, object], set[object]]:
    """By class and guarding node: the values below it."""
    source = rows_of(table(rows, "q", "s", "g"), ["q"], {"s": column("s"), "g": column("g")})
    steps = relations_of(source, [GUARDED], Background({"s": taxonomy}, guards={0: "g"}))
    texts = {node: guard for guard, node in made(steps, "guard_code_0")}
    codes = {code: value for value, code in made(steps, "sensitive_code_0")}
    below: dict[object, set[object]] = {node: set() for node in texts}
    for node, value in made(steps, "guarding_node_0"):
        assert value not in below[node]
        below[node].add(codes[value])
    return {(c["q"], texts[node]): {*below[node]} for c, node in made(steps, "guarded_0")}


def test_values_below_guarding_nodes() -> None:
    rows = [
        ("x", "flu", None),
        ("x", "flu", "flu"),
        ("x", "cold", "any"),
        ("x", "gout", "any"),
        ("y", "ulcer", "respiratory"),
        ("y", "ulcer", "*"),
        ("y", "respiratory", "no such node"),
        ("y", None, "cancer"),
        ("y", None, "cancer"),
    ]
    every = {"flu", "cold", "gout", "ulcer", "respiratory", None}
    assert guards(rows, DISEASES) == {
        ("x", "flu"): {"flu"},
        ("x", "any"): {"flu", "cold", "ulcer"},
        # A value is called so too; the node of level 1 is the more general.
        ("y", "respiratory"): {"flu", "cold"},
        ("y", "*"): every,
        ("y", "no such node"): every,
        # The hierarchy has it, and no row does.
        ("y", "cancer"): set(),
    }


def test_guarding_nodes_of_a_computed_hierarchy() -> None:
    rows = [("x", "aa", "a*"), ("x", "ab", "ab"), ("x", "b", "zz"), ("x", None, None)]
    assert guards(rows, PREFIXED) == {
        ("x", "a*"): {"aa", "ab"},
        ("x", "ab"): {"ab"},
        ("x", "zz"): {"aa", "ab", "b", None},
    }


def test_ranges_by_the_codes_of_values() -> None:
    """A value that no row has, or no row can have, gets a code that none has: its least share cannot be met."""
    rows = rows_of(table([("2",), ("10",), (None,)], "s"), [], {"s": exp.cast(column("s"), "INTEGER")})
    ranges = literal_rows(
        [("value", "VARCHAR"), ("low", "DECIMAL(4, 2)"), ("high", "DOUBLE")],
        [("10", 0.1, 0.5), (None, None, 0.2), ("7", 0.3, None), ("many", 0.3, None), ("02", 0.4, None)],
    )
    requirement = Reads(("equivalence_class", "class_sensitive_value", "value_range"), ("s",))
    background = Background({"s": Taxonomy(attribute("INTEGER"))}, ranges={0: ranges})
    found = made(relations_of(rows, [requirement], background), "value_range_0")
    listed = {(v, low, high) for v, low, high in found if v > 0}
    assert listed == {(1, 0.4, None), (2, 0.1, 0.5), (3, None, 0.2)}
    absent = [(v, low, high) for v, low, high in found if v < 0]
    assert len({v for v, _, _ in absent}) == 2
    assert {(low, high) for _, low, high in absent} == {(0.3, None)}


@pytest.mark.parametrize(
    "requirement",
    [
        Reads(("class_sensitive_value",), ("nowhere",)),
        Reads(("class_sensitive_value", "sensitive_ancestor"), ("s",)),
        Reads(("class_sensitive_value", "value_range"), ("s",)),
        GUARDED,
        Reads(("public_class",)),
    ],
)
def test_what_is_missing_is_an_error(requirement: Reads) -> None:
    rows = Rows(relation("t"), (), literal(0), {"s": column("s")})
    with pytest.raises(InternalError):
        relations_of(rows, [requirement])
