"""Puts rows into buckets that meet every requirement: Mondrian's regions, or random rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError
from sqlanon.methods.shared.partition.allowable_cuts import violating_regions
from sqlanon.methods.shared.partition.points import Points
from sqlanon.methods.shared.partition.region_labels import Partition
from sqlanon.methods.shared.partition.solve import cuts_of, solve
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing import bucket_sql
from sqlanon.methods.slicing.feasibility import BUCKETS, BucketedRows, Parts, violating_buckets
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select


@dataclass(frozen=True)
class Bucketed:
    """Rows in buckets: `points` is a temporary table of the rows with their region, which is the bucket.

    A point is one row if `single`, else `n` rows. If `by_number`, a point has only the number of a row of the source;
    if `by_value`, it has the row's published values. `partition` has the regions, if buckets are regions of Mondrian.
    """

    points: str
    single: bool
    by_number: bool = False
    by_value: bool = False
    partition: Partition | None = None


def by_regions(task: Task, points: Points) -> Bucketed:
    """Makes buckets of Mondrian's regions. The widest attribute is cut at its median while both halves meet the
    requirements.
    """
    partition = solve(task, BUCKETS, points)
    return Bucketed(partition.points, points.single, partition=partition)


def at_random(task: Task, points: Points, size: int, matching: Callable[[exp.Query], exp.Query] | None) -> Bucketed:
    """Makes random slots of `size` rows, and merges pairs of slots while one violates a requirement.

    `matching` returns, from rows by region, the regions that violate a requirement on all of them together. All rows as
    one region must meet all requirements.
    """
    temp, cells = task.temp, task.encoded
    points = replace(points, single=True)
    cuts = cuts_of(task, points)
    with registered(task.engine, "random_draw") as draw:
        rows = temp.table("rows_in_slots", bucket_sql.dealt_at_random(points, cells.table, size, draw))

    def violating(slots: str) -> exp.Query | None:
        broken: list[exp.Query] = []
        if task.requirements:
            broken.append(violating_regions(cuts, bucket_sql.in_slots(points, rows, slots, "class_id", new=True)))
        if matching:
            broken.append(matching(bucket_sql.in_slots(points, rows, slots, "region")))
        return exp.select(exp.Star()).from_(union_all(broken).subquery("broken")) if broken else None

    slots = merged_slots(task, rows, violating)
    return Bucketed(temp.table("points", bucket_sql.in_slots(points, rows, slots, "region")), single=True)


def by_number(task: Task, parts: Parts, size: int) -> Bucketed:
    """Makes random buckets of row numbers, for sources with too many attributes for cells."""
    temp, policy = task.temp, task.policy
    with registered(task.engine, "random_draw") as draw:
        rows = temp.table("rows_in_slots", bucket_sql.rows_at_random(relation(policy.relation), size, draw))

    def violating(slots: str) -> exp.Query | None:
        return violating_buckets(task, BucketedRows(policy, rows, slots), parts) if task.requirements else None

    slots = merged_slots(task, rows, violating)
    return Bucketed(temp.table("points", bucket_sql.points_by_number(rows, slots)), single=True, by_number=True)


def merged_slots(task: Task, rows: str, violating: Callable[[str], exp.Query | None]) -> str:
    """Makes the temporary relation of the slots of rows, which are merged in pairs while `violating`
    returns a region.
    """
    temp = task.temp
    slots = temp.rows("slots", bucket_sql.slots(rows))
    number, level = rows_in(task, slots), 0
    while (query := violating(slots)) is not None:
        broken = temp.table("violating", query)
        if not rows_in(task, broken):
            break
        if 1 << level >= number:
            raise InternalError("all rows as one bucket violate a requirement that they met before")
        level += 1
        slots = temp.rows("slots", bucket_sql.merged(slots, broken, level))
    return slots


def rows_by_region(points: str) -> exp.Query:
    """SELECT of all columns of the table `points` of a `Bucketed`: the rows with their region."""
    return exp.select(exp.Star()).from_(relation(points))


def bucket_numbers(task: Task, points: str) -> str:
    """Makes the temporary relation (region, bucket, rows): each region's random bucket number and its
    number of rows.
    """
    with registered(task.engine, "random_draw") as draw:
        return task.temp.table("numbers", bucket_sql.bucket_numbers(points, draw))


def rows_in(task: Task, table: str) -> int:
    """Counts the rows of a temporary table."""
    return int(task.engine.rows(select(f.count(), of=relation(table)))[0][0])
