"""Random tables with a policy each, as SQL for sqlanon and as plain Python for the oracle.

Labels are computed here, value by value, and never read from the database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from tests.oracles.granularity_loss import Taxonomy
from tests.oracles.k_anonymity import violating_rows
from tests.oracles.lattice import Optimum, nodes, optimum, recoded
from tests.support.database import new_database
from tests.support.draws import draws

Value = Any  # of a column: hashable
Row = tuple[Value, ...]
# Each example makes a database; what is slow is DuckDB's own catalog, not the search.
BUDGET = settings(max_examples=draws(6, long=30), deadline=None, suppress_health_check=list(HealthCheck))
SUPPRESSIONS = ("0", "0.07", "0.15", "0.25", "0.34", "0.5", "0.99", "1")


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: its SQL type, its hierarchy, what may occur, and the labels of one value.

    `listed` are the values of a stored hierarchy (None: all those that occur). `path`
    gives the labels of levels 1 to height - 1, and None for a value without a place.
    `later` are values that may come once the release is there.
    """

    type: str
    hierarchy: str | None
    height: int
    domain: tuple[Value, ...]
    path: Callable[[Value], tuple[Value, ...] | None]
    later: tuple[Value, ...] = ()
    listed: tuple[Value, ...] | None = None
    low: int = 0
    high: int | None = None
    weight: Decimal = Decimal(1)

    @property
    def top(self) -> int:
        return self.height if self.high is None else self.high

    def has_place(self, value: Value) -> bool:
        """Whether the hierarchy has labels for the value: a stored one only for what it lists, and for NULL."""
        return self.listed is None or value is None or value in self.listed

    def taxonomy(self, column: Sequence[Value]) -> Taxonomy:
        leaves = dict.fromkeys((*(self.listed or ()), *column))
        return Taxonomy({leaf: (leaf, *self._path(leaf)) for leaf in leaves}, self.height)

    def _path(self, leaf: Value) -> tuple[Value, ...]:
        path = self.path(leaf)
        return (None,) * (self.height - 1) if path is None else path


@dataclass(frozen=True)
class Case:
    """A table of quasi-identifiers (and respondents), a policy and a budget."""

    quasi: tuple[Quasi, ...]
    rows: tuple[tuple[Value, ...], ...]
    entities: tuple[Value, ...] | None
    k: int
    suppression: str

    def taxonomies(self) -> list[Taxonomy]:
        return [q.taxonomy([row[i] for row in self.rows]) for i, q in enumerate(self.quasi)]

    def optimum(self) -> Optimum | None:
        return optimum(
            self.rows,
            self.taxonomies(),
            self.k,
            low=[q.low for q in self.quasi],
            high=[q.top for q in self.quasi],
            suppression=Fraction(self.suppression),
            weights=[Fraction(q.weight) for q in self.quasi],
            entities=self.entities,
        )

    def released(self, best: Optimum) -> list[tuple[Value, ...]]:
        """The rows of the release: labels, and the place of the row as the sensitive value."""
        taxonomies = self.taxonomies()
        kept = (place for place in range(len(self.rows)) if place not in best.suppressed)
        return [(*recoded(self.rows[place], taxonomies, best.node), place) for place in kept]

    def install(self, connection: Connection | None = None, source: str = "source") -> Connection:
        """The table, the hierarchies and the policy `p`, in a database of their own unless one is given."""
        con = connection or new_database()
        columns = [f"q{i} {q.type}" for i, q in enumerate(self.quasi)]
        con.execute(f'CREATE TABLE "{source}" ({", ".join(columns)}, who INTEGER, s INTEGER)')
        for place in range(len(self.rows)):
            insert(con, self.full_row(place), source)
        for i, quasi in enumerate(self.quasi):
            if quasi.hierarchy:
                con.execute(f"CREATE HIERARCHY h{i} AS {quasi.hierarchy}")
        con.execute(f'CREATE POLICY p ON "{source}" ({self.attributes()}) REQUIRE k_anonymity(k => {self.k})')
        return con

    def full_row(self, place: int) -> tuple[Value, ...]:
        return (*self.rows[place], self.entities[place] if self.entities else None, place)

    def attributes(self) -> str:
        parts = [_clauses(i, quasi) for i, quasi in enumerate(self.quasi)]
        return ", ".join([*parts, *(["who ENTITY"] if self.entities is not None else []), "s SENSITIVE"])

    @property
    def method(self) -> str:
        return f"METHOD generalization(suppression => {self.suppression})"

    @property
    def published(self) -> str:
        return ", ".join([*(f"q{i}" for i in range(len(self.quasi))), "s"])


def insert(con: Connection, row: Sequence[Any], source: str = "source") -> None:
    con.duckdb.execute(f'INSERT INTO "{source}" VALUES ({", ".join("?" for _ in row)})', list(row))


def released(con: Connection, case: Case, name: str) -> Counter[Row]:
    return Counter(con.duckdb.execute(f"SELECT {case.published} FROM {name}").fetchall())


def assert_optimal(con: Connection, case: Case, kind: str) -> Optimum | None:
    """Releases `out` under the case's policy: it is the optimum, row for row, or refused if there is none."""
    best = case.optimum()
    create = f"CREATE ANONYMIZED {kind} out AS POLICY p {case.method}"
    if best is None:
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        left = "SELECT count(*) FROM duckdb_tables() WHERE table_name NOT IN ('source') AND schema_name <> 'anon'"
        assert con.duckdb.execute(left).fetchall() == [(0,)]
        return None
    con.execute(create)
    assert levels_of(con) == best.node
    query = "SELECT source_rows, released_rows, suppressed_rows, nodes, loss FROM anon.release"
    *counts, loss = con.duckdb.execute(query).fetchall()[0]
    size = len(nodes([q.low for q in case.quasi], [q.top for q in case.quasi]))
    assert counts == [len(case.rows), len(case.rows) - len(best.suppressed), len(best.suppressed), size]
    # The loss is exact until it becomes a DOUBLE, so the doubles are equal too.
    assert loss == float(best.loss)
    assert released(con, case, "out") == Counter(case.released(best))
    return best


def levels_of(con: Connection) -> tuple[int, ...]:
    """The levels of the one release there is."""
    query = "SELECT level FROM anon.release_attribute WHERE role = 'quasi_identifier' ORDER BY position"
    return tuple(level for (level,) in con.duckdb.execute(query).fetchall())


def shown(case: Case, rows: Sequence[Row], levels: tuple[int, ...]) -> list[Row]:
    """What the view has to show of `rows`, each a source row of (quasi-identifiers, respondent, s)."""
    width = len(case.quasi)
    known = [row for row in rows if all(_has_label(*at) for at in zip(case.quasi, row, levels, strict=False))]
    taxonomies = [quasi.taxonomy([row[i] for row in known]) for i, quasi in enumerate(case.quasi)]
    keys = [recoded(row[:width], taxonomies, levels) for row in known]
    entities = None if case.entities is None else [row[width] for row in known]
    small = violating_rows(keys, case.k, entities)
    return [(*key, row[-1]) for place, (key, row) in enumerate(zip(keys, known, strict=True)) if place not in small]


def _has_label(quasi: Quasi, value: Value, level: int) -> bool:
    return level == quasi.height or quasi.has_place(value)


def _clauses(place: int, quasi: Quasi) -> str:
    using = f" USING h{place}" if quasi.hierarchy else ""
    low = f" MIN LEVEL {quasi.low}" if quasi.low else ""
    high = f" MAX LEVEL {quasi.high}" if quasi.high is not None else ""
    weight = f" WEIGHT {quasi.weight}" if quasi.weight != 1 else ""
    return f"q{place} QUASI IDENTIFIER{using}{low}{high}{weight}"


def _interval(widths: Sequence[int], low: int | None, high: int | None) -> Callable[[Value], tuple[Value, ...]]:
    def one(value: int, width: int) -> str:
        if low is not None and value < low:
            return f"(-inf,{low})"
        if high is not None and value >= high:
            return f"[{high},inf)"
        start = (low or 0) + (value - (low or 0)) // width * width
        end = start + width if high is None else min(start + width, high)
        return f"[{start},{end})"

    return lambda value: tuple(None if value is None else one(value, width) for width in widths)


def _prefix(lengths: Sequence[int]) -> Callable[[Value], tuple[Value, ...]]:
    return lambda value: tuple(
        None if value is None else value[:length] + "*" * max(0, len(value) - length) for length in lengths
    )


@st.composite
def intervals(draw: st.DrawFn) -> Quasi:
    widths = draw(st.sampled_from([(2,), (5,), (3, 9), (2, 4, 8), (5, 10, 20)]))
    low = draw(st.sampled_from([None, None, -4, 3]))
    high = draw(st.sampled_from([None, None, 4, 10]))
    options = "".join(f", {name} => {end}" for name, end in (("low", low), ("high", high)) if end is not None)
    domain = (None, *range(-7, 13))
    text = f"INTERVALS ({', '.join(map(str, widths))}{options})"
    return Quasi(
        "INTEGER", text, len(widths) + 1, domain, _interval(widths, low, high), later=(-(2**31), -100, 50, 2**31 - 1)
    )


@st.composite
def prefixes(draw: st.DrawFn) -> Quasi:
    lengths = draw(st.sampled_from([(1,), (2,), (2, 1), (3, 2, 1)]))
    domain = (None, "", "a", "b", "*", "aa", "ab", "a*", "ba", "aab", "aba", "abb", "éab", "abab")
    text = f"PREFIXES ({', '.join(map(str, lengths))})"
    return Quasi("VARCHAR", text, len(lengths) + 1, domain, _prefix(lengths), later=("z" * 40, "ab*", "\n"))


@st.composite
def stored(draw: st.DrawFn) -> Quasi:
    """LEVELS or PARENTS over up to seven values, some of which may not occur; NULL may be listed or not."""
    values: list[Value] = list("pqrstuv"[: draw(st.integers(2, 7))])
    if draw(st.booleans()):
        values.append(None)
    depth = draw(st.integers(0, 3))
    width = len(values)
    groups = list(range(width))
    paths: list[list[str]] = [[] for _ in values]
    for level in range(depth):
        joined = {group: draw(st.integers(0, max(0, width // 2 - level))) for group in sorted(set(groups))}
        groups = [joined[group] for group in groups]
        for path, group in zip(paths, groups, strict=True):
            path.append(f"{'xyz'[level]}{group}")
    if draw(st.booleans()):
        text = _parents(values, paths)
        # A single root is the top.
        if depth and len({path[-1] for path in paths}) == 1:
            paths = [path[:-1] for path in paths]
        return _stored(values, paths, text, draw)
    rows = ", ".join(
        f"({', '.join(_literal(v) for v in (value, *path))})" for value, path in zip(values, paths, strict=True)
    )
    return _stored(values, paths, f"LEVELS (SELECT * FROM (VALUES {rows}))", draw)


def _stored(values: Sequence[Value], paths: Sequence[Sequence[str]], text: str, draw: st.DrawFn) -> Quasi:
    labels = {value: tuple(path) for value, path in zip(values, paths, strict=True)}
    listed = [value for value in values if value is not None]
    occurring = draw(st.lists(st.sampled_from(listed), min_size=1, max_size=5, unique=True))
    height = len(paths[0]) + 1
    return Quasi(
        "VARCHAR", text, height, (None, *occurring), labels.get, later=(*listed, "unlisted", "*"), listed=tuple(values)
    )


def _parents(values: Sequence[Value], paths: Sequence[Sequence[str]]) -> str:
    edges: dict[Value, Value] = {}
    for value, path in zip(values, paths, strict=True):
        edges.update(pairwise([value, *path, None]))
    rows = ", ".join(f"({_literal(node)}, {_literal(parent)})" for node, parent in edges.items())
    return f"PARENTS (SELECT * FROM (VALUES {rows}) AS edge (node, parent))"


def _literal(value: Value) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


@st.composite
def plain(draw: st.DrawFn) -> Quasi:
    kind, domain = draw(
        st.sampled_from(
            [("INTEGER", (None, 0, 1, 2, 3)), ("VARCHAR", (None, "", "x", "X", "*")), ("BOOLEAN", (None, True, False))]
        )
    )
    return Quasi(
        kind,
        None,
        1,
        domain,
        lambda value: (),
        later=(9,) if kind == "INTEGER" else ("new",) if kind == "VARCHAR" else (),
    )


@st.composite
def quasi_identifiers(draw: st.DrawFn) -> Quasi:
    base = draw(st.one_of(intervals(), prefixes(), stored(), plain()))
    low = draw(st.sampled_from([0, 0, 0, 1]))
    high = draw(st.sampled_from([None, None, None, *range(low, base.height + 1)]))
    weight = Decimal(draw(st.sampled_from(["1", "1", "2", "0.5", "3.25", "0.000001"])))
    return replace(base, low=low, high=high, weight=weight)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    quasi = tuple(draw(st.lists(quasi_identifiers(), min_size=1, max_size=4)))
    # Few values of each domain, so that classes of several rows are common.
    domains = [draw(st.lists(st.sampled_from(q.domain), min_size=1, max_size=4, unique=True)) for q in quasi]
    row = st.tuples(*(st.sampled_from(domain) for domain in domains))
    size = draw(st.sampled_from([14, 12, 10, 9, 7, 5, 3, 2, 1, 0]))
    rows = tuple(draw(st.lists(row, min_size=size, max_size=size)))
    entities = None
    if draw(st.integers(0, 2)) == 0:
        one = st.sampled_from([None, 1, 2, 3, 4, 5, 6])
        entities = tuple(draw(st.lists(one, min_size=len(rows), max_size=len(rows))))
    return Case(quasi, rows, entities, draw(st.integers(1, 5)), draw(st.sampled_from(SUPPRESSIONS)))
