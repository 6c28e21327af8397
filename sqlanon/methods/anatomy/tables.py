"""Anatomy's tables: the rows with their buckets, and the sensitive values of each bucket with their numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.shared.bucket_tables import code_name, rows_table, sensitive_names, values_table
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    big,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.release.multi_table_query import PublishedTable, TablesQuery

# What Anatomy chose: a bucket for every row.


@dataclass(frozen=True)
class Bucketization:
    """The result of METHOD anatomy (Xiao and Tao 2006): a bucket for each row of the source, and no value changed.

    `rows_in_buckets` is a temporary table with a row for each row of the source: its bucket, the codes of its sensitive
    values, and its other published columns (bucket, code_0, ..., column_0, ...); the columns in `words` are
    dictionary-encoded. `codes` has, for each sensitive column in that order, the table of its values (value, code).
    There are `count` buckets of `smallest` to `largest` rows, within `regions` regions. If `once` is true, no bucket
    has two rows with the same value. No row is suppressed and no value recoded, so the loss is 0.
    """

    rows_in_buckets: str
    codes: tuple[tuple[str, str], ...]
    count: int
    smallest: int
    largest: int
    regions: int
    rows: int
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"
    once: bool = False
    words: tuple[str, ...] = ()

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


Relation = exp.Table | exp.Subquery


def bucketized(
    policy: BoundPolicy, bucketization: Bucketization, release_id: str, tokens: Mapping[str, str]
) -> TablesQuery:
    """Anatomy's tables (Xiao and Tao 2006, definition 3): the quasi-identifiers, and the values of each bucket.

    Sensitive attributes have a table each, so no table shows which of their values belong to one row.
    """
    names = sensitive_names([bound.column for bound in policy.sensitive])
    exact = rows_table(policy, bucketization.rows_in_buckets, tokens, bucketization.words)
    codes = {name: (index, table) for index, (name, table) in enumerate(bucketization.codes)}
    values = (_values(b, names[b.column], bucketization, *codes[b.column]) for b in policy.sensitive)
    return TablesQuery(policy, release_id, (exact, *values), tokens)


def _values(bound: BoundAttribute, name: str, bucketization: Bucketization, index: int, codes: str) -> PublishedTable:
    """Returns the table of an attribute's values by bucket, with their numbers of rows.

    `codes` is the table of its values, and `index` the number of its code column in the bucketization's rows.
    """
    code = column(code_name(index))
    rows: exp.Expr = literal(1) if bucketization.once else f.count()
    counts = select(column("bucket"), alias(code, "code"), alias(big(rows), "n"))
    extend(counts, of=relation(bucketization.rows_in_buckets))
    if not bucketization.once:
        extend(counts, group_by=[column("bucket"), code])
    # With several attributes, the values of one row could be at the same position of their buckets.
    return values_table(bound, name, counts, codes, ordered=len(bucketization.codes) == 1)


def out_of_order(values: Relation) -> exp.Query:
    """SELECT of the number of rows, in stored order, whose (bucket, value) is not greater than that of the previous
    row.

    NULL is the greatest value. A count of 0 proves that no (bucket, value) occurs twice, whatever the order; the
    reverse does not hold. Rows with a count below 1 are counted, too.
    """
    return query_file("anatomy", "out_of_order", tables={"sensitive": values})


def out_of_place(exact: Relation) -> exp.Query:
    """SELECT of the number of rows, in stored order, whose bucket is NULL or less than the bucket of the previous
    row.
    """
    return query_file("anatomy", "out_of_place", tables={"exact": exact})


def misplaced(exact: Relation, values: Relation) -> exp.Query:
    """SELECT of the number of rows whose bucket differs from the bucket of the value at the same position, or whose
    value has a count other than 1.

    A count of 0 proves that each bucket has as many rows as values, whatever the order; the reverse does not hold.
    """
    return query_file("anatomy", "misplaced", tables={"exact": exact, "sensitive": values})


def differing(exact: Relation, values: Relation) -> exp.Query:
    """SELECT of the number of buckets whose numbers of rows in `exact` and `values` differ; `values` repeats no value.

    Rows count 1 and values -n, so one grouping compares both tables.
    """
    return query_file("anatomy", "differing", tables={"exact": exact, "sensitive": values})


def unequal(exact: Relation, values: Relation) -> exp.Query:
    """SELECT of the number of buckets whose numbers of rows in `exact` and `values` differ, or that repeat a value."""
    return query_file("anatomy", "unequal", tables={"exact": exact, "sensitive": values})
