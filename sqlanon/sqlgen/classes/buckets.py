"""Buckets of rows and of values: the columns that published tables have, and what requirements ask of them.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), definition 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.classes.requirement import SqlRequirement, by_attribute
from sqlanon.sqlgen.classes.rows import Rows, RowsOfRequirements

__all__ = ["BUCKET", "COUNT", "VALUE", "rows_of_buckets"]

# The number of a row's bucket, a value of one of its rows, and how many of its rows have that value.
BUCKET = "bucket"
VALUE = "value"
COUNT = "count"


def rows_of_buckets(
    sources: Mapping[str, exp.Table | exp.Subquery],
    requirements: Sequence[SqlRequirement],
    indexes: Sequence[int],
    values: Mapping[str, str],
    *,
    once: bool = False,
) -> Iterator[RowsOfRequirements]:
    """The rows of each attribute's table of buckets (bucket, value, count), with the requirements that they answer.

    `sources` has the tables that can be read, by the suffixes of their names; `values` says which of them has the
    values of an attribute. `indexes` are those of the requirements that the tables can answer. `once` says that no
    bucket has a value twice.
    """
    for attribute, of_attribute in by_attribute(requirements, list(values)).items():
        name = values[attribute]
        answerable = tuple(index for index in of_attribute if index in indexes)
        if answerable and name in sources:
            yield RowsOfRequirements(_of_buckets(sources[name], attribute, once), answerable)


def _of_buckets(source: exp.Table | exp.Subquery, attribute: str, once: bool) -> Rows:
    """Rows that stand for as many as their count says; a class is a bucket."""
    query = exp.select(alias(column(BUCKET), "class_id"), column(VALUE), column(COUNT)).from_(source)
    columns = {attribute: column(VALUE)}
    class_id = column("class_id")
    bucket_rows = query.subquery("bucket_row")
    return Rows(bucket_rows, (class_id,), class_id.copy(), columns, weight=column(COUNT), counted=once)
