"""CHECK of a relation: its rows, and without REQUIRE what they come to under every model.

How easily respondents are found again is among these figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.counted_rows import counted_table, number_column
from sqlanon.pipeline.check import measured
from sqlanon.questions.ask import BoundRequirement
from sqlanon.questions.every_model import figure_name
from sqlanon.questions.statistics import bind_statistic, load_statistic
from sqlanon.releases.classes import rows_with_keys
from sqlanon.releases.statistics import statistics_of
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.cells.labels import published_value
from sqlanon.sqlgen.classes.normal_relations import Background
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["check_figures", "checked_columns", "checked_rows"]

# ROWS is a keyword of SQL.
_NAMES = {"row_count": "rows"}


def check_figures(
    engine: Engine, requirements: Sequence[BoundRequirement], rows: Rows, background: Background, scratch: Scratch
) -> tuple[Measurement, ...]:
    """The risks of linkage, then the figure of each requirement's model; nothing is required, nothing satisfied."""
    names = ["linkage_risk"] if background.public_class is None else ["linkage_risk", "journalist_risk"]
    risks = [bind_statistic(load_statistic("figures", name), {}) for name in names]
    linkage = [
        Measurement(_NAMES.get(name, name), None, None, None if value is None else float(value), None)
        for (row,) in statistics_of(engine, risks, rows, background, scratch)
        for name, value in row.items()
    ]
    models = [
        replace(measurement, question=figure_name(requirement.question), required=None, satisfied=None)
        for requirement, measurement in zip(requirements, measured(engine, requirements, rows, background), strict=True)
    ]
    return (*linkage, *models)


def checked_columns(bound: BoundPolicy) -> exp.Subquery:
    """The rows in the types in which a release would show them: an ENUM's values are compared as texts."""
    columns = [alias(published_value(b), b.column) for b in bound.attributes]
    others = [column(name) for name in bound.guarding]
    return exp.select(*columns, *others).from_(relation(bound.relation)).subquery("checked")


def checked_rows(engine: Engine, bound: BoundPolicy, scratch: Scratch) -> Callable[[Sequence[str]], Rows]:
    """What makes rows of `checked_columns` that are in the classes of some columns.

    Where they lie on another engine, equal ones are counted there, unless these are more than may be collected.
    """
    rows: exp.Table | exp.Subquery = checked_columns(bound)
    weight: exp.Column | None = None
    if engine.distributed:
        names = [*(b.column for b in bound.attributes), *bound.guarding]
        number = number_column(names)
        with suppress(TooManyRows):
            rows = relation(counted_table(rows, list(dict.fromkeys(names)), number, scratch))
            weight = column(number)
    guards = {name: name for name in bound.guarding}
    return lambda keys: replace(rows_with_keys(bound, rows.copy(), keys, guards), weight=weight)
