"""coherence on drawn lists: CHECK counts as the definition does, and a release satisfies what its policy requires."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation, connect
from tests.oracles.coherence import Row, greatest_share, greedy, in_order, least_share, share_of, violating
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

ITEMS = (None, "", "NULL", "[a, b]", "it's", 'a "b"', "é中", "$1")
SECRETS = ("hiv", None, "", "it's", "[x]")
COLUMN, SECRET, CLASS = 'it"ems', "se,cret", "se x"
# Shares that sets of a few lists have, and some that none has.
SHARES = ("0", "0.25", "0.3", "0.5", "0.6", "0.75", "1")

known = st.one_of(st.lists(st.sampled_from(ITEMS[:4]), max_size=4), st.none(), st.lists(st.sampled_from(ITEMS)))
secrets = st.one_of(st.lists(st.sampled_from(SECRETS[:2]), max_size=2), st.none(), st.lists(st.sampled_from(SECRETS)))


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with connect(config={"threads": "1"}) as opened:
        yield opened


def install(con: Connection, rows: list[Any], kind: str = "VARCHAR[]") -> None:
    """A table of the rows: a class, a list of items, and sensitive items or one."""
    con.execute(
        f"CREATE OR REPLACE TABLE t (id INTEGER, {quoted(CLASS)} VARCHAR, {quoted(COLUMN)} VARCHAR[], "
        f"{quoted(SECRET)} {kind})"
    )
    for number, row in enumerate(rows):
        con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [number, *row])


def share(text: str) -> Fraction:
    return Fraction(Decimal(text))


def check(con: Connection, h: str, k: int, p: int, *, by_class: bool) -> tuple[float, float | None, bool]:
    keys = ", ".join(map(quoted, (CLASS, COLUMN) if by_class else (COLUMN,)))
    ((*_, required, achieved, met),) = con.execute(
        f"CHECK t ({keys}) SENSITIVE {quoted(SECRET)} REQUIRE coherence(h => {h}, k => {k}, p => {p})"
    ).fetchall()
    return required, achieved, met


@example([], "0.5", 2, 2, True)
@example([("f", None, ["hiv"])], "1", 1, 1, True)
@example([("f", ["a"] * 3, ["hiv"] * 2)], "1", 2, 1, False)
@settings(deadline=None, max_examples=draws(6, long=60))
@given(
    rows=st.lists(st.tuples(st.sampled_from(("f", None)), known, secrets), max_size=9),
    h=st.sampled_from(SHARES),
    k=st.integers(1, 3),
    p=st.integers(1, 4),
    by_class=st.booleans(),
)
def test_check_counts_as_the_definition_does(
    con: Connection, rows: list[Any], h: str, k: int, p: int, by_class: bool
) -> None:
    """An item that stands twice in a list counts once, NULL is an item, and NULL in place of a list has none."""
    install(con, rows)
    counted: list[Row] = [(of if by_class else None, items, held) for of, items, held in rows]
    required, achieved, met = check(con, h, k, p, by_class=by_class)
    wanted = greatest_share(counted, p)
    assert required == float(h)
    assert achieved == (None if wanted is None else pytest.approx(float(wanted)))
    assert met == (not violating(counted, share(h), k, p))


@settings(deadline=None, max_examples=draws(2, long=20))
@given(
    rows=st.lists(st.tuples(st.just("f"), known, st.sampled_from(SECRETS)), min_size=1, max_size=8),
    h=st.sampled_from(SHARES),
    k=st.integers(1, 3),
)
def test_a_sensitive_column_of_single_values_has_one_item_a_row(
    con: Connection, rows: list[Any], h: str, k: int
) -> None:
    """NULL is a value of it, as with every model."""
    install(con, rows, "VARCHAR")
    counted: list[Row] = [(None, items, [value]) for _, items, value in rows]
    _, achieved, met = check(con, h, k, 2, by_class=False)
    assert achieved == pytest.approx(float(greatest_share(counted, 2) or 0))
    assert met == (not violating(counted, share(h), k, 2))


def published(con: Connection, requirements: str, *, by_class: bool) -> list[Any] | None:
    """The rows of a release by suppression; None where it is refused, and then there is no table."""
    role = "QUASI IDENTIFIER" if by_class else "INSENSITIVE"
    con.execute("DROP ANONYMIZED TABLE IF EXISTS r; DROP POLICY IF EXISTS p")
    con.execute(
        f"CREATE POLICY p ON t (id ENTITY, {quoted(CLASS)} {role}, {quoted(COLUMN)} QUASI IDENTIFIER, "
        f"{quoted(SECRET)} SENSITIVE) REQUIRE {requirements}"
    )
    try:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD itemsets(search => 'suppress')")
    except PrivacyViolation:
        assert not con.duckdb.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'r'").fetchall()
        return None
    return con.execute(f"SELECT {quoted(CLASS)}, {quoted(COLUMN)}, {quoted(SECRET)} FROM r").fetchall()


some = st.lists(st.sampled_from(ITEMS[:6]), min_size=1, max_size=4, unique=True)
few = st.lists(st.sampled_from(SECRETS[:3]), max_size=1)


@settings(deadline=None, max_examples=draws(3, long=30))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(("f", "f", None)), some | st.none(), st.lists(st.sampled_from(SECRETS[:3]), max_size=1)
        ),
        min_size=3,
        max_size=14,
    ),
    h=st.sampled_from(("0.4", "0.5", "0.6", "0.75", "1")),
    k=st.integers(1, 3),
    p=st.integers(1, 3),
    by_class=st.sampled_from((False, False, True)),
)
def test_a_release_satisfies_and_leaves_out_what_the_greedy_search_does(
    con: Connection, rows: list[Any], h: str, k: int, p: int, by_class: bool
) -> None:
    install(con, rows)
    counted: list[Row] = [(of if by_class else None, items, held) for of, items, held in rows]
    wanted = greedy(counted, share(h), k, p)
    released = published(con, f"coherence(h => {h}, k => {k}, p => {p})", by_class=by_class)
    event("refused" if wanted is None else f"{len(wanted)} left out")
    if wanted is None or released is None:
        assert wanted is released is least_share(counted, share(h), k, p) is None
        return
    shown = [(of if by_class else None, items, held) for of, items, held in released]
    assert not violating(shown, share(h), k, p)
    expected = [(of, sorted(set(items or ()) - wanted, key=in_order), held) for of, items, held in rows]
    assert sorted(map(repr, released)) == sorted(map(repr, expected))
    best = least_share(counted, share(h), k, p)
    lost = share_of(counted, wanted)
    assert best is not None
    assert best <= lost
    recorded = con.duckdb.execute("SELECT loss, loss_name FROM anon.release WHERE object_name = 'r'").fetchall()
    assert recorded == [(pytest.approx(float(lost)), "suppressed_share")]
    ((_, question, attribute, required, achieved, met),) = con.execute("CHECK r").fetchall()
    assert (question, attribute, required, met) == ("coherence", SECRET, float(h), True)
    assert achieved == pytest.approx(float(greatest_share(shown, p) or 0))
