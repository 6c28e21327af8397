"""Tuples that the columns of a bucket can be joined to: more of them hide better who is in the table.

Li, Li, Zhang and Molloy, Slicing (2012), section 5. Regions of Mondrian do not overlap, so no tuple matches two of
them, and those of all regions add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from sqlanon.domain.policy import Requirement
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.bucketize import Bucketed, by_regions
from sqlanon.methods.slicing.matching import Matching
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, or_zero, same
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.questions.ask import bind_requirement

# The rows of one column, the column with the bucket, and those with the values.
Slice = tuple[exp.Table | exp.Subquery, str, Sequence[str]]


def joined_tuples(slices: Sequence[Slice]) -> exp.Select:
    """How many tuples the columns can be joined to, a DOUBLE: for each bucket the product of their distinct values."""
    query = exp.select()
    numbers: list[exp.Expr] = []
    for index, (rows, bucket, values) in enumerate(slices):
        distinct = exp.select(alias(column(bucket), "bucket"), *map(column, values)).distinct(copy=False)
        distinct.from_(rows.copy(), copy=False)
        counted = exp.select(column("bucket"), alias(cast(f.count(), "DOUBLE"), "n"))
        counted.from_(distinct.subquery("different"), copy=False).group_by(column("bucket"), copy=False)
        name = f"slice_{index}"
        if index:
            query.join(counted.subquery(name), on=same("bucket", "slice_0", name), copy=False)
        else:
            query.from_(counted.subquery(name), copy=False)
        numbers.append(column("n", name))
    product = reduce(lambda first, second: exp.Mul(this=first, expression=second), numbers)
    return query.select(or_zero(f.sum(product)), copy=False)


def with_fakes(task: Task, matching: Matching, ratio: Decimal) -> Bucketed:
    """Mondrian's regions whose columns can be joined to so many fake tuples for each row at least.

    Regions get more rows, twice as many at a time, until there are so many. Raises PrivacyViolation where not even all
    rows as one region have them.
    """
    rows, size = task.encoded.rows, 1
    while True:
        least = bind_requirement(Requirement("k_anonymity", (("k", size),))) if size > 1 else ()
        bucketed = by_regions(replace(task, requirements=(*task.requirements, *least)), matching.points)
        made = [(relation(bucketed.points), "region", names) for names in matching.slices]
        joined = float(task.engine.rows(joined_tuples(made))[0][0])
        if joined >= (1 + float(ratio)) * rows:
            return bucketed
        if 2 * size > rows:
            raise PrivacyViolation(
                f"fake_tuples => {ratio} cannot be met: all rows as one bucket can be joined to {joined:.0f} tuples, "
                f"{joined / rows - 1:.3f} fake ones for each of the {rows} rows; nothing was published",
                hint="ask for fewer, or name more columns: fewer attributes stand together then",
            )
        size *= 2


def column_names(engine: Engine, table: exp.Table | exp.Subquery) -> list[str]:
    """The columns of a published table but the bucket."""
    return [name for name, _ in engine.columns(exp.select(exp.Star()).from_(table.copy())) if name != BUCKET]
