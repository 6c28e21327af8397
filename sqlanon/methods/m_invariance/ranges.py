"""What the buckets of an m-invariant release show of their people: ranges, in which there are counterfeits, too."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.m_invariance.choice import Invariant
from sqlanon.methods.shared.bucket_tables import BUCKETS
from sqlanon.methods.shared.partition.choice import Partition
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.partition.region_labels import region_labels, region_loss
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import same
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable
from sqlanon.sql.release.region_rows import high_name, label_name, low_name

# The name of the table.
ROWS = "rows"
# How its columns are read.
RANGE_ROWS = (Reading.RANGE, Reading.BUCKET_VALUE, Reading.BUCKET)


@dataclass(frozen=True)
class Ranges:
    """The table of what each bucket shows, `region_labels` whose regions are buckets, and what is lost by it."""

    labels: str
    loss: Fraction


def ranges_of(engine: Engine, scratch: Scratch, policy: BoundPolicy, cuts: Cuts, rows: str, in_bucket: str) -> Ranges:
    """The ranges of the people of each bucket: counterfeits have no values, and widen none.

    `rows` is a table of row_no and the ranks of each row, `in_bucket` one of row_no and bucket.
    """
    names = [rank_of(index) for index in cuts.attributes]
    placed = exp.select(alias(column("bucket", "dealt"), "region"), *(column(name, "row") for name in names))
    placed.from_(relation(rows, as_="row"), copy=False)
    placed.join(relation(in_bucket, as_="dealt"), on=same("row_no", "row", "dealt"), copy=False)
    points = scratch.table("points", placed)
    spans = exp.select(column("region"), alias(f.count(), "rows")).from_(relation(points)).group_by(column("region"))
    for index, name in enumerate(names):
        ends = (alias(f.min(column(name)), low_name(index)), alias(f.max(column(name)), high_name(index)))
        spans.select(*ends, copy=False)
    regions, count = scratch.counted_table("regions", spans)
    partition = Partition(
        regions=regions,
        points=points,
        ranked=tuple(cuts.ranked),
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
    labels = scratch.table("ranges", region_labels(policy, partition, levels))
    return Ranges(labels, region_loss(engine, policy, partition))


def ranges_table(policy: BoundPolicy, choice: Invariant) -> PublishedTable:
    """A row for each person and for each counterfeit: the ranges of the bucket, a value and the bucket.

    They are sorted by bucket, whose numbers were drawn, and within a bucket in an order that is drawn. It has the
    respondents, too, NULL for a counterfeit, which are there for checks alone.
    """
    assert choice.ranges is not None
    labels = {bound.column: label_name(index) for index, bound in enumerate(policy.quasi_identifiers)}
    query = exp.select().from_(relation(choice.rows_in_buckets, as_="dealt"))
    query.join(relation(choice.codes, as_="coded"), on=same("code", "dealt", "coded"), copy=False)
    on = column("bucket", "dealt").eq(column("region", "shown"))
    query.join(relation(choice.ranges, as_="shown"), on=on, copy=False)
    for bound in policy.published:
        label = labels.get(bound.column)
        value = column("value", "coded") if label is None else column(label, "shown")
        query.select(alias(value, bound.column), copy=False)
    query.select(alias(column("bucket", "dealt"), BUCKET), column(choice.respondent, "dealt"), copy=False)
    columns = (*map(_published, policy.published), BUCKETS)
    # Its texts are ranges, and no values of the source's columns.
    return PublishedTable(ROWS, columns, query, by=BUCKET, words=())


def _published(bound: BoundAttribute) -> PublishedColumn:
    # The bucket alone says which class a row is in.
    if bound.role is Role.QUASI_IDENTIFIER:
        return PublishedColumn(bound.column, Role.INSENSITIVE, Reading.RANGE, bound)
    return PublishedColumn(bound.column, bound.role, Reading.BUCKET_VALUE, bound)
