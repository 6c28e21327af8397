"""The utility loss over large populations, from the paper, over every combination of nodes and every row.

Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from math import log
from typing import Any

__all__ = ["Atom", "loss_by_population", "nodes_of", "population_loss"]

# A part of a row in a release: the probability of each value of each quasi-identifier, the sensitive value, and the
# number of rows that the part counts.
Atom = tuple[Sequence[Mapping[Hashable, float]], Hashable, float]
# The names of a node's levels from the value up, and the leaves below it.
Node = frozenset[Hashable]


def nodes_of(paths: Mapping[Hashable, Sequence[str]], *, each_level: bool) -> list[Node]:
    """Returns the nodes of a hierarchy, each as its leaves, from the labels above each leaf; the top is left out."""
    heights = {len(path) for path in paths.values()}
    assert len(heights) <= 1
    nodes: list[Node] = []
    for level in range(1 + max(heights, default=0)):
        by_path: dict[Any, set[Hashable]] = {}
        for leaf, path in paths.items():
            by_path.setdefault((leaf,) if level == 0 else tuple(path[level - 1 :]), set()).add(leaf)
        nodes += map(frozenset, by_path.values())
    if each_level:
        return nodes
    return [node for node in dict.fromkeys(nodes) if node != frozenset(paths)]


def loss_by_population(
    rows: Sequence[tuple[Hashable, ...]], nodes: Sequence[Sequence[Node]], atoms: Sequence[Atom], least: float
) -> list[float]:
    """Returns the divergence of each population with at least `least` rows; the last value of a row is sensitive."""
    losses: list[float] = []
    for population in product(*([*of_attribute, None] for of_attribute in nodes)):
        inside = [row for row in rows if all(n is None or v in n for v, n in zip(row, population, strict=False))]
        if all(node is None for node in population) or len(inside) < least:
            continue
        truth = _distribution((row[-1], 1.0) for row in inside)
        said = _distribution((value, weight * _share(parts, population)) for parts, value, weight in atoms)
        losses.append(_divergence(truth, said or _distribution((value, weight) for _, value, weight in atoms)))
    return losses


def population_loss(losses: Sequence[float]) -> float | None:
    """Returns the mean of the losses; None without a population."""
    return sum(losses) / len(losses) if losses else None


def _share(parts: Sequence[Mapping[Hashable, float]], population: Sequence[Node | None]) -> float:
    share = 1.0
    for weights, node in zip(parts, population, strict=True):
        if node is not None:
            share *= sum(w for leaf, w in weights.items() if leaf in node) / sum(weights.values())
    return share


def _distribution(counts: Iterator[tuple[Hashable, float]]) -> dict[Hashable, float]:
    sums: dict[Hashable, float] = {}
    for value, count in counts:
        sums[value] = sums.get(value, 0.0) + count
    total = sum(sums.values())
    return {value: count / total for value, count in sums.items()} if total else {}


def _divergence(p: Mapping[Hashable, float], q: Mapping[Hashable, float]) -> float:
    total = 0.0
    for value in {*p, *q}:
        middle = (p.get(value, 0.0) + q.get(value, 0.0)) / 2
        for share in (p.get(value, 0.0), q.get(value, 0.0)):
            total += share * log(share / middle) / 2 if share else 0.0
    return total
