"""Ranges for the quasi-identifiers of each column, so that each combination occurs k times in its table.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012), section 4.2: Mondrian
on each column alone, because of those who ask whether somebody is in the source at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.counts import counted
from sqlanon.domain.policy import Requirement
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.partition.region_labels import region_labels
from sqlanon.methods.shared.partition.solve import Options as Cutting
from sqlanon.methods.shared.partition.solve import solve
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.source_rows import value_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import same
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.release.region_rows import label_name


@dataclass(frozen=True)
class ColumnRegions:
    """The regions of one column: `table` has a row for each combination of ranks of its quasi-identifiers.

    Of the attribute at an index of `attributes` it has the rank among all values, `rank_of`, or the value itself,
    `value_name`, where rows are on another engine; and the range that is published, `label_name`. There are `count`
    regions, of `smallest` to `largest` rows.
    """

    attributes: tuple[str, ...]
    table: str
    count: int
    smallest: int
    largest: int

    def __str__(self) -> str:
        sizes = f"{self.smallest:,}" if self.smallest == self.largest else f"{self.smallest:,} to {self.largest:,}"
        names = ", ".join(self.attributes)
        return f"({names}): {counted(self.count, 'combination')} of ranges, of {sizes} rows each"


def column_regions(
    task: Task, columns: Sequence[Sequence[str]], k: int, *, by_value: bool = False
) -> dict[int, ColumnRegions]:
    """The regions of each column that has a quasi-identifier, by its index; `by_value` with values in place of ranks.

    The quasi-identifiers of a column are cut as Mondrian does it, as long as both halves have k rows, whatever buckets
    these are in. Raises PrivacyViolation where the source has rows, and fewer than k.
    """
    if 0 < task.encoded.rows < k:
        raise PrivacyViolation(
            f"column_k => {k} cannot be met: the source has {counted(task.encoded.rows, 'row')}; nothing was published",
            hint="ask for less",
        )
    quasi = {bound.column for bound in task.policy.quasi_identifiers}
    each = {index: tuple(name for name in names if name in quasi) for index, names in enumerate(columns)}
    return {index: _regions(task, names, k, by_value) for index, names in each.items() if names}


def _regions(task: Task, names: Sequence[str], k: int, by_value: bool) -> ColumnRegions:
    """The regions of these quasi-identifiers alone."""
    alone = _alone(task, names, k)
    partition = solve(alone, Cutting())
    labels = task.scratch.table("labels", region_labels(alone.policy, partition, [None] * len(names)))
    ranks = [rank_of(index) for index in range(len(names))]
    combinations = exp.select(column("region"), *map(column, ranks)).distinct(copy=False)
    combinations.from_(relation(partition.points), copy=False)
    query = exp.select().from_(combinations.subquery("point"), copy=False)
    for index, ranked in enumerate(alone.encoded.ranked):
        if not by_value:
            query.select(column(ranks[index], "point"), copy=False)
            continue
        of = f"of_{index}"
        query.select(alias(column("value", of), value_name(index)), copy=False)
        on = column(rank_name(0), of).eq(column(ranks[index], "point"))
        query.join(relation(ranked, as_=of), on=on, copy=False)
    query.select(*(column(label_name(index), "label") for index in range(len(names))), copy=False)
    query.join(relation(labels, as_="label"), on=same("region", "point", "label"), copy=False)
    table = task.scratch.table("column_ranges", query)
    return ColumnRegions(tuple(names), table, partition.count, partition.smallest, partition.largest)


def _alone(task: Task, names: Sequence[str], k: int) -> Task:
    """The task of cutting these quasi-identifiers, in this order, where only k rows are required."""
    indexes = {bound.column: index for index, bound in enumerate(task.policy.quasi_identifiers)}
    bounds = {bound.column: bound for bound in task.policy.quasi_identifiers}
    chosen = [indexes[name] for name in names]
    cells = task.encoded
    layout = replace(cells.layout, fields=tuple(cells.layout.fields[index] for index in chosen))
    return replace(
        task,
        policy=replace(task.policy, attributes=tuple(bounds[name] for name in names)),
        requirements=bind_requirement(Requirement("k_anonymity", (("k", k),))),
        cells=replace(cells, layout=layout, ranked=tuple(cells.ranked[index] for index in chosen)),
        watching=None,
    )


def least_repeated(
    engine: Engine, tables: Mapping[str, exp.Table | exp.Subquery], names: Mapping[str, Sequence[str]]
) -> int | None:
    """How many rows of its table the rarest combination has; None without a row, or without such a column.

    `names` has the columns of each table whose values are combined.
    """
    least: list[int] = []
    for name, table in tables.items():
        if not names[name]:
            continue
        keys = [column(part) for part in names[name]]
        rows = exp.select(alias(f.count(), "n")).from_(table.copy()).group_by(*keys)
        ((smallest,),) = engine.rows(exp.select(f.min(column("n"))).from_(rows.subquery("combination")))
        least += [] if smallest is None else [int(smallest)]
    return min(least, default=None)
