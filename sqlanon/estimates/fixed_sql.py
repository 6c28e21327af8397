"""Reads the queries of estimates whose shape never changes, the files under sql/estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.sql.build.expressions import big
from sqlanon.sql.build.names import alias, literal
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Relation, query_file

# What a query reads under a name: a table by the name that it really has, or the rows of a query.
Tables = Mapping[str, Relation]


def fixed(name: str, tables: Tables | None = None, **values: object) -> exp.Query:
    """Returns the query of a file under sql/estimates; `tables` replaces the relations that the file names."""
    return query_file("estimates", name, tables=tables, names=None, calls=None, **values)


def withheld_rows(number: int | None) -> exp.Select:
    """Returns the relation `withheld` of these files: one row, the number of suppressed rows, NULL if unknown."""
    return select(alias(big(literal(number)), "rows"))


# How much of an estimate is computed at once.


@dataclass(frozen=True)
class Sizes:
    """Limits of estimates. A query with more than `max_combinations` combinations of rows and values is refused.

    `code_bits` are the bits of a BIGINT and of a HUGEINT that the code of a bucket may use.

    For the queries of a workload: a statement reads at most `max_rows` rows of masks, which have at most `max_words`
    words each, and at most `max_pairs` pairs of queries and classes if it adds up each row of a bucket for each query;
    on bucketed tables it answers at most `max_queries_on_buckets` queries. Up to `max_leaves_in_one_scan` leaves, one
    scan evaluates all conditions on each leaf; for more leaves each condition has its own scan, which keeps the
    satisfying leaves. Shares of up to `max_leaves_in_arrays` leaves, each counted for each query, are added up in
    arrays. Of the classes of rows `max_classes_read` are read at a time.
    """

    max_combinations: int = 20_000_000
    code_bits: tuple[int, int] = (62, 126)
    max_rows: int = 20_000_000
    max_words: int = 16
    max_pairs: int = 100_000_000
    max_queries_on_buckets: int = 1024
    max_leaves_in_one_scan: int = 5_000
    max_leaves_in_arrays: int = 1 << 23
    max_classes_read: int = 4_000_000


sizes = Adjustable(Sizes())
