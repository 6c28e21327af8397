"""A stream, row by row: when the oldest waiting row is due, it leaves with the nearest rows of other respondents.

Written from the rule (Zhou et al. 2009 for classes of different respondents, CASTLE, Cao et al. 2008, for the delay and
for labels that are used again), over lists of rows, without SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Number", "Row", "Tree", "simulate"]


@dataclass(frozen=True)
class Row:
    """A row of the stream; rows with equal respondents belong to one respondent, and `values` are its
    quasi-identifiers.
    """

    position: int
    arrived: Any
    respondent: Any
    values: tuple[Any, ...]


class Axis(Protocol):
    def distance(self, value: Any, start: Any, everybody: Sequence[Any]) -> float: ...

    def label(self, members: Sequence[Any]) -> Any: ...

    def allowed(self, label: Any) -> bool: ...

    def covers(self, label: Any, value: Any) -> bool: ...

    def width(self, label: Any, labels: Sequence[Any]) -> float: ...

    def text(self, label: Any) -> str | None: ...


class Number:
    """An axis of numbers. A label is (least, greatest); None for NULLs alone; '*' for NULL with numbers."""

    def distance(self, value: Any, start: Any, everybody: Sequence[Any]) -> float:
        if value is None or start is None:
            return 0.0 if value is start else 1.0
        known = [float(other) for other in everybody if other is not None]
        span = max(known) - min(known)
        return abs(float(value) - float(start)) / span if span else 0.0

    def label(self, members: Sequence[Any]) -> Any:
        known = [value for value in members if value is not None]
        if not known:
            return None
        return (min(known), max(known)) if len(known) == len(members) else "*"

    def allowed(self, label: Any) -> bool:
        return True

    def covers(self, label: Any, value: Any) -> bool:
        if label == "*":
            return True
        if label is None or value is None:
            return label is value
        return bool(label[0] <= value <= label[1])

    def width(self, label: Any, labels: Sequence[Any]) -> float:
        ends = [label for label in labels if isinstance(label, tuple)]
        if label == "*":
            return 1.0
        if label is None:
            return 0.0
        span = max(float(high) for _, high in ends) - min(float(low) for low, _ in ends)
        return (float(label[1]) - float(label[0])) / span if span else 0.0

    def text(self, label: Any) -> str | None:
        if not isinstance(label, tuple):
            return label
        return str(label[0]) if label[0] == label[1] else f"[{label[0]}, {label[1]}]"


@dataclass(frozen=True)
class Tree:
    """An axis of a hierarchy. A label is (level, text); `path` has a value's labels from the value to the last below
    the top.
    """

    path: Callable[[Any], tuple[Any, ...]]
    height: int
    least: int = 0
    most: int | None = None

    def _level(self, values: Sequence[Any]) -> int:
        paths = [self.path(value) for value in values]
        alike = [level for level in range(self.height) if all(path[level] == paths[0][level] for path in paths)]
        return max(alike[0] if alike else self.height, self.least)

    def distance(self, value: Any, start: Any, everybody: Sequence[Any]) -> float:
        return self._level([value, start]) / self.height

    def label(self, members: Sequence[Any]) -> Any:
        level = self._level(members)
        return level, "*" if level == self.height else self.path(members[0])[level]

    def allowed(self, label: Any) -> bool:
        return label[0] <= (self.height if self.most is None else self.most)

    def covers(self, label: Any, value: Any) -> bool:
        level, text = label
        return level == self.height or self.path(value)[level] == text

    def width(self, label: Any, labels: Sequence[Any]) -> float:
        return label[0] / self.height

    def text(self, label: Any) -> str | None:
        return label[1]


@dataclass
class Outcome:
    """Classes, each as (position of the due row, labels, members), rows under reused labels, and withheld rows."""

    classes: list[tuple[int, tuple[Any, ...], list[Row]]] = field(default_factory=list)
    reused: list[tuple[Row, tuple[Any, ...]]] = field(default_factory=list)
    withheld: list[Row] = field(default_factory=list)


def simulate(
    rows: Sequence[Row], k: int, delay: Any, axes: Sequence[Axis], *, reuse: bool = True, by_time: bool = False
) -> Outcome:
    """Publishes all rows; rows that wait at the end leave as well."""
    outcome, waiting = Outcome(), list[Row]()
    for row in rows:
        if by_time:
            while waiting and waiting[0].arrived + delay <= row.arrived:
                _leave(waiting, k, axes, reuse, outcome, lambda w, due: w.arrived < due.arrived + delay)
            waiting.append(row)
            continue
        waiting.append(row)
        while waiting and waiting[0].position + delay - 1 <= row.position:
            _leave(waiting, k, axes, reuse, outcome, lambda w, due: w.position < due.position + delay)
    while waiting:
        in_time = (
            (lambda w, due: w.arrived < due.arrived + delay)
            if by_time
            else (lambda w, due: w.position < due.position + delay)
        )
        _leave(waiting, k, axes, reuse, outcome, in_time)
    return outcome


def _leave(
    waiting: list[Row],
    k: int,
    axes: Sequence[Axis],
    reuse: bool,
    outcome: Outcome,
    in_time: Callable[[Row, Row], bool],
) -> None:
    due = waiting[0]
    candidates = [row for row in waiting if in_time(row, due)]
    columns = [[row.values[index] for row in candidates] for index in range(len(axes))]

    def distance(row: Row) -> float:
        total: float | None = None
        for axis, value, start, everybody in zip(axes, row.values, due.values, columns, strict=True):
            part = axis.distance(value, start, everybody)
            total = part if total is None else total + part
        assert total is not None
        return total

    nearest: dict[Any, tuple[float, int, Row]] = {}
    for row in candidates:
        if row.respondent != due.respondent:
            key = (distance(row), row.position, row)
            if row.respondent not in nearest or key[:2] < nearest[row.respondent][:2]:
                nearest[row.respondent] = key
    chosen = [row for _, _, row in sorted(nearest.values(), key=lambda key: key[:2])[: k - 1]]
    members = [due, *chosen]
    labels = tuple(axis.label([row.values[i] for row in members]) for i, axis in enumerate(axes))
    if len(members) == k and all(axis.allowed(label) for axis, label in zip(axes, labels, strict=True)):
        known = {row.respondent for row in members}
        for row in candidates:
            inside = all(axis.covers(label, v) for axis, label, v in zip(axes, labels, row.values, strict=True))
            if inside and row.respondent not in known:
                known.add(row.respondent)
                members.append(row)
        outcome.classes.append((due.position, labels, members))
        for row in members:
            waiting.remove(row)
        return
    waiting.remove(due)
    covering: list[tuple[float, int, tuple[Any, ...]]] = []
    if reuse:
        known_labels = [published for _, published, _ in outcome.classes]
        for number, published in enumerate(known_labels):
            if all(axis.covers(label, v) for axis, label, v in zip(axes, published, due.values, strict=True)):
                width = 0.0
                for index, axis in enumerate(axes):
                    part = axis.width(published[index], [label[index] for label in known_labels])
                    width = part if index == 0 else width + part
                covering.append((width, number, published))
    if covering:
        outcome.reused.append((due, min(covering, key=lambda each: each[:2])[2]))
    else:
        outcome.withheld.append(due)
