"""CHECK without REQUIRE: what a table comes to under every model, and how easily its respondents are found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine
from sqlanon.pipeline.check import measured
from sqlanon.questions.ask import BoundRequirement
from sqlanon.questions.every_model import figure_name
from sqlanon.sqlgen.build.sql_files import query_file
from sqlanon.sqlgen.build.steps import Step, with_steps
from sqlanon.sqlgen.classes.normal_relations import Background, relations_of
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["figures"]


def figures(
    engine: Engine, requirements: Sequence[BoundRequirement], rows: Rows, background: Background
) -> tuple[Measurement, ...]:
    """The risks of linkage, then the figure of each requirement's model; nothing is required, nothing satisfied."""
    risks: list[tuple[str, tuple[str, ...]]] = [
        ("linkage_risk", ("classes", "rows", "unique_rows", "prosecutor_risk", "marketer_risk"))
    ]
    if background.public_class is not None:
        risks.append(("journalist_risk", ("journalist_risk", "journalist_risk_mean")))
    steps = relations_of(rows, [r for r in requirements if not r.attributes], background)
    linkage = [
        Measurement(name, None, None, None if value is None else float(value), None)
        for file, names in risks
        for name, value in zip(names, _row(engine, file, steps), strict=True)
    ]
    models = [
        replace(measurement, question=figure_name(requirement.question), required=None, satisfied=None)
        for requirement, measurement in zip(requirements, measured(engine, requirements, rows, background), strict=True)
    ]
    return (*linkage, *models)


def _row(engine: Engine, file: str, steps: Sequence[Step]) -> tuple[Any, ...]:
    """The one row of a file's query over the normal relations."""
    query = query_file("statements", file)
    assert isinstance(query, exp.Select)
    return engine.rows(with_steps(query, steps))[0]
