"""Full-domain generalization by enumerating every node of the lattice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tests.oracles.granularity_loss import Taxonomy, granularity_loss
from tests.oracles.k_anonymity import violating_rows

Node = tuple[int, ...]


@dataclass(frozen=True)
class Optimum:
    """The best node, its exact loss, and the places of the rows that it suppresses."""

    node: Node
    loss: Fraction
    suppressed: frozenset[int]


def nodes(low: Sequence[int], high: Sequence[int]) -> list[Node]:
    """Returns every node, sorted by its levels."""
    return list(product(*(range(least, most + 1) for least, most in zip(low, high, strict=True))))


def recoded(row: Sequence[Hashable], taxonomies: Sequence[Taxonomy], node: Node) -> tuple[Hashable, ...]:
    return tuple(tax.label(value, level) for value, tax, level in zip(row, taxonomies, node, strict=True))


def optimum(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    k: int,
    *,
    low: Sequence[int],
    high: Sequence[int],
    suppression: Fraction = Fraction(0),
    weights: Sequence[Fraction] | None = None,
    entities: Sequence[Hashable] | None = None,
) -> Optimum | None:
    """Returns the k-anonymous node of least loss, then least height, then first by levels; None if there is none."""
    found = []
    for node in nodes(low, high):
        keys = [recoded(row, taxonomies, node) for row in rows]
        out = violating_rows(keys, k, entities)
        if len(out) <= suppression * len(rows):
            loss = granularity_loss(rows, taxonomies, node, out, weights)
            found.append((loss, sum(node), node, frozenset(out)))
    if not found:
        return None
    loss, _, node, suppressed = min(found, key=lambda rank: rank[:3])
    return Optimum(node, loss, suppressed)


def best_node(
    low: Node, high: Node, limit: int, suppressed: Callable[[Node], int], loss: Callable[[Node], int]
) -> tuple[int, int, Node] | None:
    """Returns (loss, height, node) of the best node for any function of suppressed rows and of loss; None if none is
    feasible.
    """
    feasible = [(loss(node), sum(node), node) for node in nodes(low, high) if suppressed(node) <= limit]
    return min(feasible, default=None)
