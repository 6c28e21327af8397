"""Which of random candidates are efficient, with ties and missing figures, against each pair compared."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.catalog import frontiers, migrations
from sqlanon.engines.duckdb import DuckDBEngine
from tests.oracles.frontier import Point, efficient
from tests.support.draws import draws
from tests.support.frontiers import stored

pytestmark = pytest.mark.drawn

value = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 2))


@st.composite
def points(draw: st.DrawFn) -> list[Point]:
    figures = draw(st.integers(1, 3))
    return draw(st.lists(st.tuples(*[value] * figures), min_size=1, max_size=12))


@settings(max_examples=draws(5, long=60), deadline=None)
@given(points())
def test_efficient_candidates_are_those_that_no_other_dominates(drawn: list[Point]) -> None:
    numbered = dict(enumerate(drawn))
    figures = [f"f{index}" for index in range(len(drawn[0]))]
    with duckdb.connect(config={"threads": "1"}) as con:
        engine = DuckDBEngine(con)
        migrations.install(engine)
        candidates = stored(engine, "f", figures, numbered)
        assert {number for number, candidate in candidates.items() if candidate.efficient} == efficient(numbered)
        if len(figures) == 2:
            assert all(slope > 0 for slope in frontiers.slopes(engine, "f").values())
