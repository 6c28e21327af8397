"""Policies on several tables against the definition: what a check counts, and the levels of least loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import PrivacyViolation
from tests.oracles import related_tables as oracle
from tests.support.draws import draws
from tests.support.names import quoted
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

NUMBERS = (1, 2, 3, 11, None)
SENSITIVE = ("flu", "cold", None)


def tens(value: Hashable) -> Hashable:
    return None if value is None else int(str(value)) // 10


def numbers(weight: Fraction = Fraction(1)) -> oracle.Attribute:
    """A column with a hierarchy of tens."""
    return oracle.Attribute((lambda value: value, tens, lambda _: "*"), weight)


def plain(weight: Fraction = Fraction(1)) -> oracle.Attribute:
    """A column without a hierarchy."""
    return oracle.Attribute((lambda value: value, lambda _: "*"), weight)


@cache
def connection() -> sqlanon.Connection:
    """One for all cases: each drops what the one before has made."""
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10)")
    return con


@dataclass(frozen=True)
class Table:
    """Rows of a person, labels and a sensitive value, and the quasi-identifiers: whether each has a hierarchy."""

    rows: Sequence[tuple[int, tuple[Hashable, ...], Hashable]]
    quasi: Sequence[bool]
    weights: Sequence[int]

    def attributes(self) -> list[oracle.Attribute]:
        pairs = zip(self.quasi, self.weights, strict=True)
        return [numbers(Fraction(weight)) if has else plain(Fraction(weight)) for has, weight in pairs]

    def columns(self, name: str) -> list[str]:
        return [f'{name}"q {place}' for place in range(len(self.quasi))]


@dataclass(frozen=True)
class Case:
    persons: Table
    tables: Sequence[Table]
    knows: str
    m: int
    model: str
    number: int
    of_related: bool
    suppression: Fraction = Fraction(0)
    names: Sequence[str] = field(default=("a b", 'c"d', "select", "é"))

    def people(self) -> oracle.People:
        persons = {person: labels for person, labels, _ in self.persons.rows}
        tables = [[(person, labels) for person, labels, _ in table.rows] for table in self.tables]
        return oracle.People(persons, tables)

    def values(self) -> oracle.Values:
        rows = self.tables[0].rows if self.of_related else self.persons.rows
        return {person: {value for whose, _, value in rows if whose == person} for person, *_ in self.persons.rows}

    def source(self) -> oracle.Source:
        return oracle.Source(self.people(), [table.attributes() for table in (self.persons, *self.tables)])

    def violates(self) -> oracle.Violates:
        if self.model == "k_anonymity":
            return oracle.too_small(self.number)
        if self.model == "distinct":
            return oracle.few_values(self.number)
        return oracle.frequent_value(Fraction(1, self.number))

    def required(self) -> str:
        known = f"knows => '{self.knows}'" + (f", m => {self.m}" if self.knows == "m_rows" else "")
        if self.model == "k_anonymity":
            return f"k_anonymity(k => {self.number}, {known})"
        about = "s0" if self.of_related else "s"
        return f"l_diversity(l => {self.number}, variant => '{self.model}', attribute => {about}, {known})"

    def install(self, levels: str = "") -> sqlanon.Connection:
        con = connection()
        con.execute("DROP ANONYMIZED TABLE IF EXISTS made")
        con.execute("DROP POLICY IF EXISTS p")
        for name in ("people", *self.names):
            con.duckdb.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
        sources = []
        for place, table in enumerate((self.persons, *self.tables)):
            name = self.names[place - 1] if place else "people"
            sensitive = f"s{place - 1}" if place else "s"
            columns = [f"{quoted('id')} INTEGER", *(f"{quoted(c)} INTEGER" for c in table.columns(name))]
            con.duckdb.execute(f"CREATE TABLE {quoted(name)} ({', '.join([*columns, f'{sensitive} VARCHAR'])})")
            for person, labels, value in table.rows:
                marks = ", ".join("?" * (len(labels) + 2))
                con.duckdb.execute(f"INSERT INTO {quoted(name)} VALUES ({marks})", [person, *labels, value])
            quasi = [
                f"{quoted(column)} QUASI IDENTIFIER{' USING tens' if has else ''} {levels} WEIGHT {weight}"
                for column, has, weight in zip(table.columns(name), table.quasi, table.weights, strict=True)
            ]
            attributes = ", ".join([*([] if place else ["id ENTITY"]), *quasi, f"{sensitive} SENSITIVE"])
            sources.append(f"{quoted(name)} ON (id) ({attributes})" if place else f"{quoted(name)} ({attributes})")
        of_tables = " WITH TABLE ".join(sources)
        con.execute(f"CREATE POLICY p ON {of_tables} REQUIRE {self.required()}")
        return con


def rows_about(
    people: int, columns: int, most: int
) -> st.SearchStrategy[list[tuple[int, tuple[Hashable, ...], Hashable]]]:
    labels = st.tuples(*[st.sampled_from(NUMBERS)] * columns)
    row = st.tuples(st.integers(1, max(people, 1)), labels, st.sampled_from(SENSITIVE))
    return st.lists(row, max_size=most if people else 0)


@st.composite
def tables(draw: st.DrawFn, people: int, most: int, least: int, columns: int) -> Table:
    quasi = draw(st.lists(st.booleans(), min_size=least, max_size=columns))
    weights = draw(st.lists(st.integers(1, 3), min_size=len(quasi), max_size=len(quasi)))
    return Table(draw(rows_about(people, len(quasi), most)), quasi, weights)


@st.composite
def cases(draw: st.DrawFn, related: int = 4) -> Case:
    people, count = draw(st.integers(0, 7)), draw(st.integers(1, related))
    quasi = draw(st.lists(st.booleans(), max_size=1 if count > 1 else 2))
    labels = st.tuples(*[st.sampled_from((1, 11, None))] * len(quasi))
    persons = Table(
        [(person, draw(labels), draw(st.sampled_from(SENSITIVE))) for person in range(1, people + 1)],
        quasi,
        [draw(st.integers(1, 3)) for _ in quasi],
    )
    # A policy has a quasi-identifier, and a lattice that is looked at whole has few nodes.
    most, columns = (9, 2) if count == 1 else (5, 1)
    others = [draw(tables(people, most, 0 if quasi else 1, columns)) for _ in range(count)]
    knows = draw(st.sampled_from(oracle.KNOWS))
    return Case(
        persons,
        others,
        knows,
        draw(st.integers(1, 3)) if knows == "m_rows" else 1,
        draw(st.sampled_from(("k_anonymity", "distinct", "probabilistic"))),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.sampled_from((Fraction(0), Fraction(1, 4), Fraction(1, 2))))
        if knows in ("values", "history")
        else Fraction(0),
    )


def published(con: sqlanon.Connection, case: Case) -> oracle.People:
    """What the tables of the release show, by the numbers of the people."""
    shown = []
    for place, table in enumerate((case.persons, *case.tables)):
        name = case.names[place - 1] if place else "people"
        columns = ", ".join(["id", *map(quoted, table.columns(name))])
        rows = con.duckdb.execute(f"SELECT {columns} FROM {quoted(f'made_{name}')}").fetchall()
        shown.append([(int(person), tuple(labels)) for person, *labels in rows])
    return oracle.People(dict(shown[0]), shown[1:])


@given(case=cases())
@settings(BUDGET, max_examples=draws(3, long=30))
def test_the_levels_of_least_loss_are_published(case: Case) -> None:
    source = case.source()
    demand = (case.knows, case.m, case.violates(), case.values())
    best = source.best([demand], case.suppression)
    method = f"multirelational(suppression => {float(case.suppression)})"
    create = f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {method}"
    con = case.install()
    if best is None:
        event("infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        return
    loss, _, node, gone = best
    event(f"{case.knows}, suppressed {'some' if gone else 'none'}")
    con.execute(create)
    ((lost, suppressed, proven),) = con.duckdb.execute(
        "SELECT loss, suppressed_rows, proven_optimal FROM anon.release"
    ).fetchall()
    levels = con.duckdb.execute(
        "SELECT level FROM anon.release_attribute WHERE level IS NOT NULL ORDER BY position"
    ).fetchall()
    assert (lost, suppressed, proven) == (float(loss), len(gone), True)
    assert tuple(level for (level,) in levels) == node
    left = case.people().without(gone)
    shown = published(con, case)
    assert len(shown.persons) == len(left.persons)
    assert [len(rows) for rows in shown.tables] == [len(rows) for rows in left.tables]
    expected = source.at(node).without(gone)
    for knows in oracle.KNOWS:
        alike = [Counter(map(len, oracle.classes(people, knows, 2).values())) for people in (shown, expected)]
        assert alike[0] == alike[1]
    assert all(row[-1] is True for row in con.execute("CHECK made").fetchall())


@given(case=cases(related=2))
@settings(BUDGET, max_examples=draws(2, long=25))
def test_a_check_counts_what_the_definition_does(case: Case) -> None:
    """All kinds of knowledge are asked of one release, which shows the tables as they are."""
    known = [
        "knows => 'one_row'",
        "knows => 'm_rows', m => 2",
        "knows => 'rows'",
        "knows => 'values'",
        "knows => 'history'",
    ]
    required = ", ".join(f"k_anonymity(k => 1, {each})" for each in known)
    con = case.install("MAX LEVEL 0")
    con.execute(f"ALTER POLICY p REQUIRE {required}")
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY p METHOD multirelational(suppression => 0)")
    achieved = [row[4] for row in con.execute("CHECK made").fetchall()]
    assert achieved == [oracle.k(case.people(), knows, 2) for knows in oracle.KNOWS]


@given(case=cases(related=2))
@settings(BUDGET, max_examples=draws(8, long=40))
def test_coarser_labels_never_lower_k(case: Case) -> None:
    source = case.source()
    by_node = {node: [oracle.k(source.at(node), knows, 2) or 0 for knows in oracle.KNOWS] for node in source.nodes}
    for node, of_node in by_node.items():
        assert of_node == sorted(of_node, reverse=True)
        for place in range(len(node)):
            above = (*node[:place], node[place] + 1, *node[place + 1 :])
            assert all(more >= less for more, less in zip(by_node.get(above, of_node), of_node, strict=True))
