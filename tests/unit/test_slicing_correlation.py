"""phi2 of the attributes of a table, in SQL: against its definition over rows."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.clients.terminal.demo import load_adult
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.slicing.choose_columns import correlation_with
from sqlanon.methods.slicing.correlation import Correlations, mean_square_contingency
from sqlanon.sql.build.names import relation
from tests.oracles.slicing_columns import in_intervals, phi2
from tests.support.column_types import TYPES
from tests.support.draws import draws
from tests.support.names import HOSTILE
from tests.support.slicing_columns import CONTINGENCY, NAMES, PATIENTS, contingency, contingency_of, patients


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    """The connection of all tests of this file."""
    return duckdb.connect(config={"threads": 1})


@pytest.mark.parametrize("intervals", [2, 3])
def test_the_contingency_of_the_papers_table(intervals: int) -> None:
    correlations = patients(con(), intervals)
    ages = in_intervals([row[0] for row in PATIENTS], intervals)
    rows = [(age, *row[1:]) for age, row in zip(ages, PATIENTS, strict=True)]
    for (first, second), value in CONTINGENCY.items():
        assert phi2(*([row[NAMES.index(name)] for row in rows] for name in (first, second))) == value
        assert correlations.between(first, second) == correlations.between(second, first) == pytest.approx(value, 1e-11)
    assert correlations.values == (2, 2, 4, 4)
    by_correlation = sorted(NAMES[:3], key=lambda name: -correlation_with(correlations, ["Disease"], name))
    assert by_correlation == ["Sex", "Zipcode", "Age"]


NUMBERS: dict[str, list[object]] = {
    "TINYINT": [-128, -1, 0, 1, 127],
    "UINTEGER": [0, 1, 7, 2**32 - 1],
    "INTEGER": [-7, -4, -1, 0, 3, 5, 2**31 - 1, -(2**31)],
    "BIGINT": [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3],
    "DOUBLE": [-1.5, 0.0, 0.25, 2.75, 1e10, "inf", "-inf", "nan"],
    "FLOAT": [-1.5, 0.0, 0.25, "inf"],
    "DECIMAL(9,2)": ["-0.60", "0.00", "0.30", "0.60", "0.90", "12.34"],
    "DECIMAL(18,0)": [-(10**14), 0, 1, 10**14],
}
OTHERS: dict[str, list[object]] = {
    "VARCHAR": ["", "a", "A", "it's"],
    "BOOLEAN": ["true", "false"],
    "ENUM('x', 'y', 'z')": ["x", "y", "z"],
    "UUID": [f"00000000-0000-0000-0000-00000000000{i}" for i in range(3)],
}
DAYS: list[object] = [datetime.date(1969, 12, 31), datetime.date(2020, 2, 29), datetime.date(1, 1, 1), "infinity"]
MOMENTS: list[object] = [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime.max, "-infinity"]


def made(types: Sequence[str], rows: Sequence[Sequence[object]]) -> Correlations:
    """phi2 in a table of these rows, with numbers in three intervals."""
    return contingency_of(con(), 3, types, rows)


def number_of(value: object) -> Any:
    """A value as a number that intervals are cut of."""
    match value:
        case "inf" | "-inf" | "nan" | "infinity" | "-infinity":
            return float(str(value))
        case datetime.datetime():
            return (value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
        case datetime.date():
            return value.toordinal()
        case str():
            return Decimal(value)
    return value


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[str], list[tuple[object, ...]]]:
    """A number of intervals, the types of some columns, and rows."""
    domains = {**NUMBERS, **OTHERS, "DATE": DAYS, "TIMESTAMP": MOMENTS}
    types = draw(st.lists(st.sampled_from(list(domains)), min_size=1, max_size=4))
    columns = [draw(st.lists(st.sampled_from(domains[kind]), min_size=1, unique=True)) for kind in types]
    row = st.tuples(*(st.sampled_from([None, *values]) for values in columns))
    return draw(st.sampled_from([1, 2, 3, 7])), types, draw(st.lists(row, max_size=12))


@pytest.mark.drawn
@settings(max_examples=draws(25, long=150), deadline=None)
@given(tables())
def test_contingency_of_random_tables(table: tuple[int, list[str], list[tuple[object, ...]]]) -> None:
    """Of all types, with NULLs, no rows, a single row, a single value, infinite numbers and what is no number."""
    intervals, types, rows = table
    correlations = contingency_of(con(), intervals, types, rows)
    columns: list[list[Any]] = [[row[index] for row in rows] for index in range(len(types))]
    cut = [
        values if kind in OTHERS else in_intervals([number_of(value) for value in values], intervals)
        for kind, values in zip(types, columns, strict=True)
    ]
    assert correlations.values == tuple(len(set(values)) for values in cut)
    expected = {(a, b): phi2(cut[a], cut[b]) for a, b in combinations(range(len(types)), 2)}
    assert correlations.pairs == {pair: pytest.approx(float(value), abs=1e-11) for pair, value in expected.items()}


WIDE: dict[str, list[object]] = {
    "DECIMAL(38,0)": [-(10**38) + 1, 0, 10**38 - 1],
    "DECIMAL(38,38)": [f"-0.{'9' * 38}", "0", f"0.{'9' * 38}"],
    "HUGEINT": [-(2**127), 0, 2**127 - 1],
    "UHUGEINT": [0, 2**127, 2**128 - 1],
    "BIGINT": [-(2**63), 0, 2**63 - 1],
    "UBIGINT": [0, 2**63, 2**64 - 1],
    "DOUBLE": [-1.7976931348623157e308, 0.0, 1.7976931348623157e308],
    "FLOAT": [-3.4e38, 0, 3.4e38],
    "DATE": ["5877642-06-25 (BC)", "1970-01-01", "5881580-07-10"],
    "TIMESTAMP": ["290309-12-22 (BC) 00:00:00", "1970-01-01", "294247-01-10 04:00:54"],
}


@pytest.mark.parametrize("kind", WIDE)
def test_a_column_as_wide_as_its_type(kind: str) -> None:
    """Its least value, its greatest and one between them are in three intervals."""
    least, middle, most = WIDE[kind]
    correlations = made([kind, "VARCHAR"], [(least, "a"), (middle, "b"), (most, "c"), (None, "d")])
    assert (correlations.values, correlations.pairs) == ((4, 4), {(0, 1): 1.0})


@pytest.mark.parametrize("kind", WIDE)
def test_a_constant_column(kind: str) -> None:
    correlations = made([kind, "VARCHAR"], [(WIDE[kind][2], text) for text in "abc"])
    assert (correlations.values, correlations.pairs) == ((1, 3), {(0, 1): 0.0})


def test_decimals_at_the_end_of_an_interval_lie_in_the_next() -> None:
    """0.60 is at two thirds of the way from 0.00 to 0.90, which doubles of these numbers say it is below."""
    assert 0.6 * 3 / 0.9 < 2
    assert made(["DECIMAL(9,2)"], [("0.00",), ("0.60",), ("0.90",)]).values == (2,)


def test_whole_numbers_beyond_those_of_a_double_are_told_apart() -> None:
    assert made(["HUGEINT", "VARCHAR"], [(2**120 + number, number) for number in range(3)]).values == (3, 3)


@pytest.mark.long
def test_every_type_of_column() -> None:
    """NULL is a value, and so is the date before or after all others; numbers are in two intervals."""
    described = ", ".join(f'CAST({value} AS {kind}) AS "c{i}"' for i, (kind, value) in enumerate(TYPES.items()))
    con().execute(f"CREATE OR REPLACE TEMPORARY TABLE typed AS SELECT {described} FROM range(5) AS r(i)")
    values = dict(zip(TYPES, contingency(con(), "typed", 2).values, strict=True))
    assert {kind: count for kind, count in values.items() if count not in (2, 5)} == {"BOOLEAN": 3, "DATE": 4}


def test_columns_of_any_name() -> None:
    """Also those of the query's own relations."""
    folded = {name.casefold(): name for name in [*HOSTILE, "low_0", "high_0", "code_0", "n", "source", "range"]}
    names = [*folded.values()]
    for at in range(0, len(names), 6):
        part = names[at : at + 6]
        correlations = contingency_of(con(), 3, ["INTEGER"] * len(part), [[1] * len(part), [2] * len(part)], part)
        assert correlations.names == tuple(part)
        assert {*correlations.pairs.values()} == {1.0}


def test_no_attributes_and_no_rows() -> None:
    with TempTables(DuckDBEngine(con())) as temp:
        nothing = mean_square_contingency(temp.engine, temp, relation("people"), [], 3)
    assert nothing == Correlations((), (), {})
    empty = made(["INTEGER", "DATE", "VARCHAR"], [])
    assert (empty.values, set(empty.pairs.values())) == ((0, 0, 0), {0.0})


def test_attributes_of_the_census(with_adult: Path) -> None:
    """What the 45,222 people's occupation goes with most."""
    with duckdb.connect() as connection:
        load_adult(connection)
        connection.execute("CREATE TABLE people AS SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL")
        names = ["workclass", "education", "occupation", "sex", "salary_class"]
        correlations = contingency(connection, "people", 10, names)
        others = [name for name in names if name != "occupation"]
        with_occupation = {name: round(correlations.between(name, "occupation"), 4) for name in others}
        assert with_occupation == {"sex": 0.1899, "salary_class": 0.1197, "workclass": 0.0471, "education": 0.0387}
