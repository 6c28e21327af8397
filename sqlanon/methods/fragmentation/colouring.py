"""Units coloured so that no colour has all of a constraint: the search behind fragments.

Attributes are bits. A unit is what lies in one fragment; a colour is a fragment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# With at most this many units, every colouring that could be better is examined.
EXACT_UNITS = 16


@dataclass(frozen=True)
class Colouring:
    """The union of each colour's units. None has fewer than `least` colours; if `proven`, this is the best one."""

    classes: tuple[int, ...]
    least: int
    proven: bool


def coloured(required: Sequence[int], optional: Sequence[int], constraints: Sequence[int]) -> Colouring:
    """Colours all required units with few colours, then as many of the optional ones as these colours hold.

    Each unit by itself satisfies every constraint. Without a required unit one colour is
    for the optional ones.
    """
    graph = _Conflicts(constraints)
    # Units in many conflicts come first: they leave least choice to those behind them.
    needed = sorted(required, key=graph.degree, reverse=True)
    others = sorted(optional, key=graph.degree)
    least = len(graph.clique(needed)) or min(1, len(others))
    first = _greedy(needed, constraints)
    if not first and others:
        first = [0]
    classes = _added(first, others, constraints)
    if len(first) == least and _size(classes) == _size([*needed, *others]):
        return Colouring(tuple(classes), least, proven=True)
    if len(needed) + len(others) > EXACT_UNITS:
        return Colouring(tuple(classes), least, proven=False)
    while least < len(first) and not _Search(needed, (), constraints, least).best:
        least += 1
    start = classes if least == len(first) else ()
    best = _Search(needed, others, constraints, least, start).best
    return Colouring(tuple(best), least, proven=True)


class _Conflicts:
    """Which units cannot have one colour, of two of them."""

    def __init__(self, constraints: Sequence[int]) -> None:
        self._constraints = constraints

    def degree(self, unit: int) -> int:
        return sum(1 for constraint in self._constraints if unit & constraint)

    def clique(self, units: Sequence[int]) -> list[int]:
        """Units of which each two are in conflict: each needs a colour of its own."""
        largest: list[int] = []
        for start in units:
            clique = [start]
            for unit in units:
                if all(self._between(unit, other) for other in clique):
                    clique.append(unit)
            largest = max(largest, clique, key=len)
        return largest

    def _between(self, unit: int, other: int) -> bool:
        return unit != other and not _allowed(unit | other, self._constraints)


def _allowed(mask: int, constraints: Sequence[int]) -> bool:
    return not any(mask & constraint == constraint for constraint in constraints)


def _greedy(units: Sequence[int], constraints: Sequence[int]) -> list[int]:
    """Each unit in the first colour that holds it, or in a new one."""
    classes: list[int] = []
    for unit in units:
        index = next((i for i, colour in enumerate(classes) if _allowed(colour | unit, constraints)), None)
        if index is None:
            classes.append(unit)
        else:
            classes[index] |= unit
    return classes


def _added(classes: Sequence[int], units: Sequence[int], constraints: Sequence[int]) -> list[int]:
    """The colours with those units, each in the first that holds it; others stay without a colour."""
    extended = list(classes)
    for unit in units:
        index = next((i for i, colour in enumerate(extended) if _allowed(colour | unit, constraints)), None)
        if index is not None:
            extended[index] |= unit
    return extended


def _size(classes: Sequence[int]) -> int:
    return sum(mask.bit_count() for mask in classes)


class _Search:
    """Branch and bound over the colours of each unit, with a limited number of colours.

    `best` has the colours that hold all required and the most optional units; it is
    empty if the required ones do not fit. `start` is a colouring to be improved on.
    """

    def __init__(
        self,
        required: Sequence[int],
        optional: Sequence[int],
        constraints: Sequence[int],
        colours: int,
        start: Sequence[int] = (),
    ) -> None:
        self._units = (*required, *optional)
        self._needed = len(required)
        self._constraints = constraints
        self._colours = colours
        self._all = _size(self._units)
        self.best = list(start)
        self._most = _size(start) if start else -1
        self._extend([], 0, 0)

    def _extend(self, classes: list[int], index: int, left_out: int) -> None:
        if self._all - left_out <= self._most:
            return  # Whatever follows, as many are left out already.
        if index == len(self._units):
            self.best, self._most = list(classes), self._all - left_out
            return
        unit = self._units[index]
        for i, colour in enumerate(classes):
            if _allowed(colour | unit, self._constraints):
                classes[i] = colour | unit
                self._extend(classes, index + 1, left_out)
                classes[i] = colour
        # New colours are alike, so one of them is tried.
        if len(classes) < self._colours:
            classes.append(unit)
            self._extend(classes, index + 1, left_out)
            classes.pop()
        if index >= self._needed:
            self._extend(classes, index + 1, left_out + unit.bit_count())
