"""What PROFILE says of columns that are functions of others and of codes, against naive versions on random tables."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.assess.profiling.checked_values import notes
from sqlanon.assess.profiling.relations import Relation, relations
from sqlanon.assess.profiling.sample import Sample, SampledColumn, sizes
from sqlanon.domain.values import QualifiedName
from tests.oracles.relations import determines, fits, missing_codes
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

FORMULAS = ("square", "logarithm", "sum", "product", "difference", "quotient")
# Numbers of which a column has some, and rows in which a few are missing.
ROWS = 400


def column(name: str, values: list[float | None]) -> SampledColumn:
    return SampledColumn(name, "DOUBLE", tuple(values))


def named(columns: list[SampledColumn]) -> list[Relation]:
    con = sqlanon.connect()
    return relations(con._engine, QualifiedName(("t",)), Sample(tuple(columns), whole=True))


@settings(max_examples=draws(4, long=40), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1]))
def test_what_is_named_is_so_and_what_was_made_is_named(seed: int, missing: float) -> None:
    numbers = random.Random(seed)

    def drawn(values: list[float]) -> list[float | None]:
        return [None if numbers.random() < missing else numbers.choice(values) for _ in range(ROWS)]

    a = drawn([float(n) for n in range(1, 12)])
    b = drawn([0.0, 1.0, 2.5, 4.0, 7.25])
    made = {
        "square": [None if v is None else v * v for v in a],
        "sum": [None if None in (v, w) else v + w for v, w in zip(a, b, strict=True)],
        "product": [None if None in (v, w) else v * w for v, w in zip(a, b, strict=True)],
        "bands": [None if v is None else float(v > 4) + float(v > 8) for v in a],
        "indicator": [None if v is None else float(v == 5) for v in a],
        "alone": drawn([float(n) for n in range(30)]),
    }
    columns = [column("a", a), column("b", b), *(column(name, values) for name, values in made.items())]
    values = {each.name: each.values for each in columns}
    explained = {each.name: each for each in named(columns)}
    for each in explained.values():
        sources = [values[source] for source in each.sources]
        if each.kind in FORMULAS:
            assert fits(each.kind, values[each.name], *sources), each
        else:
            assert determines(sources[0], values[each.name]), each
    for name in ("square", "sum", "product", "bands", "indicator"):
        assert explained[name].kind == name
    assert {"a", "b", "alone"}.isdisjoint(explained)


@settings(max_examples=draws(10, long=60), deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([None, 0.0, 1.0, 2.0, 1e300, float("nan"), -1.0]), min_size=5, max_size=5), max_size=60
    )
)
def test_relations_of_any_columns_are_so(rows: list[list[float | None]]) -> None:
    columns = [column(f"c{i}", list(values)) for i, values in enumerate(zip(*rows, strict=True))]
    with sizes.replaced(evidence=2, chance=0.5, repeated=1):
        explained = named(columns)
    values = {each.name: ["nan" if v != v else v for v in each.values] for each in columns}
    for each in explained:
        if each.kind not in FORMULAS:
            assert determines(values[each.sources[0]], values[each.name]), each
    # Nobody is explained by what they explain.
    sources = {each.name: each.sources for each in explained}
    for name in sources:
        seen, waiting = set(), list(sources[name])
        while waiting:
            source = waiting.pop()
            assert source != name
            if source not in seen:
                seen.add(source)
                waiting += sources.get(source, ())


@settings(max_examples=draws(50, long=300), deadline=None)
@given(
    st.lists(
        st.sampled_from([-9999, -99, -9, -8, -1, 0, 1, 3, 5, 7, 9, 40, 61, 80, 97, 98, 99, 500, 999]),
        min_size=1,
        max_size=30,
    )
)
def test_codes_for_missing_numbers(values: list[int]) -> None:
    (note,) = [*notes(SampledColumn("x", "INTEGER", tuple(values))), ""][:1]
    said = {int(code) for code in re.findall(r"-?\d+", note.partition(" look")[0])} if note else set()
    assert said == missing_codes(values)


@settings(max_examples=draws(3, long=20), deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=40))
def test_sets_are_counted_alike_in_memory_and_by_queries(rows: list[tuple[int, ...]]) -> None:
    con = sqlanon.connect()
    con.execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d INTEGER)")
    con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    in_memory = con.execute("PROFILE t").fetchall()
    with sizes.replaced(collected_cells=0):
        assert con.execute("PROFILE t").fetchall() == in_memory
