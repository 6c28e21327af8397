"""The minimality attack, by enumerating every world and every node (Wong, Fu, Wang and Pei 2007)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

from tests.oracles.granularity_loss import Taxonomy, granularity_loss
from tests.oracles.lattice import Node, nodes, recoded

__all__ = ["Satisfied", "beliefs", "dealt"]

# Whether a table with these values in each class satisfies the requirement.
Satisfied = Callable[[Sequence[Sequence[Hashable]]], bool]


def beliefs(
    rows: Sequence[Sequence[Hashable]],
    values: Sequence[Hashable],
    taxonomies: Sequence[Taxonomy],
    published: Node,
    high: Node,
    satisfied: Satisfied,
) -> list[dict[Hashable, Fraction]]:
    """Returns the probability of each value for each row, over the worlds in which every less lossy node violates."""
    lattice = nodes((0,) * len(high), high)
    losses = {node: granularity_loss(rows, taxonomies, node) for node in lattice}
    less = [node for node in lattice if losses[node] < losses[published]]
    counts: list[Counter[Hashable]] = [Counter() for _ in rows]
    for world in dealt(rows, values, taxonomies, published):
        if not any(satisfied(_classes(rows, world, taxonomies, node)) for node in less):
            for count, value in zip(counts, world, strict=True):
                count[value] += 1
    return [{value: Fraction(n, count.total()) for value, n in count.items()} for count in counts]


def dealt(
    rows: Sequence[Sequence[Hashable]], values: Sequence[Hashable], taxonomies: Sequence[Taxonomy], published: Node
) -> Iterator[tuple[Hashable, ...]]:
    """Yields each distinct way to assign the values of each published class to its rows."""
    members: defaultdict[Hashable, list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        members[recoded(row, taxonomies, published)].append(position)
    ways = [sorted(set(permutations([values[i] for i in positions])), key=str) for positions in members.values()]
    for choice in product(*ways):
        world = list(values)
        for positions, chosen in zip(members.values(), choice, strict=True):
            for position, value in zip(positions, chosen, strict=True):
                world[position] = value
        yield tuple(world)


def _classes(
    rows: Sequence[Sequence[Hashable]], world: Sequence[Hashable], taxonomies: Sequence[Taxonomy], node: Node
) -> list[list[Hashable]]:
    classes: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
    for row, value in zip(rows, world, strict=True):
        classes[recoded(row, taxonomies, node)].append(value)
    return list(classes.values())
