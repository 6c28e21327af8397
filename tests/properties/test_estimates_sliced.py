"""ESTIMATE on sliced releases against every table that they may have been made of, columns that overlap included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.oracles.sliced_worlds import sources
from tests.oracles.slicing import bucket_check, diversity
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.names import quoted
from tests.support.slicing import QUASI, Case, shown, sliced

pytestmark = pytest.mark.drawn

# From so many tables a release may have been made that all of them are looked at.
MOST = 3000


def holds(row: Mapping[int, Hashable], conditions: Mapping[int, Hashable]) -> bool:
    return all(row[at] == value for at, value in conditions.items())


@st.composite
def tiny(draw: st.DrawFn) -> Case:
    """A few rows with another sensitive value each, and columns of which some share a quasi-identifier."""
    values = draw(st.permutations(("", "a", "b", "it's", None)))
    second, third = st.sampled_from(("x", "y", None)), st.integers(0, draw(st.integers(0, 1)))
    rows = st.tuples(st.sampled_from((None, -3, 2**53 + 1)), second, third)
    parts = draw(st.lists(rows, min_size=2, max_size=5))
    columns = draw(
        st.sampled_from(
            (
                ((0, 1), (2, 3)),
                ((0,), (1,), (2,), (3,)),
                ((0, 1), (1, 2), (3,)),
                ((0, 1), (0, 2), (2, 3)),
                ((0, 1, 2), (3,)),
            )
        )
    )
    return Case(
        ('a "b"', "it's", "select", "é中"),
        (QUASI, QUASI, draw(st.sampled_from((QUASI, "INSENSITIVE"))), "SENSITIVE"),
        tuple((*part, value) for part, value in zip(parts, values, strict=False)),
        columns,
        variant="distinct",
    )


@settings(max_examples=draws(2, long=12), deadline=None)
@given(tiny(), st.data())
def test_estimates_are_bounded_by_all_that_the_source_may_have_been(case: Case, data: st.DataObject) -> None:
    """Exact within a column; columns that share a quasi-identifier are one row's only where they agree on it."""
    of_the_whole = sliced(case, [range(len(case.rows))], 3)
    if not bucket_check(of_the_whole, diversity(case.l, case.variant)):
        event("refused")
        return
    event("released")
    with case.install() as con:
        con.execute(case.statement)
        worlds = sources(case.columns, shown(con, case), MOST)
        if not worlds:
            event("too many worlds")
            return
        assert Counter(case.rows) in [
            Counter(tuple(row[at] for at in sorted(row)) for row in world) for world in worlds
        ]
        row = data.draw(st.sampled_from(case.rows))
        for positions in data.draw(st.lists(st.sets(st.integers(0, len(case.names) - 1), min_size=1), max_size=4)):
            wanted = {at: row[at] for at in positions}
            where = " AND ".join(f"{quoted(case.names[at])} IS NOT DISTINCT FROM {literal(row[at])}" for at in wanted)
            query = f"ESTIMATE SELECT count(*) AS n FROM t WHERE {where} FROM RELEASE r"
            ((_, _, low, high),) = figures_of(con.sql(query))
            counts = [sum(holds(one, wanted) for one in world) for world in worlds]
            assert low <= min(counts)
            assert max(counts) <= high
            if any(positions <= {*column} for column in case.columns):
                assert low == high == counts[0]


def literal(value: Hashable) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
