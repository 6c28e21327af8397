"""Chooses the attributes of each column: the attributes that the user names, each attribute by itself, or attributes
that correlate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sqlanon.domain.policy import Role
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.arguments import arguments_of
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.correlation import Correlations, equal_ratings, mean_square_contingency
from sqlanon.methods.slicing.feasibility import beside, is_feasible
from sqlanon.methods.slicing.options import (
    DEFAULT_COLUMNS,
    DEFAULT_INTERVALS,
    Options,
    each_apart,
    named_columns,
    sizes,
)
from sqlanon.sql.build.names import relation

# Medoids, the attributes nearest to the others of their clusters, and PAM, a search for them.
#
# Kaufman and Rousseeuw, Finding Groups in Data (1990), chapter 2; Slicing (2012), section 4.1, clusters attributes in
# this way.


# Distances are added up as whole numbers of the 12th decimal, and compared to the 9th. So sums that are equal as
# fractions are equal here, such as three thirds and two halves.
_UNITS = 10**12
_COARSE = 1000

_Row = list[int]
_Distances = npt.NDArray[np.int64]
_Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clustering:
    """The medoids in ascending order, the members of each medoid's cluster, and the sum of all distances to the nearest
    medoid.

    `exhaustive` is true if all sets of medoids were examined, so none has a smaller sum.
    """

    medoids: tuple[int, ...]
    clusters: tuple[tuple[int, ...], ...]
    cost: float
    exhaustive: bool


def medoids(distances: Sequence[Sequence[float]], count: int) -> Clustering:
    """Finds the `count` items with the least sum of distances to the nearest of them, and their clusters.

    `distances` is a symmetric matrix with zeros on its diagonal. If several sums are equal, the set that comes first in
    the items' order is taken, and if several medoids are equally near, the first; a medoid is in its own cluster. There
    are never more medoids than items. If there are too many sets to examine, PAM finds one that no exchange of a medoid
    for another item improves.
    """
    rows = [[round(distance * _UNITS) for distance in row] for row in distances]
    count = min(count, len(rows))
    if count < 1:
        return Clustering((), (), 0.0, exhaustive=True)
    exhaustive = comb(len(rows), count) <= sizes().max_medoid_sets
    chosen = _best_set(rows, count) if exhaustive else _by_exchanges(rows, count)
    clusters: dict[int, list[int]] = {medoid: [] for medoid in chosen}
    for item in range(len(rows)):
        clusters[item if item in clusters else nearest(distances, item, chosen)].append(item)
    cost = sum(map(min, *(rows[medoid] for medoid in chosen))) if count > 1 else sum(rows[chosen[0]])
    return Clustering(chosen, tuple(map(tuple, clusters.values())), cost / _UNITS, exhaustive)


def nearest(distances: Sequence[Sequence[float]], item: int, among: Sequence[int]) -> int:
    """Returns the item in `among` with the least distance to `item`; if several are equally near, the first."""
    return min(among, key=lambda other: _rounded(round(distances[item][other] * _UNITS)))


def _rounded(total: int) -> int:
    return (total + _COARSE // 2) // _COARSE


def _by_exchanges(rows: Sequence[_Row], count: int) -> tuple[int, ...]:
    """Returns the medoids that PAM finds."""
    matrix = np.array(rows, dtype=np.int64)
    return _exchanged(matrix, _built(matrix, count))


def _best_set(rows: Sequence[_Row], count: int) -> tuple[int, ...]:
    """The set of `count` medoids with the least sum of distances; if several sums are equal, the first set in the order
    of the items.
    """

    def cost(members: tuple[int, ...]) -> int:
        return _cost(rows, members)

    return min(combinations(range(len(rows)), count), key=cost)


def _cost(rows: Sequence[_Row], members: Sequence[int]) -> int:
    """Returns the sum of the distances of all items to the nearest of `members`, rounded to whole units for
    comparisons.
    """
    first, *others = (rows[member] for member in members)
    return _rounded(sum(map(min, first, *others) if others else first))


def _built(rows: _Matrix, count: int) -> tuple[int, ...]:
    """PAM's first phase: adds one medoid after the other, each time the item that lowers the sum most."""
    members: list[int] = []
    reached: _Distances | None = None
    for _ in range(count):
        added, _ = _best_beside(rows, reached, members)
        members.append(added)
        reached = rows[added] if reached is None else np.minimum(reached, rows[added])
    return tuple(sorted(members))


def _best_beside(rows: _Matrix, reached: _Distances | None, members: Sequence[int]) -> tuple[int, int]:
    """Returns the nonmember whose addition gives the least sum of distances, and that sum, rounded.

    If several sums are equal, the first is taken. `reached` has the distances to the nearest of the medoids that stay.
    """
    sums = (rows if reached is None else np.minimum(rows, reached)).sum(axis=1)
    compared = (sums + _COARSE // 2) // _COARSE
    compared[list(members)] = np.iinfo(np.int64).max
    item = int(compared.argmin())
    return item, int(compared[item])


def _exchanged(rows: _Matrix, members: tuple[int, ...]) -> tuple[int, ...]:
    """PAM's second phase: exchanges a medoid for another item while an exchange lowers the sum, each time by the
    exchange that lowers it most.
    """
    cost = _rounded(int(rows[list(members)].min(axis=0).sum()))
    while len(members) < len(rows):
        best, best_cost = members, cost
        for leaving in members:
            others = [member for member in members if member != leaving]
            reached = rows[others].min(axis=0) if others else None
            item, reached_cost = _best_beside(rows, reached, members)
            if reached_cost < best_cost:
                best, best_cost = tuple(sorted([*others, item])), reached_cost
        if best_cost == cost:
            break
        members, cost = best, best_cost
    return members


# The columns of a slicing, found by correlation (Slicing 2012, section 4.1).
#
# In the paper the cluster with the sensitive attribute becomes its column, even if diversity fails. Here an attribute
# joins the sensitive column only if the requirements can then still be met.


INFEASIBLE = "with it in the sensitive column the whole table as one bucket does not meet the requirements"
# The number of digits to which correlations are compared.
_DIGITS = 9

Feasible = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True)
class FoundColumns:
    """Columns of attributes, the figures of their clustering, and the attributes left out of the sensitive column.

    `columns` have their attributes in the policy's order; they are in the order of their first attributes, the
    sensitive column last. `left_out` has the attributes that should have joined the sensitive column, each with the
    reason why it did not. `cost` is the sum of distances to the medoids before attributes were left out, and
    `exhaustive` is true if all sets of medoids were examined.
    """

    columns: tuple[tuple[str, ...], ...]
    left_out: tuple[tuple[str, str], ...]
    medoids: tuple[str, ...]
    cost: float
    exhaustive: bool
    correlations: Correlations


def found_columns(
    correlations: Correlations,
    sensitive: Sequence[str],
    others: Sequence[str],
    columns: int,
    sensitive_attributes: int | None,
    feasible: Feasible,
) -> FoundColumns:
    """Returns at most `columns` columns of the attributes; one more if only the sensitive column would remain.

    All `sensitive` attributes are in the last column. If `sensitive_attributes` is given, the last column also gets
    that number minus one of the other attributes, namely the `feasible` attributes of greatest correlation, and the
    rest is clustered. Otherwise all attributes are clustered; an attribute in a cluster with a sensitive attribute
    joins the last column if that is `feasible`, otherwise the nearest medoid of another column. `feasible` returns
    whether the whole table as one bucket meets the requirements with the given attributes, in the policy's order, in
    the sensitive column.
    """
    names = [name for name in correlations.names if name in {*sensitive, *others}]
    if not sensitive or sensitive_attributes is None:
        return _clustered(correlations, names, sensitive, columns, feasible)
    candidates = [name for name in names if name not in sensitive]
    joined, refused = _accepted(correlations, sensitive, candidates, sensitive_attributes - 1, feasible)
    rest = [name for name in candidates if name not in joined]
    clustering = medoids(correlations.distances(rest), max(1, columns - 1))
    clusters = [[rest[index] for index in cluster] for cluster in clustering.clusters]
    return _result(correlations, clusters, [*sensitive, *joined], refused, rest, clustering)


def correlation_with(correlations: Correlations, sensitive: Sequence[str], name: str) -> float:
    """Returns the greatest measure of correlation of an attribute with any of the sensitive attributes."""
    return max(correlations.between(name, other) for other in sensitive)


def _clustered(
    correlations: Correlations, names: Sequence[str], sensitive: Sequence[str], columns: int, feasible: Feasible
) -> FoundColumns:
    """Clusters all attributes; clusters with a sensitive attribute are united, as far as that is feasible."""
    distances = correlations.distances(names)
    clustering = medoids(distances, columns)
    clusters = {
        medoid: [names[index] for index in cluster]
        for medoid, cluster in zip(clustering.medoids, clustering.clusters, strict=True)
    }
    united = [medoid for medoid, cluster in clusters.items() if not {*sensitive}.isdisjoint(cluster)]
    together = [name for medoid in united for name in clusters.pop(medoid)]
    candidates = [name for name in together if name not in sensitive]
    joined, refused = _accepted(correlations, sensitive, candidates, len(candidates), feasible)
    remaining = tuple(clusters)
    for name in refused:
        # If every attribute was in a cluster with a sensitive one, the refused attributes form a column together.
        at = nearest(distances, names.index(name), remaining) if remaining else -1
        clusters.setdefault(at, []).append(name)
    return _result(correlations, [*clusters.values()], [*sensitive, *joined], refused, names, clustering)


def _accepted(
    correlations: Correlations, sensitive: Sequence[str], candidates: Sequence[str], most: int, feasible: Feasible
) -> tuple[list[str], list[str]]:
    """Returns at most `most` candidates by descending correlation, and the infeasible candidates that were found before
    the last of these.
    """
    order = sorted(candidates, key=lambda name: -round(correlation_with(correlations, sensitive, name), _DIGITS))
    joined: list[str] = []
    refused: list[str] = []
    for name in order:
        if len(joined) >= most:
            break
        together = {*joined, name}
        if feasible(tuple(other for other in correlations.names if other in together)):
            joined.append(name)
        else:
            refused.append(name)
    return joined, refused


def _result(
    correlations: Correlations,
    clusters: Sequence[Sequence[str]],
    last: Sequence[str],
    refused: Sequence[str],
    names: Sequence[str],
    clustering: Clustering,
) -> FoundColumns:
    position = {name: index for index, name in enumerate(correlations.names)}
    ordered = sorted((sorted(cluster, key=position.__getitem__) for cluster in clusters), key=lambda c: position[c[0]])
    columns = [*ordered, sorted(last, key=position.__getitem__)] if last else ordered
    return FoundColumns(
        columns=tuple(map(tuple, columns)),
        left_out=tuple((name, INFEASIBLE) for name in refused),
        medoids=tuple(names[index] for index in clustering.medoids),
        cost=clustering.cost,
        exhaustive=clustering.exhaustive,
        correlations=correlations,
    )


Columns = tuple[tuple[str, ...], ...]
Reasons = tuple[tuple[str, str], ...]
Contingency = Callable[[Task, int], Correlations]


def choose_columns(task: Task, options: Options, contingency: Contingency) -> tuple[Columns, Reasons]:
    """Chooses the columns; returns the sets of attributes, and rows of (item, detail) that explain them.

    `contingency` computes phi2 of the published attributes, with numbers cut into the given number of intervals. Raises
    PolicyError for COLUMNS that do not fit the policy, and for COLUMNS with arguments about finding columns.
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
    """Computes the correlations of the attributes. Raises PolicyError for ratings without PIVOT, and for too many
    attributes.
    """
    policy, published = task.policy, task.policy.published
    if options.similarity == "equal_ratings":
        if policy.long_table is None:
            raise PolicyError(
                f"slicing: similarity => 'equal_ratings' is about ratings, and {policy.policy} has no PIVOT",
                hint="write CREATE POLICY ... ON ratings PIVOT item VALUES rating (...), or leave similarity out",
                part=("method", "slicing", "similarity"),
            )
        return equal_ratings(task.engine, task.temp, policy.long_table, published)
    if len(published) > sizes().max_phi2_attributes:
        raise PolicyError(
            f"slicing: phi2 is computed of every two of at most {sizes().max_phi2_attributes} attributes, and "
            f"{policy.policy} publishes {len(published)}",
            hint="write similarity => 'equal_ratings'" if policy.long_table else "name them after COLUMNS",
            part=("method", "slicing"),
        )
    return contingency(task, options.intervals or DEFAULT_INTERVALS)


def contingency_of_source(task: Task, intervals: int) -> Correlations:
    """The phi2 of the published attributes, from the rows of the source."""
    source = relation(task.policy.relation)
    return mean_square_contingency(task.engine, task.temp, source, task.policy.published, intervals)


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
    """Yields rows of (item, detail) with the correlation of each pair of attributes, a row for each attribute except
    the last.
    """
    names = correlations.names
    for index, name in enumerate(names[:-1]):
        pairs = (f"{other} {correlations.between(name, other):.4f}" for other in names[index + 1 :])
        yield f"correlation of {name}", ", ".join(pairs)
