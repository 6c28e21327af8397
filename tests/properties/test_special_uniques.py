"""MEASURE ... WITH FIGURES (suda) against a search through every set of columns of every row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.assess.encoded_rows import encoded
from sqlanon.assess.special_uniques import special_uniques_of
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build.names import relation
from tests.oracles import special_uniques as oracle
from tests.support.database import one_thread
from tests.support.draws import draws

values = st.sampled_from([None, "", "it's", "x", "*"])


@pytest.mark.drawn
@pytest.mark.parametrize("score", ["elliot", "ihsn"])
@pytest.mark.parametrize("most_numbers", [10**6, 0], ids=["in memory", "by queries"])
def test_sets_scores_and_risks_are_those_of_the_definition(score: str, most_numbers: int) -> None:
    @settings(max_examples=draws(6, long=60), deadline=None)
    @given(
        st.integers(1, 4).flatmap(lambda m: st.lists(st.tuples(*[values] * m), max_size=9).map(lambda t: (m, t))),
        st.integers(1, 4),
        st.booleans(),
        st.fractions(Fraction(1, 100), 1),
    )
    def holds(table: tuple[int, list[tuple[str | None, ...]]], largest: int, own: bool, fraction: Fraction) -> None:
        columns, rows = table
        largest = min(largest, columns)
        names = [f"c{i}" for i in range(columns)]
        con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{name} VARCHAR' for name in names)})")
        if rows:
            con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * columns)})", rows)
        engine = DuckDBEngine(con)
        with engine.transaction(), TempTables(engine) as temp:
            cells = encoded(temp, relation("t"), names, number_nulls=own)
            found = special_uniques_of(temp, cells, columns, largest, score, most_numbers)
        wanted = oracle.minimal_uniques(rows, largest, own)
        assert found.sets == Counter(chosen for minimal in wanted for chosen in minimal)
        scores = [
            sum((oracle.score(score, columns, len(chosen), largest) for chosen in minimal), Fraction(0))
            for minimal in wanted
        ]
        assert found.scores == Counter(total for total, minimal in zip(scores, wanted, strict=True) if minimal)
        for total, risk in zip(scores, oracle.risks(scores, rows, fraction), strict=True):
            assert found.risk(total, fraction) == (None if risk is None else pytest.approx(risk))
        for index in range(columns):
            of_column = sum(
                (
                    oracle.score(score, columns, len(chosen), largest)
                    for minimal in wanted
                    for chosen in minimal
                    if index in chosen
                ),
                Fraction(0),
            )
            assert found.special[index] == sum(any(index in chosen for chosen in minimal) for minimal in wanted)
            assert found.contribution(index, score) == (of_column / sum(scores) if any(scores) else None)

    with one_thread() as con:
        holds()
