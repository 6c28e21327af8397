"""The columns of a slicing, found by correlation (Slicing 2012, section 4.1).

In the paper the cluster with the sensitive attribute becomes its column, whatever that does to diversity. Here an
attribute joins the sensitive column only where the requirements can then still be met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlanon.methods.slicing.correlation import Correlations
from sqlanon.methods.slicing.medoids import Clustering, medoids, nearest

INFEASIBLE = "with it in the sensitive column the whole table as one bucket does not meet the requirements"
# Correlations that are equal to so many digits are taken for equal.
_DIGITS = 9

Feasible = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True)
class FoundColumns:
    """Columns of attributes, how they were found, and what could not be in the sensitive one.

    `columns` have their attributes in the policy's order; they are in the order of their first attributes, the
    sensitive column last. `left_out` has the attributes that were to join the sensitive column, each with the reason
    why it did not. `cost` is the sum of distances to the medoids, before attributes were left out, and `exhaustive`
    whether all sets of medoids were looked at.
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
    """At most `columns` columns of the attributes; one more where nothing but the sensitive column is there to go to.

    All `sensitive` attributes are in the last column. With `sensitive_attributes` so many less one of the others stand
    with them, those that correlate most among those that are `feasible`, and the rest is clustered. Without it all
    attributes are clustered, and what is in a cluster with a sensitive attribute stands with them if it is `feasible`;
    else it goes to the nearest medoid of another column. `feasible` tells of some of the other attributes, in the
    policy's order, whether the whole table as one bucket meets the requirements with them in the sensitive column.
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
    """How much an attribute has to do with the sensitive ones: the greatest phi2 with one of them."""
    return max(correlations.between(name, other) for other in sensitive)


def _clustered(
    correlations: Correlations, names: Sequence[str], sensitive: Sequence[str], columns: int, feasible: Feasible
) -> FoundColumns:
    """Clusters of all attributes; those with a sensitive one are united, as far as that is feasible."""
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
        # Where every attribute stood with the sensitive ones, those that cannot make a column together.
        at = nearest(distances, names.index(name), remaining) if remaining else -1
        clusters.setdefault(at, []).append(name)
    return _result(correlations, [*clusters.values()], [*sensitive, *joined], refused, names, clustering)


def _accepted(
    correlations: Correlations, sensitive: Sequence[str], candidates: Sequence[str], most: int, feasible: Feasible
) -> tuple[list[str], list[str]]:
    """At most so many of the candidates, by descending correlation, and those before the last that are not feasible."""
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
