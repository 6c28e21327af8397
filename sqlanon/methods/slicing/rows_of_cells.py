"""The cells in place of the source, which lies on another engine: what correlates is seen in either."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.source_rows import value_name
from sqlanon.sql.build.names import relation
from sqlanon.sql.cells.cells import codes
from sqlanon.sql.cells.decoded_cells import CodedColumn, decoded_cells


def rows_of_cells(task: Task) -> tuple[exp.Table, list[BoundAttribute]]:
    """A temporary table of the published attributes by cell, with its rows in `n`, and the attributes as it has them.

    Its columns are called `value_name`, whatever those of the source are; the attributes have these names.
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
    table = task.scratch.table("decoded", decoded_cells(cells.table, columns, None, "n"))
    bounds = [
        replace(bound, column=value_name(index), type=bound.published_type)
        for index, bound in enumerate(policy.published)
    ]
    return relation(table), bounds
