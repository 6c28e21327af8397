"""Loose associations of rows on Spark, which have stored random numbers in place of row numbers."""

from __future__ import annotations

from functools import partial

from sqlanon.engines.udfs import registered
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.fragmentation.association.associate import Association, Grouping
from sqlanon.methods.fragmentation.association.associate_drawn import associate_drawn
from sqlanon.methods.fragmentation.association.drawn_rows_sql import drawn_rows
from sqlanon.methods.fragmentation.association.grid_proof import are_grids_by_groups
from sqlanon.methods.fragmentation.loose import LooseMethod, Options, best_of_draws, promised_sizes
from sqlanon.methods.fragmentation.tables import values_of
from sqlanon.methods.fragmentation.verify import loosely_associated
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.names import relation


class LooseOnSpark(LooseMethod):
    """METHOD loose for rows on Spark."""

    _HAS_VALUES = True

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Counts the policy's sets that the tables keep, and measures their looseness without relying on an order of
        rows.
        """
        return loosely_associated(published, promised_sizes(options), are_grids_by_groups)

    def _association(self, task: Task, grouping: Grouping, rows: int, most: int) -> tuple[Association, str]:
        policy, temp = task.policy, task.temp
        columns = [name for fragment in grouping.fragments for name in fragment]
        with registered(task.engine, "random_draw") as draw:
            source = relation(policy.relation, as_="source")
            drawn = temp.rows("drawn_rows", drawn_rows(values_of(policy, columns), source, draw))
            drawing = partial(associate_drawn, task.engine, drawn, rows, grouping, temp)
            return best_of_draws(drawing, rows, most), ""
