"""Encode and solve of METHOD mondrian with nearly distinct rows, against one grouping of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sqlanon
from benchmarks import databases, plan
from benchmarks.cases.solve import BASELINE as COUNTED
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED, DISTINCT, Dataset
from benchmarks.figure import MARKED_FROM, Figure, ratio
from benchmarks.measure import Sample, paired
from benchmarks.stages import StageTimes, timed_choice
from sqlanon.methods.shared.partition.region_labels import Partition

__all__ = ["MODEL_RUNS", "SIZES", "run"]

SIZES, _QUICK_SIZES = (100_000, 1_000_000), (100_000,)
MODEL_RUNS = 3

_K, _K_ALONE = "k_anonymity(k => 10)", "k = 10 alone"
_MODELS = {"l = 3": "l_diversity(l => 3)", "t = 0.2": "t_closeness(t => 0.2)"}
_MODEL_MARK = 3.0
# The marks, each from a number of rows on.
_MARKS = ((10_000_000, 12.0), (MARKED_FROM, 8.0))
_MATERIALIZED = "CREATE TEMP TABLE AS ... GROUP BY of all columns"

_PLANNED = databases.planned("mondrian")
_STAGES = ("encode", "solve")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        context.note(f"mondrian, {rows:,} rows")
        with databases.working_copy(DISTINCT, context.file(DISTINCT, rows)) as connection:
            yield from _alone(connection, rows, context.runs_at(rows))
        context.note(f"mondrian with l-diversity and t-closeness, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            yield from _with_models(connection, rows, context.runs or MODEL_RUNS)


class _Runs:
    """Dry runs with the same requirements, and the result of the last one."""

    def __init__(self, connection: sqlanon.Connection, dataset: Dataset, *requirements: str) -> None:
        self._connection = connection
        self._dataset = dataset
        self._requirements = ", ".join(requirements)
        self._times = StageTimes()
        self._found: Partition | None = None

    def seconds(self) -> float:
        """Returns the seconds of the two stages."""
        self._declare()
        self._times, found = timed_choice(self._connection, _PLANNED)
        assert isinstance(found, Partition)
        self._found = found
        return sum(self._times.seconds[stage] for stage in _STAGES)

    def stages(self) -> dict[str, float]:
        return {**self._times.seconds, "total": self._times.total}

    def explained(self, figure: Figure, samples: dict[str, Sample]) -> Figure:
        found = self._found
        assert found is not None
        return figure.with_details(
            stages=samples,
            queries=self._times.queries,
            found={
                "regions": found.count,
                "smallest": found.smallest,
                "largest": found.largest,
                "attempts": found.attempts,
                "loss": float(found.loss),
            },
            operators=self._operators,
            note=f"{found.count:,} regions of {found.smallest:,} to {found.largest:,} rows; "
            f"{found.attempts} attempts; loss {float(found.loss):.4f}",
        )

    def _declare(self) -> None:
        sensitive = [self._dataset.sensitive] if self._dataset.sensitive else []
        databases.declare(
            self._connection, self._dataset, self._dataset.columns, sensitive, self._requirements, hierarchies=False
        )

    def _operators(self) -> plan.Operators:
        self._declare()
        return plan.of_statement(self._connection, _PLANNED, _STAGES)


def _alone(connection: sqlanon.Connection, rows: int, runs: int) -> Iterator[Figure]:
    own = _Runs(connection, DISTINCT, _K)

    def subject() -> dict[str, float]:
        counted = databases.grouped(connection, DISTINCT)
        return {"both": own.seconds(), **own.stages(), "counted": counted}

    samples = paired(lambda: databases.materialized(connection, DISTINCT), subject, runs)
    both, counted = samples.pop("both"), samples.pop("counted")
    mark = next((mark for least, mark in _MARKS if rows >= least), None)
    yield own.explained(ratio("mondrian", "encode + solve, k = 10", rows, both, _MATERIALIZED, mark), samples)
    # Without seconds: they are in the figure above, which has the slope.
    over_counted = ratio("mondrian", f"the same over {COUNTED}", rows, Sample(both.measured, counted.measured), COUNTED)
    yield replace(over_counted, seconds=None)


def _with_models(connection: sqlanon.Connection, rows: int, runs: int) -> Iterator[Figure]:
    alone = _Runs(connection, DIAGNOSED, _K)
    others = {called: _Runs(connection, DIAGNOSED, _K, model) for called, model in _MODELS.items()}

    def subject() -> dict[str, float]:
        taken: dict[str, float] = {}
        for called, own in others.items():
            taken[called] = own.seconds()
            taken |= {f"{called}: {stage}": seconds for stage, seconds in own.stages().items()}
        return taken

    samples = paired(alone.seconds, subject, runs)
    for called, own in others.items():
        figure = ratio("mondrian", f"encode + solve, k = 10, {called}", rows, samples[called], _K_ALONE, _MODEL_MARK)
        yield own.explained(figure, {stage: samples[f"{called}: {stage}"] for stage in own.stages()})
