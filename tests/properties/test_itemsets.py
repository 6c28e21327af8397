"""METHOD itemsets on drawn lists: what is published is k^m-anonymous, one cut made it, and no better one is missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation, connect
from tests.oracles.itemsets import achieved, apriori, least_level, least_loss, loss, satisfied, violating
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

ITEMS = (None, "", " ", "NULL", "[a, b]", "it's", 'a "b"', "é中", "b", "$1")
FAMILIES = ("low", "hi,gh", "{odd}")
GROUPS = ("all of'em", "the rest")
COLUMN, CLASS = 'it"ems', "se x"


@dataclass(frozen=True)
class Case:
    """Lists in classes, the labels of each item below the root, and what is required of the sets of items."""

    rows: tuple[tuple[str | None, tuple[str | None, ...] | None], ...]
    labels: tuple[tuple[str | None, tuple[str, ...]], ...]
    k: int
    m: int
    beside: bool

    @property
    def classed(self) -> list[tuple[Any, Sequence[str | None] | None]]:
        return [(of if self.beside else None, items) for of, items in self.rows]

    @property
    def known(self) -> Mapping[str | None, Sequence[str | None]]:
        """NULL has a branch of its own where the hierarchy does not list it."""
        height = len(self.labels[0][1])
        return {None: (None,) * height, **dict(self.labels)}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    height = draw(st.sampled_from((2, 2, 1, 0)))
    groups = {family: draw(st.sampled_from(GROUPS)) for family in FAMILIES}
    families = [draw(st.sampled_from(FAMILIES)) for _ in ITEMS[1:]]
    labels = tuple((item, (f, groups[f])[:height]) for item, f in zip(ITEMS[1:], families, strict=True))
    pool = draw(st.sampled_from((ITEMS[:7], ITEMS[1:6], ITEMS[:4], ITEMS[1:3])))
    one = st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True).map(tuple)
    lists = draw(st.sampled_from((one, one, one, st.none() | st.just(()) | one)))
    beside = draw(st.sampled_from((False, False, False, True)))
    row = st.tuples(st.sampled_from(("f", None) if beside else ("f",)), lists)
    size = draw(st.sampled_from((12, 16, 14, 10, 8, 4, 1, 0)))
    rows = draw(st.lists(row, min_size=size, max_size=size))
    k, m = draw(st.sampled_from((2, 2, 2, 3, 1))), draw(st.sampled_from((2, 2, 3, 1)))
    return Case(tuple(rows), labels, k, m, beside)


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with connect(config={"threads": "1"}) as opened:
        yield opened


def install(con: Connection, case: Case) -> None:
    """The case in the place of the one before it."""
    con.execute("DROP ANONYMIZED TABLE IF EXISTS r; DROP POLICY IF EXISTS p; DROP HIERARCHY IF EXISTS h")
    con.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, {quoted(CLASS)} VARCHAR, {quoted(COLUMN)} VARCHAR[])")
    for number, (of, items) in enumerate(case.rows):
        con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?)", [number, of, None if items is None else list(items)])
    columns = ["value", *(f"level_{level}" for level in range(1, len(case.labels[0][1]) + 1))]
    con.execute(f"CREATE OR REPLACE TABLE listed ({', '.join(f'{name} VARCHAR' for name in columns)})")
    for item, labels in case.labels:
        con.duckdb.execute(f"INSERT INTO listed VALUES ({', '.join('?' * len(columns))})", [item, *labels])
    con.execute("CREATE HIERARCHY h AS LEVELS (FROM listed)")
    role = "QUASI IDENTIFIER" if case.beside else "INSENSITIVE"
    con.execute(
        f"CREATE POLICY p ON t (id ENTITY, {quoted(CLASS)} {role}, {quoted(COLUMN)} QUASI IDENTIFIER USING h) "
        f"REQUIRE km_anonymity(k => {case.k}, m => {case.m})"
    )


def published(con: Connection, search: str) -> list[tuple[Any, list[str | None]]] | None:
    """The rows of a release; None where it is refused, and then there is no table."""
    try:
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD itemsets(search => '{search}')")
    except PrivacyViolation:
        assert not con.duckdb.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'r'").fetchall()
        return None
    return con.execute(f"SELECT {quoted(CLASS)}, {quoted(COLUMN)} FROM r").fetchall()


def cut_of(case: Case, rows: Sequence[tuple[Any, list[str | None]]]) -> dict[str | None, str | None] | None:
    """The one cut by which all rows were labelled, found by trying every node of every item; None for none."""
    found: dict[str | None, str | None] = {}
    shown = {label for _, labels in rows for label in labels}
    for _, items in case.rows:
        for item in items or ():
            ways = [label for label in (item, *case.known[item], "*") if label in shown]
            if not ways:
                return None
            found[item] = ways[0]
    expected = sorted((repr(of), sorted({repr(found[item]) for item in items or ()})) for of, items in case.rows)
    return found if expected == sorted((repr(of), sorted(map(repr, labels))) for of, labels in rows) else None


@example(Case((("f", ("b", None)), ("f", (None, "b"))), tuple((item, ()) for item in ITEMS[1:]), 2, 2, False))
@settings(deadline=None, max_examples=draws(2, long=50))
@given(case=cases())
def test_a_release_is_anonymous_and_the_optimal_search_finds_the_least_loss(con: Connection, case: Case) -> None:
    install(con, case)
    best = least_loss(case.classed, case.known, case.k, case.m)
    losses: dict[str, Fraction] = {}
    for search in ("apriori", "optimal", "levels"):
        rows = published(con, search)
        assert (rows is None) == (best is None)
        if rows is None:
            continue
        kept = [(of if case.beside else None, labels) for of, labels in rows]
        assert satisfied(kept, case.k, case.m)
        cut = cut_of(case, rows)
        assert cut is not None
        losses[search] = loss(case.classed, cut)
        if search == "levels":
            assert cut == least_level(case.classed, case.known, case.k, case.m)
        [(_, question, _, required, reached, met)] = con.execute("CHECK r").fetchall()
        assert (question, required, reached, met) == ("km_anonymity", case.k, achieved(kept, case.m), True)
        recorded = con.duckdb.execute("SELECT loss FROM anon.release WHERE object_name = 'r'").fetchall()
        assert recorded == [(pytest.approx(float(losses[search])),)]
        # Every list is published in the order of its labels.
        for _, labels in rows:
            assert labels == sorted(x for x in labels if x is not None) + [None] * (None in labels)
        con.execute("DROP ANONYMIZED TABLE r")
    event("refused" if best is None else "unchanged" if best == 0 else "labelled")
    if best is not None:
        assert losses["optimal"] == best <= losses["levels"]
        assert losses["apriori"] == loss(case.classed, apriori(case.classed, case.known, case.k, case.m)) >= best


@settings(deadline=None, max_examples=draws(8, long=40))
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(("f", None)), st.none() | st.lists(st.sampled_from(ITEMS), max_size=5)), max_size=8
    ),
    k=st.integers(1, 3),
    m=st.integers(1, 4),
)
def test_check_of_any_table_counts_as_the_oracle_does(con: Connection, rows: list[Any], k: int, m: int) -> None:
    """An item that stands twice in a list counts once, NULL is an item, and NULL in place of a list has none."""
    con.execute("CREATE OR REPLACE TABLE t (of VARCHAR, items VARCHAR[])")
    for row in rows:
        con.duckdb.execute("INSERT INTO t VALUES (?, ?)", list(row))
    asked = f"REQUIRE km_anonymity(k => {k}, m => {m}), k_anonymity(k => 1)"
    [found, _] = con.execute(f"CHECK t (of, items) {asked}").fetchall()
    assert found[3:] == (k, achieved(rows, m), not violating(rows, k, m))
