"""MEASURE release WITH TASK: what can be learned from a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.measure_figures import remember
from sqlanon.assess.tasks.arguments import TaskArguments
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.sources.related_tables import require_one_table

Task = Callable[[Engine, Release, TaskArguments], Sequence[tuple[str, float | None]]]


def _ratings(engine: Engine, release: Release, arguments: TaskArguments) -> Sequence[tuple[str, float | None]]:
    # NumPy is imported by who needs it: it takes as long as all of sqlanon.
    from sqlanon.assess.tasks.ratings import ratings_task

    return ratings_task(engine, release, arguments)


def _learning(engine: Engine, release: Release, arguments: TaskArguments) -> Sequence[tuple[str, float | None]]:
    from sqlanon.assess.tasks.learning import learning_task

    return learning_task(engine, release, arguments)


# The kinds of tasks, by what the argument `kind` calls them.
TASKS: Mapping[str, Task] = {"learning": _learning, "ratings": _ratings}


def measure_task(engine: Engine, release: Release, arguments: Sequence[tuple[str, Value]]) -> list[ClassFigure]:
    """The figures of a task, which `anon.release_figure` then has.

    Raises UserError for arguments that the task does not take, and PolicyError for a release that it cannot learn from.
    """
    require_one_table(policy_of(release), "MEASURE", "a task is learned from its rows")
    taken = TaskArguments(arguments)
    kind = "learning" if taken.has("target") and not taken.has("kind") else taken.choice("kind", tuple(TASKS))
    figures = TASKS[kind](engine, release, taken)
    measured = [ClassFigure(name, None, value) for name, value in figures]
    with engine.transaction():
        remember(engine, release, measured)
    return measured
