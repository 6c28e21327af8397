"""Shows how much the figures of Table 3 of The Cost of Privacy (2008) depend on the rule by which regions are cut.

The paper used an implementation of Mondrian by information gain and does not say which cuts it tries. A naive Mondrian
over all values of (age, sex, race) here cuts by each of several rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.papers.printed import groups
from benchmarks.papers.statements import cell, table

__all__ = ["lines"]

Counts = NDArray[np.int64]
# Decides by the counts of its sensitive values whether a region may be published.
Requirement = Callable[[Counts], bool]

TARGETS = ("marital_status", "salary_class")
# Which cuts are tried: all of each attribute, each attribute's best, or the best of all.
TRIED = ("all", "best of each", "best")
# How race is cut: between values in alphabetical order, in two sets, or into all its values at once.
RACES = ("order", "sets", "values")


def lines(connection: sqlanon.Connection, requirements: Collection[str]) -> Iterator[str]:
    """Yields a table: for each requirement and figure the printed value, and the least and greatest by the rules."""
    heads = ("requirement", "A_acc printed", "least", "greatest", "A_know printed", "least", "greatest")
    yield from table(heads, _rows(connection, requirements))


def _rows(connection: sqlanon.Connection, requirements: Collection[str]) -> Iterator[Sequence[str]]:
    cells = Cells(connection)
    told = {figure.name: figure.printed for group in groups("cost") for figure in group.figures}
    for name in requirements:
        rule = cells.requirement(name)
        if not rule(cells.sensitive.sum(0)):
            continue
        figures = [cells.figures(cells.regions(rule, *way)) for way in product(TARGETS, TRIED, RACES)]
        columns = [
            (told[f"{name}, {figure}"], cell(min(values)), cell(max(values)))
            for figure, values in zip(("A_acc", "A_know"), zip(*figures, strict=True), strict=True)
        ]
        yield (name, *columns[0], *columns[1])


class Cells:
    """The rows of Adult by the quasi-identifiers age, sex and race: of each combination the counts of occupations."""

    def __init__(self, connection: sqlanon.Connection) -> None:
        names = ("age", "sex", "race", "occupation", *TARGETS)
        ranks = ", ".join(f"dense_rank() OVER (ORDER BY {name}) - 1" for name in names)
        rows = np.array(connection.duckdb.execute(f"SELECT {ranks} FROM people").fetchall())
        self.values, place = np.unique(rows[:, :3], axis=0, return_inverse=True)
        self.sensitive = self._counts(place, rows[:, 3])
        self.targets = {name: self._counts(place, rows[:, 4 + i]) for i, name in enumerate(TARGETS)}
        self.whole = self.sensitive.sum(0) / len(rows)

    def _counts(self, place: Counts, codes: Counts) -> Counts:
        counts = np.zeros((len(self.values), codes.max() + 1), np.int64)
        np.add.at(counts, (place, codes), 1)
        return counts

    def requirement(self, name: str) -> Requirement:
        """Returns the requirement with this name in Table 3, such as `t=.4`."""
        model, _, number = name.partition("=")
        limit = float(number)
        return {
            "k": lambda counts: counts.sum() >= limit,
            "l": lambda counts: counts.max() < 3 * np.sort(counts)[::-1][int(limit) - 1 :].sum(),
            "t": lambda counts: self._distance(counts) <= limit + 1e-12,
            "delta": lambda counts: (
                bool((counts > 0).all()) and bool((np.abs(np.log(counts / counts.sum() / self.whole)) < limit).all())
            ),
        }[model]

    def _distance(self, counts: Counts) -> float:
        return float(np.abs(counts / counts.sum() - self.whole).sum() / 2)

    def figures(self, regions: Sequence[Counts]) -> tuple[float, float]:
        """Returns A_acc and A_know of regions, each given by the indexes of its combinations."""
        counts = [self.sensitive[region].sum(0) for region in regions]
        rows = self.sensitive.sum()
        right = sum(int(each.max()) for each in counts) / rows - self.whole.max()
        return float(right), float(sum(self._distance(each) * each.sum() for each in counts) / rows)

    def regions(self, satisfied: Requirement, target: str, tried: str, races: str) -> list[Counts]:
        """Returns the regions that no tried cut divides into parts that all satisfy the requirement."""
        finished, left = [], [np.arange(len(self.values))]
        while left:
            region = left.pop()
            for parts in self._cuts(region, target, tried, races):
                if all(satisfied(self.sensitive[part].sum(0)) for part in parts):
                    left += parts
                    break
            else:
                finished.append(region)
        return finished

    def _cuts(self, region: Counts, target: str, tried: str, races: str) -> list[list[Counts]]:
        """Returns the cuts of a region that are tried, those first that tell most about the target."""
        counts = self.targets[target]
        found = []
        for attribute in range(3):
            values = self.values[region, attribute]
            ways = _sides(np.unique(values), races if attribute == 2 else "order")
            cuts = [[region[np.isin(values, side)] for side in way] for way in ways]
            scored = [(sum(_information(counts[part].sum(0)) for part in parts), parts) for parts in cuts]
            scored.sort(key=lambda each: each[0])
            found += scored if tried == "all" else scored[:1]
        found.sort(key=lambda each: each[0])
        return [parts for _, parts in (found[:1] if tried == "best" else found)]


def _sides(values: Counts, races: str) -> Iterator[list[Counts]]:
    """Yields the ways to divide values: each is a list of sets of values."""
    if len(values) < 2:
        return
    if races == "values":
        yield [values[i : i + 1] for i in range(len(values))]
    elif races == "order":
        yield from ([values[:i], values[i:]] for i in range(1, len(values)))
    else:
        for size in range(len(values) - 1):
            for others in combinations(values[1:], size):
                side = np.array([values[0], *others])
                yield [side, np.setdiff1d(values, side)]


def _information(counts: Counts) -> float:
    """Returns the bits that tell the values of all rows with these counts."""
    present = counts[counts > 0]
    return float(-(present * np.log2(present / present.sum())).sum())
