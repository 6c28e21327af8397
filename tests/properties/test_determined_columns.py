"""What a remark takes for determined, against counting row by row and against the probability of chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import exp, inf, log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.clients.session import connect
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.remarks.columns import log_chance, profiles, sizes
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.source import bind_source
from tests.oracles.determination import Pair, agreeing, by_chance, by_shuffling, groups, most_common
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

# The level of significance of a test of one column and one quasi-identifier.
LEVEL = 1e-6
TABLES = draws(60, long=200)


def test_the_level_is_the_one_that_is_tried() -> None:
    assert (sizes().chance, sizes().common) == (LEVEL, 0.9)


def determined(tables: Sequence[Sequence[Pair]]) -> list[dict[str, int]]:
    """For each table of pairs the quasi-identifiers that its column determines, and how many values agree."""
    policy = Policy(
        "p",
        Source(QualifiedName(("t",))),
        (Attribute("c", Role.INSENSITIVE), Attribute("q", Role.QUASI_IDENTIFIER)),
        (),
    )
    found = []
    with connect(config={"threads": "1"}) as con:
        engine = DuckDBEngine(con.duckdb)
        for pairs in tables:
            con.duckdb.execute("CREATE OR REPLACE TABLE t (c INTEGER, q INTEGER)")
            columns = {"c": [first for first, _ in pairs], "q": [second for _, second in pairs]}
            con.duckdb.execute("INSERT INTO t SELECT unnest($c), unnest($q)", columns)
            with engine.transaction(), TempTables(engine) as temp:
                bound = bind(policy, bind_source(engine, policy.source, temp), {}, fingerprint="")
                profile = {p.column: p for p in profiles(engine, bound, len(pairs))}.get("c")
            found.append(dict(profile.agreeing) if profile else {})
    return found


def independent(random: Random) -> list[Pair]:
    """Up to 400 rows, of few or of many values, some of them frequent, and some NULL."""
    rows = random.choice((2, 5, 12, 40, 150, 400))
    firsts: list[Hashable] = list(range(random.choice((1, 2, 3, 5, 9, 30, 100))))
    seconds: list[Hashable] = list(range(random.choice((2, 3, 5, 20))))
    weights = [random.choice((1, 1, 5, 20)) for _ in seconds]
    if random.random() < 0.3:
        firsts[0] = seconds[-1] = None
    return list(zip(random.choices(firsts, k=rows), random.choices(seconds, weights, k=rows), strict=True))


def dependent(random: Random) -> list[Pair]:
    """A value of the column says that of the quasi-identifier, as a stratum says a region."""
    pairs = independent(random)
    of = dict(pairs)
    return [(first, of[first]) for first, _ in pairs]


def test_independent_columns_have_no_remark() -> None:
    """At the level of 1e-6 a table in a million has one."""
    random = Random(20_261_128)
    assert determined([independent(random) for _ in range(TABLES)]) == [{}] * TABLES


def test_determined_columns_have_one_unless_chance_explains_it() -> None:
    random = Random(1)
    tables = [dependent(random) for _ in range(TABLES)]
    alarms = 0
    for pairs, found in zip(tables, determined(tables), strict=True):
        several, repeated = groups(pairs), Counter(first for first, _ in pairs)
        rows = sum(map(len, several))
        repeats = sum(first is not None for first, _ in pairs) >= sizes().repeats * len({f for f, _ in pairs} - {None})
        most = most_common([pair for pair in pairs if pair[0] is not None and repeated[pair[0]] > 1]) if several else 1
        chance = most ** (rows - len(several)) if several else 1
        expected = {"q": len(several)} if repeats and most <= 0.9 and chance <= LEVEL else {}
        assert found == expected
        alarms += bool(found)
        # What has a remark is none of chance's, by shuffling either.
        assert not found or by_shuffling(pairs, random, 20) == 0
    assert alarms > TABLES / 4


@given(st.randoms(use_true_random=False), st.sampled_from((0.0, 0.02, 0.2, 0.6)))
@settings(max_examples=draws(24, long=1000), deadline=None)
def test_chance_is_never_less_than_the_bound_says(random: Random, slips: float) -> None:
    pairs = dependent(random)[:60]
    pairs = [(first, random.choice(pairs)[1] if random.random() < slips else second) for first, second in pairs]
    several, most = groups(pairs), float(most_common(pairs))
    bound = log_chance(
        agreeing(pairs), len(several), sum(map(len, several)), most, sum(most ** (len(group) - 1) for group in several)
    )
    exact = by_chance(pairs)
    assert exact <= exp(min(bound, 0)) * (1 + 1e-9)
    assert bound <= 0 or exact == 1
    assert bound > -inf or exact == 0


def test_a_few_slips_of_many_values_are_allowed() -> None:
    """200 values of ten rows each; in two of them one row says something else, in four it is too many."""
    pairs = [(value, value % 3) for value in range(200) for _ in range(10)]
    for slips, expected in ((0, {"q": 200}), (2, {"q": 198}), (4, {})):
        changed = [(v, 7) if place < 10 * slips and place % 10 == 0 else (v, q) for place, (v, q) in enumerate(pairs)]
        assert determined([changed]) == [expected]
    assert log(LEVEL) > log_chance(198, 200, 2000, 0.34, 200 * 0.34**9)
