"""Makes the ranges of the buckets of an m-invariant release, whose rows include counterfeits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.bucket_tables import BUCKETS
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.partition.region_labels import Partition, region_labels, region_loss
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import same
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable
from sqlanon.sql.release.recode import high_name, label_name, low_name

# The choice of m-invariance: a bucket for every row and for every counterfeit.


@dataclass(frozen=True)
class Invariant:
    """A bucket for every row of the source and for every counterfeit; no value is changed, and no row left out.

    `rows_in_buckets` is a temporary table of bucket, the further columns of rows, and the respondent; `in_bucket` a
    table of row_no, code and bucket, where row_no is NULL for a counterfeit, and `codes` a table of value and code. If
    `ranges` is given, a table of `region_labels` by bucket, `rows_in_buckets` has the code in place of these columns,
    and a row for each counterfeit, without respondent. `staying` counts the respondents who were in the series before,
    `newcomers` all others, and `changed` those whose value is not among their former candidates. `respondent` is the
    name of their column, which no published column has.
    """

    rows_in_buckets: str
    in_bucket: str
    codes: str
    buckets: int
    counterfeits: int
    staying: int
    newcomers: int
    changed: int
    rows: int
    respondent: str
    ranges: str | None = None
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


# The name of the table.
ROWS = "rows"
# The readings of its columns.
RANGE_ROWS = (Reading.RANGE, Reading.BUCKET_VALUE, Reading.BUCKET)


@dataclass(frozen=True)
class Ranges:
    """The table of each bucket's ranges, as `region_labels` returns it for regions, and their loss."""

    labels: str
    loss: Fraction


def ranges_of(engine: Engine, temp: TempTables, policy: BoundPolicy, cuts: Cuts, rows: str, in_bucket: str) -> Ranges:
    """Makes the ranges of the respondents of each bucket; counterfeits have no values, and do not widen ranges.

    `rows` is a table of row_no and the ranks of each row, `in_bucket` a table of row_no and bucket.
    """
    names = [rank_of(index) for index in cuts.attributes]
    placed = select(alias(column("bucket", "dealt"), "region"), *(column(name, "row") for name in names))
    extend(placed, of=relation(rows, as_="row"))
    extend(placed, joins=[inner_join(relation(in_bucket, as_="dealt"), same("row_no", "row", "dealt"))])
    points = temp.table("points", placed)
    spans = select(column("region"), alias(f.count(), "rows"), of=relation(points), group_by=[column("region")])
    for index, name in enumerate(names):
        ends = (alias(f.min(column(name)), low_name(index)), alias(f.max(column(name)), high_name(index)))
        extend(spans, *ends)
    regions, count = temp.counted_table("regions", spans)
    partition = Partition(
        regions=regions,
        points=points,
        ranked=tuple(cuts.ranked),
        summaries=tuple(cuts.summaries),
        count=count,
        smallest=1,
        largest=1,
        attempts=0,
        loss=Fraction(),
        rows=0,
        strict=True,
        publish="range",
        bounds=False,
    )
    levels = [None] * len(names)
    labels = temp.table("ranges", region_labels(policy, partition, levels))
    return Ranges(labels, region_loss(engine, policy, partition))


def ranges_table(policy: BoundPolicy, choice: Invariant) -> PublishedTable:
    """The table with a row for each respondent and each counterfeit: the ranges of the bucket, a value, and the bucket.

    Rows are sorted by bucket, whose numbers are random, and are in random order within it. The respondents' column,
    NULL for a counterfeit, is for checks only.
    """
    assert choice.ranges is not None
    labels = {bound.column: label_name(index) for index, bound in enumerate(policy.quasi_identifiers)}
    query = select(of=relation(choice.rows_in_buckets, as_="dealt"))
    extend(query, joins=[inner_join(relation(choice.codes, as_="coded"), same("code", "dealt", "coded"))])
    on = column("bucket", "dealt").eq(column("region", "shown"))
    extend(query, joins=[inner_join(relation(choice.ranges, as_="shown"), on)])
    for bound in policy.published:
        label = labels.get(bound.column)
        value = column("value", "coded") if label is None else column(label, "shown")
        extend(query, alias(value, bound.column))
    extend(query, alias(column("bucket", "dealt"), BUCKET), column(choice.respondent, "dealt"))
    columns = (*map(_published, policy.published), BUCKETS)
    # Its texts are ranges, and no values of the source's columns.
    return PublishedTable(ROWS, columns, query, by=BUCKET, words=())


def _published(bound: BoundAttribute) -> PublishedColumn:
    # Only the bucket identifies the class of a row.
    if bound.role is Role.QUASI_IDENTIFIER:
        return PublishedColumn(bound.column, Role.INSENSITIVE, Reading.RANGE, bound)
    return PublishedColumn(bound.column, bound.role, Reading.BUCKET_VALUE, bound)


# The queries under sql/m_invariance/.


def step(name: str, tables: Mapping[str, str | exp.Query], m: int | None = None) -> exp.Query:
    """Loads a query of sql/m_invariance/ over these tables, with m as its parameter."""
    values: dict[str, Any] = {} if m is None else {"m": m}
    return query_file("m_invariance", name, tables=tables, **values)
