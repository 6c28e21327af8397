"""CHECK without REQUIRE: what a table comes to under every model, and how easily its respondents are found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.pipeline.check import measured
from sqlanon.questions.ask import BoundRequirement
from sqlanon.questions.every_model import figure_name
from sqlanon.questions.statistics import bind_statistic, load_statistic
from sqlanon.releases.statistics import statistics_of
from sqlanon.sqlgen.classes.normal_relations import Background
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["check_figures"]

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
