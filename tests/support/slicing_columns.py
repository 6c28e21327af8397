"""The table of Slicing (Li et al. 2012) with its correlations, and those of other tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import duckdb

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Attribute, Role
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.slicing.correlation import Correlations, mean_square_contingency
from sqlanon.sql.build.names import relation
from tests.support.names import quoted

__all__ = ["CONTINGENCY", "NAMES", "PATIENTS", "contingency", "contingency_of", "patients"]

# Slicing (2012), Table 1a.
NAMES = ("Age", "Sex", "Zipcode", "Disease")
PATIENTS = [
    (22, "M", "47906", "dyspepsia"),
    (22, "F", "47906", "flu"),
    (33, "F", "47905", "flu"),
    (52, "F", "47905", "bronchitis"),
    (54, "M", "47302", "flu"),
    (60, "M", "47302", "dyspepsia"),
    (60, "M", "47304", "dyspepsia"),
    (64, "F", "47304", "gastritis"),
]
# With age in two intervals or in three, of which the middle one is empty.
CONTINGENCY = {
    ("Age", "Sex"): Fraction(1, 15),
    ("Age", "Zipcode"): Fraction(11, 15),
    ("Age", "Disease"): Fraction(13, 45),
    ("Sex", "Zipcode"): Fraction(1, 2),
    ("Sex", "Disease"): Fraction(2, 3),
    ("Zipcode", "Disease"): Fraction(1, 3),
}


def contingency(
    connection: duckdb.DuckDBPyConnection, table: str, intervals: int, columns: Sequence[str] = ()
) -> Correlations:
    """phi2 of the columns of a table, all of them unless some are named."""
    engine = DuckDBEngine(connection)
    bounds = [
        BoundAttribute(Attribute(name, Role.QUASI_IDENTIFIER), name, kind, "VARCHAR" if "ENUM" in kind else kind)
        for name, kind in engine.columns(f"FROM {table}")
        if not columns or name in columns
    ]
    with TempTables(engine) as temp:
        return mean_square_contingency(engine, temp, relation(table), bounds, intervals)


def contingency_of(
    connection: duckdb.DuckDBPyConnection,
    intervals: int,
    types: Sequence[str],
    rows: Sequence[Sequence[object]],
    names: Sequence[str] = (),
) -> Correlations:
    """phi2 in a table of these rows, whose values are cast from their texts."""
    columns = [quoted(name) for name in (names or [f"c{index}" for index in range(len(types))])]
    described = ", ".join(f"{name} {kind}" for name, kind in zip(columns, types, strict=True))
    connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE people ({described})")
    marks = ", ".join(f"CAST(? AS {kind})" for kind in types)
    for row in rows:
        texts = [None if value is None else str(value) for value in row]
        connection.execute(f"INSERT INTO people VALUES ({marks})", texts)
    return contingency(connection, "people", intervals)


def patients(connection: duckdb.DuckDBPyConnection, intervals: int = 2) -> Correlations:
    """phi2 in the paper's table, with ages in so many intervals."""
    return contingency_of(connection, intervals, ["INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"], PATIENTS, NAMES)
