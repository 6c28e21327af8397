"""Slicing of rows on Spark: requirements are checked on the cells, and rows keep their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.base import Encoding
from sqlanon.methods.shared.bucket_tables import numbered
from sqlanon.methods.shared.partition.region_labels import region_map
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing import feasibility
from sqlanon.methods.slicing.bucketize import Bucketed, merged_slots, rows_in
from sqlanon.methods.slicing.correlation import Correlations, mean_square_contingency
from sqlanon.methods.slicing.feasibility import BucketedRows, Parts, beside, value_name, violating_buckets
from sqlanon.methods.slicing.matching import Matching
from sqlanon.methods.slicing.method import SlicingMethod
from sqlanon.methods.slicing.options import Options, is_matched, sizes
from sqlanon.methods.slicing.tables import ColumnRegions, coded_columns, column_regions, require_names
from sqlanon.sql.build.names import relation
from sqlanon.sql.cells.cells import CodedColumn, codes, decoded_cells


class SlicingOnSpark(SlicingMethod):
    """METHOD slicing for rows on Spark."""

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Requests ranks of the quasi-identifiers, and codes of the columns with requirements.

        Raises PolicyError for random buckets if `diversity` is 'matching'.
        """
        require_names(task.policy, by_number=False)
        if options.diversity == "matching" and options.grouping == "random":
            raise PolicyError(
                "slicing: diversity => 'matching' with grouping => 'random' compares each row with all buckets, so "
                "that it does not run with engine => 'spark'",
                hint="leave diversity out, or grouping",
                part=("method", "slicing", "diversity"),
            )
        return self._encoded(task, options, coded_columns(task, matched=is_matched(options)))

    def _contingency(self, task: Task, intervals: int) -> Correlations:
        """The phi2 of the published attributes, from the cells."""
        if len(task.policy.quasi_identifiers) > sizes().max_coded_attributes:
            raise PolicyError(
                f"slicing: on Spark phi2 is computed of at most {sizes().max_coded_attributes} quasi-identifiers",
                hint="name them after COLUMNS",
                part=("method", "slicing"),
            )
        cells, bounds = rows_of_cells(task)
        figures = mean_square_contingency(task.engine, task.temp, cells, bounds, intervals, "n")
        return replace(figures, names=tuple(bound.column for bound in task.policy.published))

    def _bucketed(
        self, task: Task, columns: Sequence[Sequence[str]], options: Options
    ) -> tuple[Bucketed, Matching | None]:
        if options.grouping == "random":
            return _by_draws(task, beside(task.policy, columns), options.bucket_size), None
        return super()._bucketed(task, columns, options)

    def _carried(self, task: Task) -> Sequence[BoundAttribute]:
        """Returns an empty sequence, because rows on Spark keep their columns without requirements."""
        return ()

    def _published_rows(self, task: Task, bucketed: Bucketed) -> Bucketed:
        return _with_values(task, bucketed) if bucketed.partition else bucketed

    def _numbers(self, task: Task, points: str) -> str:
        temp = task.temp
        with registered(task.engine, "random_draw") as draw:
            drawn = temp.rows("drawn_regions", feasibility.drawn_regions(points, draw))
        return temp.rows("numbers", numbered(temp, drawn, ["region", "rows"], "bucket"))

    def _column_regions(self, task: Task, columns: Sequence[Sequence[str]], k: int) -> dict[int, ColumnRegions]:
        return column_regions(task, columns, k, by_value=True)


def _with_values(task: Task, bucketed: Bucketed) -> Bucketed:
    """Replaces cells by rows of the source, if buckets are regions."""
    if bucketed.partition is None:
        raise InternalError("only rows in regions are found by their values")
    policy, temp = task.policy, task.temp
    regions = temp.table("region_map", region_map(policy, bucketed.partition))
    return Bucketed(temp.rows("points", feasibility.rows_in_regions(policy, regions)), single=True, by_value=True)


def _by_draws(task: Task, parts: Parts, size: int) -> Bucketed:
    """Makes slots of `size` rows by stored random numbers, and merges slots while one violates a requirement."""
    temp, policy = task.temp, task.policy
    with registered(task.engine, "random_draw") as draw:
        drawn = temp.rows("drawn_rows", feasibility.drawn_rows(policy, draw))
    names = [feasibility.value_name(index) for index in range(len(policy.published))]
    numbers, slots = numbered(temp, drawn, names, "number"), max(1, rows_in(task, drawn) // size)
    rows = temp.rows("rows_in_slots", feasibility.rows_in_slots(policy, numbers, slots))

    def violating(slots: str) -> exp.Query | None:
        in_slots = BucketedRows(policy, rows, slots, by_value=True)
        return violating_buckets(task, in_slots, parts) if task.requirements else None

    slots_of_regions = merged_slots(task, rows, violating)
    points = temp.rows("points", feasibility.rows_of_slots(policy, rows, slots_of_regions))
    return Bucketed(points, single=True, by_value=True)


def rows_of_cells(task: Task) -> tuple[exp.Table, list[BoundAttribute]]:
    """Makes a temporary table of the published attributes by cell, with the number of rows `n`.

    Returns the table, and the attributes bound to its columns, which are named by `value_name`.
    """
    policy, cells = task.policy, task.encoded
    quasi = {bound.column: index for index, bound in enumerate(policy.quasi_identifiers)}
    columns: dict[str, CodedColumn] = {}
    for index, bound in enumerate(policy.published):
        if bound.role is Role.QUASI_IDENTIFIER:
            at = quasi[bound.column]
            fields, values = cells.layout.fields[at], cells.ranked[at]
        else:
            at = cells.carried.index(bound.column)
            fields, values = (cells.layout.carried[at],), cells.carried_values[at]
        columns[value_name(index)] = CodedColumn(fields, codes(relation(values), fields), values)
    table = task.temp.table("decoded", decoded_cells(cells.table, columns, None, "n"))
    bounds = [
        replace(bound, column=value_name(index), type=bound.published_type)
        for index, bound in enumerate(policy.published)
    ]
    return relation(table), bounds
