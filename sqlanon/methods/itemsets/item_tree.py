"""The items that occur and the nodes above them, as codes in the order of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

ROOT_LABEL = "*"


@dataclass(frozen=True)
class LeafRow:
    """An item that occurs: its label, how many lists have it, and its labels at the levels from 1 to below `*`."""

    label: str | None
    lists: int
    labels: tuple[str | None, ...]


@dataclass(frozen=True)
class Node:
    """An item, or a label that stands for several.

    `above` is the code of the next node that stands for more items, `leaves` how many of the items that occur lie
    below, and `occurrences` how often they do. `level` is the lowest of the hierarchy at which it stands for these
    items: 0 is an item's.
    """

    label: str | None
    above: int | None
    leaves: int
    occurrences: int
    is_item: bool
    level: int


@dataclass(frozen=True)
class ItemTree:
    """The nodes by their codes, which are in the order of labels, and the code of each item.

    A cut is a set of codes with just one on the way of each item to the root.
    """

    nodes: tuple[Node, ...]
    items: tuple[int, ...]

    def path(self, code: int) -> Iterator[int]:
        """The node and those above it, the root last."""
        above: int | None = code
        while above is not None:
            yield above
            above = self.nodes[above].above

    def at_level(self, level: int) -> dict[int, int]:
        """The node by which each item is shown where all are shown at one level."""
        return {
            code: [above for above in self.path(code) if self.nodes[above].level <= level][-1] for code in self.items
        }

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """The nodes right below each node that has some."""
        below: dict[int, list[int]] = {}
        for code, node in enumerate(self.nodes):
            if node.above is not None:
                below.setdefault(node.above, []).append(code)
        return {code: tuple(codes) for code, codes in below.items()}

    @property
    def occurrences(self) -> int:
        """How often items occur in lists."""
        return sum(self.nodes[code].occurrences for code in self.items)

    def cost(self, code: int) -> int:
        """What it costs to show a node in number of the items below it, as a whole number; 0 for an item."""
        node = self.nodes[code]
        return 0 if node.is_item else node.occurrences * node.leaves

    def loss(self, cut: Iterable[int]) -> Fraction:
        """The NCP of a cut (Terrovitis, Mamoulis and Kalnis 2008): the mean over occurrences of items."""
        whole = self.occurrences * len(self.items)
        return Fraction(sum(map(self.cost, cut)), whole) if whole else Fraction(0)


def item_tree(rows: Sequence[LeafRow]) -> ItemTree:
    """The tree of the items. Of nodes that stand for the same items there is the lowest one only."""
    keys = [_keys(row) for row in rows]
    below = Counter(key for path in keys for key in path)
    occurrences: Counter[tuple[str | None, ...]] = Counter()
    for row, path in zip(rows, keys, strict=True):
        occurrences.update(dict.fromkeys(path, row.lists))
    paths = [list(_widening(path, below)) for path in keys]
    height = len(rows[0].labels) + 1 if rows else 0
    # An item is known by its number, a node by its labels from its level up: nodes may share a label.
    known: list[int | tuple[str | None, ...]] = [*range(len(rows))]
    known += dict.fromkeys(key for path in paths for key in path)
    known.sort(key=lambda key: _in_order(_label(key, rows), key))
    codes = {key: code for code, key in enumerate(known)}
    above = _parents(paths, codes)
    return ItemTree(
        tuple(
            Node(rows[key].label, above.get(key), 1, rows[key].lists, True, 0)
            if isinstance(key, int)
            else Node(_label(key, rows), above.get(key), below[key], occurrences[key], False, height - len(key))
            for key in known
        ),
        tuple(codes[number] for number in range(len(rows))),
    )


def _parents(
    paths: Sequence[Sequence[tuple[str | None, ...]]], codes: Mapping[int | tuple[str | None, ...], int]
) -> dict[int | tuple[str | None, ...], int]:
    """The code of the node above each item, by its number, and above each node but the root."""
    above: dict[int | tuple[str | None, ...], int] = {}
    for number, path in enumerate(paths):
        known: list[int | tuple[str | None, ...]] = [number, *path]
        above |= {lower: codes[upper] for lower, upper in pairwise(known)}
    return above


def _keys(row: LeafRow) -> list[tuple[str | None, ...]]:
    """What the nodes above an item are known by: their labels from their level up; the root by none."""
    return [row.labels[level:] for level in range(len(row.labels) + 1)]


def _widening(
    path: Iterable[tuple[str | None, ...]], below: Counter[tuple[str | None, ...]]
) -> Iterator[tuple[str | None, ...]]:
    """The nodes of a path that stand for more items than the one before."""
    before = 1
    for key in path:
        if below[key] > before:
            before = below[key]
            yield key


def _label(key: int | tuple[str | None, ...], rows: Sequence[LeafRow]) -> str | None:
    if isinstance(key, int):
        return rows[key].label
    return key[0] if key else ROOT_LABEL


def _in_order(label: str | None, key: int | tuple[str | None, ...]) -> tuple[object, ...]:
    """By label, NULL last; of equal labels items first, then nodes by the labels above them."""
    if isinstance(key, int):
        return label is None, label or "", 0, key, ()
    return label is None, label or "", 1, len(key), tuple((part is None, part or "") for part in key)
