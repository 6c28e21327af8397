"""What has to hold of Anatomy's tables: their buckets fit together."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.anatomy.tables import differing, misplaced, out_of_place, unequal
from sqlanon.methods.anatomy.tables import (
    out_of_order as not_ascending,
)
from sqlanon.methods.shared.bucket_tables import QUASI_IDENTIFIERS
from sqlanon.sql.classes.buckets import BucketValues

# The tables of a release by the part of their names that follows the release's.
Sources = Mapping[str, exp.Table | exp.Subquery]


def unequal_buckets(
    engine: Engine, sources: Sources, values: Mapping[str, BucketValues], *, as_stored: bool = False
) -> int:
    """How many buckets have another number of rows in one table than in that of an attribute's values, or lack there.

    With `as_stored`, for DuckDB only, the order in which rows are read saves groupings: values that are in order
    need none to see that each occurs once, and rows in the order of values that count once none to see that there are
    as many.
    """
    exact = sources[QUASI_IDENTIFIERS]
    count = 0
    for where in values.values():
        sensitive = sources[where.table]
        in_order = as_stored and _none(engine, not_ascending(sensitive.copy()))
        if in_order and _none(engine, misplaced(exact.copy(), sensitive.copy())):
            continue
        count += _number(engine, (differing if in_order else unequal)(exact.copy(), sensitive.copy()))
    return count


def out_of_order(engine: Engine, sources: Sources) -> int:
    """How many rows of the quasi-identifiers, as they are read, have a lesser bucket than the row before."""
    return _number(engine, out_of_place(sources[QUASI_IDENTIFIERS].copy()))


def _none(engine: Engine, query: exp.Select) -> bool:
    return _number(engine, query) == 0


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0])
