"""METHOD m_invariance and the definitions: signatures that stay, the fewest counterfeits, and every world there is."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, PrivacyViolation
from tests.oracles.composition import Classes
from tests.oracles.invariance import beliefs, fewest_counterfeits, is_eligible
from tests.support.draws import draws
from tests.support.invariance import KEY, counterfeits_of, publish, shown

pytestmark = pytest.mark.drawn

PEOPLE = ["a", "b", "it's", 'NULL "', "ß", "", "g h", "--", "ǅ"]
VALUES = ["flu", "cold", None, "x'; --"]


@pytest.fixture(autouse=True, scope="module")
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SERIES_KEY", KEY)
        yield


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("CREATE TABLE people (who VARCHAR, ill VARCHAR)")
    connection.execute(
        'CREATE POLICY p ON (SELECT *, who AS shown, length(who) AS "le\'n" FROM people) '
        '(who ENTITY, shown INSENSITIVE, "le\'n" QUASI IDENTIFIER, ill SENSITIVE) '
        "REQUIRE l_diversity(l => 1, variant => 'distinct')"
    )
    return connection


# Of each release who is in it.
Histories = tuple[dict[str, str | None], Sequence[Sequence[str]]]


@st.composite
def histories(draw: st.DrawFn) -> Histories:
    """The value of each person, and who is in each of two or three releases."""
    # Values in turn: releases that are not eligible are drawn, too, and not only these.
    start = draw(st.integers(0, len(VALUES) - 1))
    values = {who: VALUES[(index + start) % len(VALUES)] for index, who in enumerate(PEOPLE)}
    values |= draw(st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from(VALUES), max_size=3))
    count = draw(st.integers(2, 3))
    # A first release of few people is seldom eligible, and then nothing comes after it.
    sizes = [4, *(count - 1) * [0]]
    return values, [draw(st.lists(st.sampled_from(PEOPLE), unique=True, min_size=n, max_size=8)) for n in sizes]


@settings(max_examples=draws(2, long=25), deadline=None)
@given(histories(), st.sampled_from([2, 2, 3]))
def test_who_stays_keeps_the_signature_and_nobody_is_surer_than_one_in_m(
    con: Connection, history: Histories, m: int
) -> None:
    values, releases = history
    con.execute("DROP SERIES IF EXISTS s")
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => {m})")
    made: list[Classes] = []
    signatures: dict[str, frozenset[Hashable]] = {}
    for number, present in enumerate(releases):
        rows = [(who, values[who]) for who in present]
        ill = [values[who] for who in present]
        known: set[Hashable] = set().union(*signatures.values()) if signatures else set()
        staying = [(signatures[who], values[who]) for who in present if who in signatures]
        newcomers = [values[who] for who in present if who not in signatures]
        fewest = fewest_counterfeits(staying, newcomers, m, len(known | set(ill)))
        if fewest is None or (number == 0 and not is_eligible(ill, m)):
            with pytest.raises(PrivacyViolation):
                publish(con, rows, f"r{number}", f"m_invariance({m})")
            return
        publish(con, rows, f"r{number}", f"m_invariance({m})")
        release = shown(con, f"r{number}")
        _require_signatures(release, values, signatures, m)
        members, of_bucket = release
        assert sorted(members) == sorted(present)
        assert sum(map(len, of_bucket.values())) - len(members) == fewest
        lacking = {b: len(of) - list(members.values()).count(b) for b, of in of_bucket.items()}
        assert counterfeits_of(con, f"r{number}") == {b: n for b, n in lacking.items() if n}
        signatures |= {who: frozenset(of_bucket[bucket]) for who, bucket in members.items()}
        made.append(release)
        _, believed = beliefs(made)
        assert max(believed.values(), default=Fraction(0)) <= Fraction(1, m)
    last = f"r{len(releases) - 1}"
    reached = {row[1]: row[4:] for row in con.execute(f"CHECK {last} IN SERIES s").fetchall()}
    assert reached["m_invariance"][1]
    assert all(row[5] for row in con.execute(f"CHECK {last}").fetchall())


def _require_signatures(
    release: Classes, values: dict[str, str | None], signatures: dict[str, frozenset[Hashable]], m: int
) -> None:
    members, of_bucket = release
    for bucket, of in of_bucket.items():
        assert len(set(of)) == len(of) >= m
        assert bucket in members.values()
    for who, bucket in members.items():
        assert values[who] in of_bucket[bucket]
        assert signatures.get(who, frozenset(of_bucket[bucket])) == frozenset(of_bucket[bucket])


QUERIES = [
    "count(*) AS n FROM people",
    "count(*) AS n FROM people WHERE ill = 'flu'",
    "count(*) AS n FROM people WHERE ill IS NULL",
    "count(*) AS n FROM people WHERE ill = 'cold' AND \"le'n\" > 1",
    'count(ill) AS n FROM people WHERE "le\'n" <= 1',
    "sum(\"le'n\") AS n FROM people WHERE ill = 'flu'",
    'min(ill) AS n FROM people WHERE "le\'n" = 1',
]


@pytest.mark.long
@settings(max_examples=draws(2, long=12), deadline=None)
@given(histories())
def test_bounds_of_estimates_leave_counterfeits_out(con: Connection, history: Histories) -> None:
    values, releases = history
    con.execute("DROP SERIES IF EXISTS s")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    for present in releases:
        rows = [(who, values[who]) for who in present]
        try:
            publish(con, rows, "r")
        except PrivacyViolation:
            return
        for query in QUERIES:
            [(exact,)] = con.duckdb.execute(f"SELECT {query.replace('FROM people', _source())}").fetchall()
            try:
                [(_, _, low, high, _)] = con.execute(
                    f"ESTIMATE SELECT {query.replace('FROM people', 'FROM r')} FROM RELEASE r"
                ).fetchall()
            except sqlanon.PolicyError:
                # What no estimate can be made of.
                continue
            assert exact is None or low is None or low <= exact
            assert exact is None or high is None or exact <= high


def _source() -> str:
    return 'FROM (SELECT *, length(who) AS "le\'n" FROM people)'
