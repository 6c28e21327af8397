"""The tables of an m-invariant release: Anatomy's, and how many counterfeits each bucket has."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.methods.m_invariance.choice import Invariant
from sqlanon.methods.m_invariance.ranges import ranges_table
from sqlanon.methods.shared.bucket_tables import BUCKETS, rows_table, sensitive_names, values_table
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, big, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

# How the columns of the table of counterfeits are read.
COUNTERFEIT_TABLE = (Reading.BUCKET, Reading.COUNTERFEITS)

# The name of the table, and of its column.
COUNTERFEITS = "counterfeits"


def invariant_tables(policy: BoundPolicy, choice: Invariant, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
    """The rows, the values of each bucket, and how many of these are counterfeits: which ones is said nowhere.

    Where buckets have ranges, rows and counterfeits stand in one table, each with its value.
    """
    if choice.ranges is not None:
        tables = (ranges_table(policy, choice), _counterfeits(choice))
        return TablesQuery(policy, release_id, tables, tokens, choice.respondent)
    [sensitive] = policy.sensitive
    rows = rows_table(policy, choice.rows_in_buckets, tokens, None, choice.respondent)
    once = exp.select(column("bucket"), column("code"), alias(big(literal(1)), "n")).from_(relation(choice.in_bucket))
    name = sensitive_names([sensitive.column])[sensitive.column]
    values = values_table(sensitive, name, once, choice.codes, ordered=True)
    return TablesQuery(policy, release_id, (rows, values, _counterfeits(choice)), tokens, choice.respondent)


def _counterfeits(choice: Invariant) -> PublishedTable:
    count = alias(f.count(), COUNTERFEITS)
    query = exp.select(alias(column("bucket"), BUCKET), count).from_(relation(choice.in_bucket))
    query.where(is_null(column("row_no")), copy=False).group_by(column("bucket"), copy=False)
    query.order_by(ascending(column("bucket")), copy=False)
    columns = (BUCKETS, PublishedColumn(COUNTERFEITS, Role.INSENSITIVE, Reading.COUNTERFEITS))
    return PublishedTable(COUNTERFEITS, columns, query, ordered=True)
