"""METHOD m_invariance with ranges and the definitions: near rows, counterfeits among them, and every world there is."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, PolicyError, PrivacyViolation
from tests.oracles.composition import Classes
from tests.oracles.invariance import beliefs, fewest_counterfeits, is_eligible, near_classes
from tests.support.draws import draws
from tests.support.invariance import KEY, counterfeits_of, in_ranges, publish

pytestmark = pytest.mark.drawn

PEOPLE = ["a", "b", "it's", 'NULL "', "ß", "", "g h", "--", "ǅ"]
VALUES = ["flu", "cold", None, "x'; --"]
Row = tuple[str, int | None, str | None, str | None]


@pytest.fixture(autouse=True, scope="module")
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SERIES_KEY", KEY)
        yield


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute('CREATE TABLE people (who VARCHAR, "a""ge" INTEGER, "select" VARCHAR, ill VARCHAR)')
    connection.execute(
        'CREATE POLICY p ON people (who ENTITY, "a""ge" QUASI IDENTIFIER, "select" QUASI IDENTIFIER, ill SENSITIVE) '
        "REQUIRE l_diversity(l => 1, variant => 'distinct')"
    )
    return connection


@st.composite
def histories(draw: st.DrawFn) -> tuple[dict[str, Row], Sequence[Sequence[str]]]:
    """The row of each person, and who is in each of two or three releases."""
    # Values in turn: releases that are not eligible are drawn, too, and not only these.
    start = draw(st.integers(0, len(VALUES) - 1))
    values = {who: VALUES[(index + start) % len(VALUES)] for index, who in enumerate(PEOPLE)}
    values |= draw(st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from(VALUES), max_size=3))
    ages = st.none() | st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)])
    texts = st.none() | st.sampled_from(["", "it's", "[a, b]", "é", " or NULL"])
    rows = {who: (who, draw(ages), draw(texts), values[who]) for who in PEOPLE}
    sizes = [4, *draw(st.integers(1, 2)) * [0]]
    return rows, [draw(st.lists(st.sampled_from(PEOPLE), unique=True, min_size=n, max_size=8)) for n in sizes]


@settings(max_examples=draws(2, long=20), deadline=None)
@given(histories(), st.sampled_from([2, 2, 3]))
def test_who_stays_keeps_the_signature_and_nobody_is_surer_than_one_in_m(
    con: Connection, history: tuple[dict[str, Row], Sequence[Sequence[str]]], m: int
) -> None:
    rows, releases = history
    con.execute("DROP SERIES IF EXISTS s")
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => {m})")
    made: list[Classes] = []
    signatures: dict[str, frozenset[Hashable]] = {}
    for number, present in enumerate(releases):
        name, ill = f"r{number}", [rows[who][3] for who in present]
        known: set[Hashable] = set().union(*signatures.values()) if signatures else set()
        staying = [(signatures[who], rows[who][3]) for who in present if who in signatures]
        newcomers = [rows[who][3] for who in present if who not in signatures]
        fewest = fewest_counterfeits(staying, newcomers, m, len(known | set(ill)))
        call = f"m_invariance({m}, publish => 'ranges')"
        if fewest is None or (number == 0 and not is_eligible(ill, m)):
            with pytest.raises(PrivacyViolation):
                publish(con, [rows[who] for who in present], name, call)
            return
        publish(con, [rows[who] for who in present], name, call)
        release = members, of_bucket = in_ranges(con, name, PEOPLE)
        assert sorted(members) == sorted(present)
        _require_classes(release, {who: rows[who][3] for who in present}, signatures, m)
        assert sum(map(len, of_bucket.values())) - len(members) == fewest
        lacking = {b: len(of) - list(members.values()).count(b) for b, of in of_bucket.items()}
        assert counterfeits_of(con, name) == {b: n for b, n in lacking.items() if n}
        _require_ranges(con, name, members, rows)
        signatures |= {who: frozenset(of_bucket[bucket]) for who, bucket in members.items()}
        made.append(release)
        _, believed = beliefs(made)
        assert max(believed.values(), default=Fraction(0)) <= Fraction(1, m)
    last = f"r{len(releases) - 1}"
    assert {row[1]: row[5] for row in con.execute(f"CHECK {last} IN SERIES s").fetchall()}["m_invariance"]
    assert all(row[5] for row in con.execute(f"CHECK {last}").fetchall())


def _require_classes(
    release: Classes, values: Mapping[str, str | None], signatures: Mapping[str, frozenset[Hashable]], m: int
) -> None:
    members, of_bucket = release
    for bucket, of in of_bucket.items():
        assert len(set(of)) == len(of) >= m
        assert bucket in members.values()
    for who, bucket in members.items():
        assert values[who] in of_bucket[bucket]
        assert signatures.get(who, frozenset(of_bucket[bucket])) == frozenset(of_bucket[bucket])


def _require_ranges(con: Connection, name: str, members: Mapping[str, Hashable], rows: Mapping[str, Row]) -> None:
    """All rows of a bucket show the ranges of its people, and of nobody else."""
    shown = con.duckdb.execute(f'SELECT DISTINCT bucket, "a""ge", "select" FROM {name}_rows').fetchall()
    assert sorted(bucket for bucket, *_ in shown) == sorted({*members.values()}, key=str)
    for bucket, age, text in shown:
        people = [rows[who] for who, of in members.items() if of == bucket]
        assert age == _range([row[1] for row in people])
        assert text == _range([row[2] for row in people])


def _range(values: Sequence[int | None] | Sequence[str | None]) -> str | None:
    known = sorted(
        {value for value in values if value is not None}, key=lambda v: v.encode() if isinstance(v, str) else v
    )
    if not known:
        return None
    text = str(known[0]) if len(known) == 1 else f"[{known[0]}, {known[-1]}]"
    return f"{text} or NULL" if None in values else text


@st.composite
def groups(draw: st.DrawFn) -> dict[str, tuple[str, tuple[int, int]]]:
    """People of two or three values, each of as many, no two with one position."""
    values, count = draw(st.integers(2, 3)), draw(st.integers(1, 7))
    number = values * count
    places = [draw(st.lists(st.integers(-50, 50), min_size=number, max_size=number, unique=True)) for _ in range(2)]
    return {f"p{i}": (f"d{i % values}", (places[0][i], places[1][i])) for i in range(number)}


@pytest.mark.long
@settings(max_examples=draws(2, long=25), deadline=None)
@given(groups())
def test_classes_are_halved_where_they_vary_most(
    con: Connection, people: dict[str, tuple[str, tuple[int, int]]]
) -> None:
    con.execute("DROP SERIES IF EXISTS t; DROP POLICY IF EXISTS t")
    con.execute("CREATE OR REPLACE TABLE group_of (who VARCHAR, x INTEGER, y INTEGER, ill VARCHAR)")
    con.duckdb.executemany(
        "INSERT INTO group_of VALUES (?, ?, ?, ?)", [[w, x, y, v] for w, (v, (x, y)) in people.items()]
    )
    con.execute(
        "CREATE POLICY t ON group_of (who ENTITY, x QUASI IDENTIFIER WEIGHT 2, y QUASI IDENTIFIER, ill SENSITIVE) "
        "REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute("CREATE SERIES t ON POLICY t KEY 'SERIES_KEY'")
    count = len({value for value, _ in people.values()})
    con.execute(
        f"CREATE OR REPLACE ANONYMIZED TABLE g AS POLICY t METHOD m_invariance({count}, publish => 'ranges') "
        "IN SERIES t"
    )
    members, _ = in_ranges(con, "g", [*people], series="t")
    classes: dict[Hashable, set[str]] = {}
    for who, bucket in members.items():
        classes.setdefault(bucket, set()).add(who)
    units = []
    for axis, weight in enumerate((2.0, 1.0)):
        at = [places[axis] for _, places in people.values()]
        units.append(weight / ((max(at) - min(at)) or 1.0))
    assert {frozenset(of) for of in classes.values()} == {*near_classes(people, units)}


QUERIES = [
    "count(*) AS n FROM people",
    "count(*) AS n FROM people WHERE ill = 'flu'",
    "count(*) AS n FROM people WHERE ill IS NULL",
    'count(*) AS n FROM people WHERE ill = \'cold\' AND "a""ge" > 0',
    'count(ill) AS n FROM people WHERE "a""ge" <= 1',
    "count(\"select\") AS n FROM people WHERE ill = 'flu'",
    'sum("a""ge") AS n FROM people WHERE ill = \'flu\'',
    'sum("a""ge") AS n FROM people',
    'max("a""ge") AS n FROM people WHERE ill <> \'flu\'',
    'min(ill) AS n FROM people WHERE "a""ge" = 1',
]


@pytest.mark.long
@settings(max_examples=draws(2, long=8), deadline=None)
@given(histories())
def test_bounds_of_estimates_leave_counterfeits_out(
    con: Connection, history: tuple[dict[str, Row], Sequence[Sequence[str]]]
) -> None:
    rows, releases = history
    con.execute("DROP SERIES IF EXISTS s")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    for present in releases:
        try:
            publish(con, [rows[who] for who in present], "r", "m_invariance(m => 2, publish => 'ranges')")
        except PrivacyViolation:
            return
        for query in QUERIES:
            [(exact,)] = con.duckdb.execute(f"SELECT {query}").fetchall()
            try:
                [(_, _, low, high, _)] = con.execute(
                    f"ESTIMATE SELECT {query.replace('FROM people', 'FROM r')} FROM RELEASE r"
                ).fetchall()
            except PolicyError:
                # What no estimate can be made of.
                continue
            assert exact is None or low is None or low <= exact
            assert exact is None or high is None or exact <= high
            if query == QUERIES[0]:
                assert low == high == exact
