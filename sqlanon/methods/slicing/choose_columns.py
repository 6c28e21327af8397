"""Which attributes stand together: those that the user names, each by itself, or what correlation finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.domain.policy import Role
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.arguments import arguments_of
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.columns import FoundColumns, found_columns
from sqlanon.methods.slicing.correlation import Correlations, mean_square_contingency
from sqlanon.methods.slicing.feasibility import beside, is_feasible
from sqlanon.methods.slicing.named_columns import each_apart, named_columns
from sqlanon.methods.slicing.options import DEFAULT_COLUMNS, DEFAULT_INTERVALS, Options
from sqlanon.methods.slicing.similarity import equal_ratings
from sqlanon.methods.slicing.sizes import sizes
from sqlanon.sql.build.names import relation

Columns = tuple[tuple[str, ...], ...]
Reasons = tuple[tuple[str, str], ...]
Contingency = Callable[[Task, int], Correlations]


def choose_columns(task: Task, options: Options, contingency: Contingency) -> tuple[Columns, Reasons]:
    """The sets of attributes, and rows of (item, detail) that say how they were found.

    `contingency` computes phi2 of the published attributes, of which numbers are cut into so many intervals.
    Raises PolicyError for COLUMNS that do not fit the policy, and beside arguments that say how columns are found.
    """
    if task.columns or task.each_apart:
        _require_no_arguments(options)
        return (each_apart(task.policy) if task.each_apart else named_columns(task.policy, task.columns)), ()
    policy = task.policy
    sensitive = [bound.column for bound in policy.published if bound.role is Role.SENSITIVE]
    others = [bound.column for bound in policy.published if bound.role is not Role.SENSITIVE]
    about_values = [index for index, requirement in enumerate(task.requirements) if requirement.attributes]

    def feasible(names: tuple[str, ...]) -> bool:
        return is_feasible(task, beside(policy, [[*names, *sensitive]]), about_values)

    correlations = _correlations(task, options, contingency)
    columns = options.columns or DEFAULT_COLUMNS
    if columns > len(policy.published) and options.columns:
        raise PolicyError(
            f"slicing: columns => {columns} is more than the attributes that {policy.policy} publishes, "
            f"{len(policy.published)}",
            hint="write COLUMNS EACH, which makes a column of each",
            part=("method", "slicing", "columns"),
        )
    clustered = found_columns(correlations, sensitive, others, columns, options.sensitive_attributes, feasible)
    return clustered.columns, tuple(_reasons(clustered))


def _correlations(task: Task, options: Options, contingency: Contingency) -> Correlations:
    """How alike the attributes are. Raises PolicyError where the policy has no ratings, or too many attributes."""
    policy, published = task.policy, task.policy.published
    if options.similarity == "equal_ratings":
        if policy.long_table is None:
            raise PolicyError(
                f"slicing: similarity => 'equal_ratings' is about ratings, and {policy.policy} has no PIVOT",
                hint="write CREATE POLICY ... ON ratings PIVOT item VALUES rating (...), or leave similarity out",
                part=("method", "slicing", "similarity"),
            )
        return equal_ratings(task.engine, task.scratch, policy.long_table, published)
    if len(published) > sizes().max_phi2_attributes:
        raise PolicyError(
            f"slicing: phi2 is computed of every two of at most {sizes().max_phi2_attributes} attributes, and "
            f"{policy.policy} publishes {len(published)}",
            hint="write similarity => 'equal_ratings'" if policy.long_table else "name them after COLUMNS",
            part=("method", "slicing"),
        )
    return contingency(task, options.intervals or DEFAULT_INTERVALS)


def contingency_of_source(task: Task, intervals: int) -> Correlations:
    """Phi2 of the published attributes, from the rows of the source."""
    source = relation(task.policy.relation)
    return mean_square_contingency(task.engine, task.scratch, source, task.policy.published, intervals)


def _require_no_arguments(options: Options) -> None:
    for name, known in arguments_of(Options).items():
        if known.finds_columns and getattr(options, name) is not None:
            raise PolicyError(
                f"slicing: {name} is about columns that are found, and COLUMNS names them",
                hint=f"leave {name} out, or COLUMNS",
                part=("method", "slicing", name),
            )


def _reasons(clustered: FoundColumns) -> Iterator[tuple[str, str]]:
    looked = "all sets of medoids" if clustered.exhaustive else "medoids by exchanges (PAM)"
    around = f"around {', '.join(clustered.medoids)}; " if clustered.medoids else ""
    distances = f"the distances, 1 - {clustered.correlations.measure}, add up to {clustered.cost:.4f}"
    yield "columns found", f"{around}{distances}; looked at {looked}"
    for name, reason in clustered.left_out:
        yield "not beside the sensitive attribute", f"{name}: {reason}"
    if len(clustered.correlations.names) <= sizes().max_matrix_attributes:
        yield from _matrix(clustered.correlations)


def _matrix(correlations: Correlations) -> Iterator[tuple[str, str]]:
    """How alike every two attributes are, a row for each attribute but the last."""
    names = correlations.names
    for index, name in enumerate(names[:-1]):
        pairs = (f"{other} {correlations.between(name, other):.4f}" for other in names[index + 1 :])
        yield f"correlation of {name}", ", ".join(pairs)
