"""Counts with noise beside the oracle's, and what one respondent changes them by, without the noise."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.catalog import policies
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.noisy.domains import coded_rows, domain_of
from sqlanon.methods.noisy.histogram import _counts
from sqlanon.sources.bind_policy import bind, hierarchies_of
from sqlanon.sources.protected import ProtectedRows
from sqlanon.sources.source import bind_source
from tests.oracles.noisy_histograms import histogram, interval
from tests.support.database import template

SETUP = """
CREATE TABLE visits (who INTEGER, "it's" VARCHAR, age BIGINT);
CREATE HIERARCHY listed AS LEVELS (FROM (VALUES ('a'), ('b'), (''), ('NULL')));
CREATE HIERARCHY ages AS INTERVALS (7, low => -3, high => 20);
CREATE POLICY p ON visits (who ENTITY, "it's" SENSITIVE USING listed, age QUASI IDENTIFIER USING ages)
    REQUIRE k_anonymity(k => 2);
"""
LISTED = ["a", "b", "", "NULL"]
AGES = [f"[{start},{min(start + 7, 20)})" for start in range(-3, 20, 7)]
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 5)),
        st.sampled_from([*LISTED, "c", "A", "a ", None]),
        st.sampled_from([None, -4, -3, 0, 3, 4, 19, 20, 2**62, -(2**63)]),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def counted():
    """Counts rows by both columns, at most so many of a respondent."""
    with template(SETUP) as connection:
        engine = DuckDBEngine(connection.duckdb)
        with TempTables(engine) as temp:
            policy = policies.load(engine, "p")
            source = bind_source(engine, policy.source, temp, copy=False)
            bound = bind(policy, source, hierarchies_of(engine, policy), "")
            task = SimpleNamespace(engine=engine, temp=temp, policy=bound)
            domains = [domain_of(task, each) for each in bound.published]
            labels = [[row[0] for row in engine.rows(f'SELECT label FROM "{d.labels}" ORDER BY code')] for d in domains]
            rows_of_table = ProtectedRows(source.relation, source.relation, source.columns, "who")

            def count(rows, most):
                columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
                connection.duckdb.execute("DELETE FROM visits")
                insert = "INSERT INTO visits SELECT unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::BIGINT[])"
                connection.duckdb.execute(insert, columns)
                counting = coded_rows(rows_of_table, domains, most, "salt").counting(engine)
                answered = dict(engine.rows(_counts(counting, domains)))
                keys = [(one, other) for one in labels[0] for other in labels[1]]
                assert not set(answered) - set(range(len(keys)))
                return {key: answered.get(number, 0) for number, key in enumerate(keys)}

            yield count


@pytest.mark.drawn
@given(rows=ROWS)
def test_counts_are_those_of_the_oracle(counted, rows):
    assert counted(rows, 100) == histogram(rows, [LISTED, AGES], [lambda value: value, interval(7, -3, 20)])


@pytest.mark.drawn
@settings(max_examples=20)
@given(rows=ROWS, most=st.integers(1, 4))
def test_a_respondent_changes_all_counts_together_by_so_many_rows_at_most(counted, rows, most):
    whole = counted(rows, most)
    for who in {row[0] for row in rows}:
        without = counted([row for row in rows if row[0] != who], most)
        assert sum(abs(whole[key] - without[key]) for key in whole) <= (0 if who is None else most)


def test_the_oracle_is_one_of_the_definition():
    rows = [(1, "a", 4), (1, "c", 20), (None, "a", 4)]
    counts = histogram(rows, [LISTED, AGES], [lambda value: value, interval(7, -3, 20)])
    assert len(counts) == 25
    assert {key: n for key, n in counts.items() if n} == {("a", "[4,11)"): 1, (None, None): 1}
