"""Case `default_method`: the method that a statement without METHOD chooses, against each competing method alone.

The error is measured on 1,000 counts that the comparison did not use. The case needs the extra `roles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.measure import seconds
from benchmarks.survey_data import SURVEYS, Survey
from sqlanon.domain.release import Contender
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.registry import competing
from sqlanon.methods.shared.arguments import called
from sqlanon.release.pipeline import compare
from sqlanon.release.pipeline.compare import compare_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested

__all__ = ["run"]

# Limits: the default's error over the best method's error, and its time over the slowest method's time.
_WORST_ERROR, _WORST_TIME = 1.2, 1.5
_QUERIES, _SEED = 1000, 7


def run(context: Context) -> Iterator[Figure]:
    calls = [called(method.name, dict(arguments)) for method, each in competing() for arguments in each]
    for survey in SURVEYS:
        context.note(f"default_method: {survey.name}")
        yield from _survey(survey, calls, context.runs or 3)


def _survey(survey: Survey, calls: Sequence[str], runs: int) -> Iterator[Figure]:
    people = survey.rows().convert_dtypes()
    connection = sqlanon.connect()
    connection.register("frame", people)
    connection.execute("CREATE TABLE people AS FROM frame")
    connection.execute(f"{survey.hierarchies}; CREATE POLICY survey ON people {survey.policy}".lstrip("; "))
    times = {call: _time(connection, f" METHOD {call}" if call else "", runs) for call in [*calls, ""]}
    chosen = next(contender for contender in _compared(connection) if contender.why is not None)
    name = called(chosen.call.name, dict(chosen.call.arguments))
    errors = {
        called(contender.call.name, dict(contender.call.arguments)): contender.error
        for contender in _compared(connection, queries=_QUERIES, seed=_SEED)
        if contender.error is not None
    }
    rows = len(people)
    for call, error in errors.items():
        share = 100 * error
        yield Figure(
            "default_method",
            f"{survey.name}, {call}, error",
            share,
            "%",
            share,
            share,
            rows=rows,
            seconds=times.get(call),
        )
    best = min(errors, key=lambda call: errors[call])
    ratio = errors[name] / errors[best] if errors[best] else 1.0
    yield Figure(
        "default_method",
        f"{survey.name}, default ({name}), error",
        ratio,
        "x",
        ratio,
        ratio,
        rows=rows,
        baseline=best,
        mark=_WORST_ERROR,
    )
    slowest = max((call for call in calls if times[call] is not None), key=lambda call: times[call] or 0)
    slower = (times[""] or 0) / (times[slowest] or 1)
    yield Figure(
        "default_method",
        f"{survey.name}, default, time",
        slower,
        "x",
        slower,
        slower,
        rows=rows,
        seconds=times[""],
        baseline=slowest,
        baseline_seconds=times[slowest],
        mark=_WORST_TIME,
    )


def _time(connection: Any, method: str, runs: int) -> float | None:
    """Returns the median seconds of a release; None if nothing can be published."""
    statement = f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY survey{method}"
    try:
        return median(seconds(lambda: connection.execute(statement)) for _ in range(runs))
    except PrivacyViolation:
        return None


def _compared(connection: Any, queries: int = 100, seed: int = compare.SEED) -> tuple[Contender, ...]:
    """Returns the figures of each method; with a seed, on other queries than the choice used."""
    engine = DuckDBEngine(connection.duckdb)
    request = ReleaseRequest("table", QualifiedName(("compared",)), "survey")
    with engine.transaction(), TempTables(engine) as temp, compare.sizes.replaced(queries=queries, seed=seed):
        bound = bind_stage(resolve_stage(Requested(engine, request, temp)))
        comparison = compare_stage(bound).bound.comparison
    assert comparison is not None
    return comparison.contenders
