"""MEASURE of all figures: three figures in sentences, and a line of explanation for each other figure.

Also measures the figures of MEASURE WITH TASK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlanon.assess.attack import attack_release
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.measure_figures import remember
from sqlanon.assess.tasks.arguments import TaskArguments
from sqlanon.assess.workloads.summary import typical_counts
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.numbers import counted, per_cent
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.domain.requests import AttackRequest
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError
from sqlanon.export.report.risks import meanings_of
from sqlanon.release.existing.classes import shows_people, tells_rows_apart
from sqlanon.sources.related_tables import require_one_table

# A figure's name, its attribute, its value, and its meaning.
Explained = tuple[str, str | None, float | None, str]

# The attack for the surest guess, and the figure with the size of the smallest class.
_GUESS = "homogeneity"
_SMALLEST = "least_class_size"
_ON_SPARK = "not known: the rows are on Spark"


def in_words(engine: Engine, release: Release, figures: Sequence[ClassFigure]) -> Iterator[Explained]:
    """Yields three figures with sentences: the size of the smallest class, the surest guess, and the error of a typical
    count.

    Yields nothing for a release of people who are not in classes. An undefined figure has the value None and a reason.
    """
    if shows_people(release):
        return
    yield _smallest_class(release, figures)
    yield _surest_guess(engine, release)
    yield _count_error(engine, release)


def explained(figures: Iterable[ClassFigure]) -> Iterator[Explained]:
    """Yields each figure with a line of explanation."""
    named = [(figure.name, figure.attribute, figure.value) for figure in figures]
    meanings = {name: meaning for names, meaning in meanings_of(name for name, *_ in named) for name in names}
    for name, attribute, value in named:
        yield name, attribute, value, meanings[name]


def _smallest_class(release: Release, figures: Sequence[ClassFigure]) -> Explained:
    """Describes the size of the smallest class in rows; respondents may have several rows."""
    name = "smallest_class"
    sizes = [figure.value for figure in figures if figure.name == _SMALLEST]
    if not sizes or sizes[0] is None:
        return name, None, None, "not known: the release has no classes of rows"
    rows = counted(round(sizes[0]), "row")
    if tells_rows_apart(release):
        whose = f"a reader who finds somebody's row has the sensitive values of {rows} or more, and not which is theirs"
        return name, None, sizes[0], whose
    entity = policy_of(release).entity
    several = "" if entity is None else f", of which {entity.name} may have several"
    return name, None, sizes[0], f"a reader who knows somebody's other columns is left with {rows} or more{several}"


def _surest_guess(engine: Engine, release: Release) -> Explained:
    """Describes the greatest share of a sensitive value in a class, among all sensitive columns."""
    name = "surest_guess"
    if not any(policy_of(release).all_having(Role.SENSITIVE)):
        return name, None, None, "not known: no column is sensitive"
    if not engine.reads_in_place:
        return name, None, None, _ON_SPARK
    try:
        answers = attack_release(engine, release, AttackRequest(_GUESS))
    except PolicyError as error:
        return name, None, None, f"not known: {error.message}"
    surest = max(answers, key=lambda answer: answer.highest or 0.0)
    if surest.highest is None or surest.mean is None:
        return name, surest.attribute, None, "not known: the release has no rows"
    return (
        name,
        surest.attribute,
        surest.highest,
        f"a reader who knows somebody's other columns guesses {surest.guessed} right with {per_cent(surest.highest)} "
        f"at most, with {per_cent(surest.mean)} in the mean",
    )


def _count_error(engine: Engine, release: Release) -> Explained:
    """Describes the median relative error of random counts."""
    name = "count_error"
    if not engine.reads_in_place:
        return name, None, None, f"{_ON_SPARK}; MEASURE ... WITH WORKLOAD asks counts there"
    try:
        counts = typical_counts(engine, release)
    except UserError as error:
        return name, None, None, f"not known: {error.message}"
    if counts.median is None:
        return name, None, None, f"not known: {counts.reason}"
    off = per_cent(counts.median) if counts.median <= 1 else f"{100 * counts.median:.0f} %"
    about = f"a count of rows by {counted(counts.columns, 'column')} is off by {off}"
    return name, None, counts.median, f"{about} in the median of {counts.compared} random counts{counts.left_out}"


# MEASURE release WITH TASK: the accuracy of models that learn from a release.


Task = Callable[[Engine, Release, TaskArguments], Sequence[tuple[str, float | None]]]


def _ratings(engine: Engine, release: Release, arguments: TaskArguments) -> Sequence[tuple[str, float | None]]:
    # NumPy is imported only here, because its import takes as long as that of sqlanon.
    from sqlanon.assess.tasks.ratings import ratings_task

    return ratings_task(engine, release, arguments)


def _learning(engine: Engine, release: Release, arguments: TaskArguments) -> Sequence[tuple[str, float | None]]:
    from sqlanon.assess.tasks.learning import learning_task

    return learning_task(engine, release, arguments)


# The kinds of tasks, by their names in the argument `kind`.
TASKS: Mapping[str, Task] = {"learning": _learning, "ratings": _ratings}


def measure_task(engine: Engine, release: Release, arguments: Sequence[tuple[str, Value]]) -> list[ClassFigure]:
    """Measures the figures of a task, and records them in `anon.release_figure`.

    Raises UserError for arguments that the task refuses, and PolicyError for a release from which the task cannot
    learn.
    """
    require_one_table(policy_of(release), "MEASURE", "a task is learned from its rows")
    taken = TaskArguments(arguments)
    kind = "learning" if taken.has("target") and not taken.has("kind") else taken.choice("kind", tuple(TASKS))
    figures = TASKS[kind](engine, release, taken)
    measured = [ClassFigure(name, None, value) for name, value in figures]
    with engine.transaction():
        remember(engine, release, measured)
    return measured
