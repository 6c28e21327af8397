"""Finds all minimal tables of Adult in a lattice of full-domain generalizations, and those prone to similarity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import log

import numpy as np
from numpy.typing import NDArray

import sqlanon

__all__ = ["Lattice", "Node", "entropy", "inferred", "recursive"]

Counts = NDArray[np.int64]
# The level of each attribute.
Node = tuple[int, ...]
# Decides by the occupations of each class (a row for each) whether a table may be published.
Requirement = Callable[[Counts], bool]

_WIDTHS = (5, 10, 20, 40)


class Lattice:
    """The combinations of quasi-identifiers in a relation, with the counts of occupations of each.

    `without` has the levels that an attribute's hierarchy lacks here.
    """

    def __init__(
        self,
        connection: sqlanon.Connection,
        attributes: Sequence[str],
        relation: str = "people",
        without: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        names = ", ".join(attributes)
        rows = connection.duckdb.execute(f"SELECT {names}, occupation FROM {relation}").fetchall()
        self.occupations = sorted({row[-1] for row in rows})
        code = {value: position for position, value in enumerate(self.occupations)}
        cells = {cell: position for position, cell in enumerate(sorted({row[:-1] for row in rows}))}
        self.counts = np.zeros((len(cells), len(code)), np.int64)
        np.add.at(self.counts, ([cells[row[:-1]] for row in rows], [code[row[-1]] for row in rows]), 1)
        self.levels: list[list[Counts]] = []
        for position, name in enumerate(attributes):
            every = _levels(connection, name, [cell[position] for cell in cells])
            left_out = (without or {}).get(name, ())
            self.levels.append([codes for level, codes in enumerate(every) if level not in left_out])

    def columns(self, groups: Iterable[Collection[str]]) -> list[list[int]]:
        """Returns the columns of counts of each group of occupations."""
        return [[self.occupations.index(value) for value in group if value in self.occupations] for group in groups]

    def classes(self, node: Node) -> Counts:
        """Returns the counts of occupations in each class of the table with these levels."""
        key = np.zeros(len(self.counts), np.int64)
        for codes, level in zip(self.levels, node, strict=True):
            key = key * (codes[level].max() + 1) + codes[level]
        _, place = np.unique(key, return_inverse=True)
        counts = np.zeros((place.max() + 1, self.counts.shape[1]), np.int64)
        np.add.at(counts, place, self.counts)
        return counts

    def minimal(self, satisfied: Requirement) -> Iterator[Node]:
        """Yields the levels of each minimal table: it satisfies the requirement, and no table with lower levels does.

        The requirement has to be one that a coarser table satisfies if a finer one does.
        """
        found: list[Node] = []
        nodes = product(*(range(len(levels)) for levels in self.levels))
        for node in sorted(nodes, key=lambda levels: (sum(levels), levels)):
            below = any(all(low <= level for low, level in zip(other, node, strict=True)) for other in found)
            if not below and satisfied(self.classes(node)):
                found.append(node)
                yield node


def _levels(connection: sqlanon.Connection, name: str, values: Sequence[str | int]) -> list[Counts]:
    """Returns for each level the codes of the labels of these values, from the values themselves to `*`."""
    found: list[Sequence[object]] = [values]
    if name == "age":
        found += [[int(value) // width for value in values] for width in _WIDTHS]
    else:
        query = "SELECT level, value, label FROM anon.hierarchy_value WHERE hierarchy = ? ORDER BY level, value"
        labels: dict[int, dict[str, str]] = {}
        for level, value, label in connection.duckdb.execute(query, [f"adult_{name}"]).fetchall():
            labels.setdefault(level, {})[value] = label
        found += [[labels[level][str(value)] for value in values] for level in sorted(labels) if level]
    codes = [np.unique(np.array(labels_), return_inverse=True)[1].astype(np.int64) for labels_ in found]
    return codes if not codes[-1].any() else [*codes, np.zeros(len(values), np.int64)]


def entropy(l: float) -> Requirement:  # noqa: E741 - the paper's name
    """Returns entropy l-diversity."""

    def satisfied(counts: Counts) -> bool:
        shares = counts / counts.sum(axis=1, keepdims=True)
        terms = shares * np.log(np.where(shares > 0, shares, 1))
        return bool(-terms.sum(axis=1).max() >= log(l) - 1e-12)

    return satisfied


def recursive(c: float, l: int) -> Requirement:  # noqa: E741
    """Returns recursive (c, l)-diversity."""

    def satisfied(counts: Counts) -> bool:
        ranked = np.sort(counts, axis=1)[:, ::-1]
        return bool((ranked[:, 0] < c * ranked[:, l - 1 :].sum(axis=1)).all())

    return satisfied


def inferred(counts: Counts, groups: Sequence[list[int]]) -> int:
    """Returns the number of rows in classes whose occupations are all in one of these groups of columns."""
    sizes = counts.sum(axis=1)
    return sum(int(sizes[counts[:, group].sum(axis=1) == sizes].sum()) for group in groups)
