"""Measures the distance of rows in one quasi-identifier, and computes the label of a class in it.

For numbers and times without a hierarchy, the label is the range. For other values, it is the lowest node of the
hierarchy above all of them or, without a hierarchy, the value or '*'. NULL is a separate value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.republication.streams.columns import Columns
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    big,
    case,
    if_,
    infix,
    real,
)
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.sql_files import filled, filled_select
from sqlanon.sql.cells.value_ranks import as_double

_ALL = "*"


class Axis(Protocol):
    """One quasi-identifier: its expressions in the steps of `sql/streams/leave.sql` and in the labels of classes.

    In these steps, the tables are called `w` (a waiting row), `o` (the oldest row), `c` (a row that may leave with the
    oldest row), `s` (the spans of these rows), `b` (the bounds of the class), `m` (a member with its values and codes)
    and `l` (a label).
    """

    @property
    def bound(self) -> BoundAttribute:
        """The attribute with its column."""

    @property
    def code_names(self) -> tuple[str, ...]:
        """The names of the columns with a row's codes."""

    @property
    def text_names(self) -> tuple[str, ...]:
        """The names of the columns with the labels above a row's value."""

    def candidate(self) -> list[exp.Expr]:
        """Returns the columns of a row in the step `candidate`, besides the columns of the oldest row."""

    def span(self) -> list[exp.Expr]:
        """Returns the columns of the step `span`: on an axis of numbers, the greatest minus the least value of all
        candidate rows.
        """

    def distance(self) -> exp.Expr:
        """Returns the distance of a candidate from the oldest row, from 0 to 1."""

    def bounds(self) -> list[exp.Expr]:
        """Returns the columns of the step `bounds` for a class."""

    def formed(self) -> exp.Expr:
        """The SQL condition that a class with these bounds can be published."""

    def inside(self) -> exp.Expr:
        """The SQL condition that a candidate lies within the bounds of the class."""

    def label(self) -> list[exp.Expr]:
        """Returns the columns of a class's label: its text, and the bounds of the values that it covers."""

    def covers(self) -> exp.Expr:
        """The SQL condition that the label `l` covers the row `m`."""

    def spans(self) -> list[exp.Expr]:
        """Returns the columns of the label `l` by which it is compared with other labels."""

    def width(self) -> exp.Expr:
        """Returns the width of the label `l`, from 0 to 1."""


def axes_of(columns: Columns) -> tuple[Axis, ...]:
    """Returns the axes of the quasi-identifiers, in the policy's order."""
    quasi = columns.policy.quasi_identifiers
    return tuple(_axis(index, bound, columns.value(bound)) for index, bound in enumerate(quasi))


def _axis(index: int, bound: BoundAttribute, value: str) -> Axis:
    if bound.hierarchy is None and as_double(bound) is not None:
        return Ranges(index, bound, value)
    return Nodes(index, bound, value)


def label_name(index: int) -> str:
    return f"label_{index}"


def code_of_level(index: int, level: int) -> str:
    """Returns the name of the column that has the numbers of the values' ancestors at a level; level 0 is the value
    itself.
    """
    return f"code_{index}_{level}"


_RANGE_DISTANCE = """
    CASE
        WHEN {c.code} IS NULL AND {c.start} IS NULL THEN CAST(0 AS DOUBLE)
        WHEN {c.code} IS NULL OR {c.start} IS NULL THEN CAST(1 AS DOUBLE)
        ELSE coalesce(abs({c.code} - {c.start}) / nullif({s.span}, 0), 0)
    END
"""
_RANGE_BOUNDS = """
    SELECT
        min({c.code}) AS "{low}",
        max({c.code}) AS "{high}",
        count({c.code}) > 0 AND count({c.code}) < count(*) AS "{mixed}"
"""
_RANGE_INSIDE = "({b.mixed} OR {c.code} BETWEEN {b.low} AND {b.high} OR ({c.code} IS NULL AND {b.low} IS NULL))"
# A class with NULL and other values, or with an infinite value and others.
_RANGE_GENERAL = """
    (count({m.value}) > 0 AND count({m.value}) < count(*))
    OR (count({m.code}) < count(*) AND min({m.value}) IS DISTINCT FROM max({m.value}))
"""
# '*' reveals nothing about its values.
_RANGE_LABEL = """
    SELECT
        CASE
            WHEN $general THEN '*'
            WHEN min({m.value}) IS NOT DISTINCT FROM max({m.value}) THEN CAST(min({m.value}) AS VARCHAR)
            ELSE '[' || CAST(min({m.value}) AS VARCHAR) || ', ' || CAST(max({m.value}) AS VARCHAR) || ']'
        END AS "{label}",
        CASE WHEN NOT $general THEN min({m.value}) END AS "{low}",
        CASE WHEN NOT $general THEN max({m.value}) END AS "{high}",
        $general AS "{general}"
"""
_RANGE_COVERS = """
    ({l.general} OR {m.value} IS NOT DISTINCT FROM {l.low} OR {m.value} BETWEEN {l.low} AND {l.high})
"""
_RANGE_SPANS = """
    SELECT
        code_of({l.high}) - code_of({l.low}) AS "{width}",
        max(code_of({l.high})) OVER (
            ORDER BY l.class_no ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
        - min(code_of({l.low})) OVER (
            ORDER BY l.class_no ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS "{span}"
"""
_RANGE_WIDTH = "CASE WHEN {l.general} THEN CAST(1 AS DOUBLE) ELSE coalesce({l.width} / nullif({s.span}, 0), 0) END"


@dataclass(frozen=True)
class Ranges:
    """Axis of numbers and times. The label of a class consists of its smallest and its largest value.

    The code of NULL, NaN and infinity is NULL; a class with both such values and other values shows '*'.
    """

    index: int
    bound: BoundAttribute
    value: str

    @property
    def code_names(self) -> tuple[str, ...]:
        return (self._names["code"],)

    @property
    def text_names(self) -> tuple[str, ...]:
        return ()

    @property
    def _names(self) -> dict[str, str]:
        """The names of this axis's columns, by their names in the texts below."""
        parts = ("code", "start", "span", "low", "high", "mixed", "general", "width", "label")
        return {part: f"{part}_{self.index}" for part in parts} | {"value": self.value}

    def candidate(self) -> list[exp.Expr]:
        return filled_select('SELECT {w.code}, {o.code} AS "{start}"', names=self._names).selects

    def span(self) -> list[exp.Expr]:
        return filled_select('SELECT max({c.code}) - min({c.code}) AS "{span}"', names=self._names).selects

    def distance(self) -> exp.Expr:
        return filled(_RANGE_DISTANCE, names=self._names)

    def bounds(self) -> list[exp.Expr]:
        return filled_select(_RANGE_BOUNDS, names=self._names).selects

    def formed(self) -> exp.Expr:
        return exp.true()

    def inside(self) -> exp.Expr:
        return filled(_RANGE_INSIDE, names=self._names)

    def label(self) -> list[exp.Expr]:
        return filled_select(_RANGE_LABEL, names=self._names, general=filled(_RANGE_GENERAL, names=self._names)).selects

    def covers(self) -> exp.Expr:
        return filled(_RANGE_COVERS, names=self._names)

    def spans(self) -> list[exp.Expr]:
        """Returns the width of the label `l`, and the width of the range that covers all labels up to it."""
        return filled_select(
            _RANGE_SPANS, names=self._names, calls={"code_of": partial(code_of_value, self.bound)}
        ).selects

    def width(self) -> exp.Expr:
        return filled(_RANGE_WIDTH, names=self._names)


def code_of_value(bound: BoundAttribute, value: exp.Expr) -> exp.Expr:
    """Converts a number or a time to DOUBLE; NULL for NULL, infinities and NaN."""
    number = as_double(bound)
    assert number is not None
    for node in list(number.find_all(exp.Column)):
        node.replace(value.copy())
    return if_(f.call("isfinite", number), number)


@dataclass(frozen=True)
class Nodes:
    """Axis of a hierarchy. The label of a class is the lowest node above all its values."""

    index: int
    bound: BoundAttribute
    value: str

    @property
    def code_names(self) -> tuple[str, ...]:
        return tuple(code_of_level(self.index, level) for level in range(self.bound.height))

    @property
    def text_names(self) -> tuple[str, ...]:
        return tuple(f"text_{self.index}_{level}" for level in range(1, self.bound.height))

    @property
    def _level(self) -> str:
        return f"level_of_{self.index}"

    def candidate(self) -> list[exp.Expr]:
        same = (
            (column(name, "w").eq(column(name, "o")), max(level, self.bound.min_level))
            for level, name in enumerate(self.code_names)
        )
        return [alias(case(*same, otherwise=self.bound.height), self._level)]

    def span(self) -> list[exp.Expr]:
        return []

    def distance(self) -> exp.Expr:
        return column(self._level, "c") / real(self.bound.height)

    def bounds(self) -> list[exp.Expr]:
        return [alias(f.max(column(self._level, "c")), self._level)]

    def formed(self) -> exp.Expr:
        return infix(column(self._level, "b"), "<=", self.bound.max_level)

    def inside(self) -> exp.Expr:
        return infix(column(self._level, "c"), "<=", column(self._level, "b"))

    def label(self) -> list[exp.Expr]:
        level = filled(
            "greatest(CASE WHEN min({m.codes}) = max({m.codes}) THEN $levels ELSE $height END, $least)",
            names={"codes": self.code_names},
            levels=list(range(self.bound.height)),
            height=self.bound.height,
            least=self.bound.min_level,
        )
        text = _at(level, [f.max(text) for text in self._texts("m")])
        return [alias(text, label_name(self.index)), alias(big(level), self._level)]

    def _texts(self, of: str) -> list[exp.Expr]:
        """Returns the labels of a row at each level below the top."""
        return [as_text(column(self.value, of)), *(column(name, of) for name in self.text_names)]

    def covers(self) -> exp.Expr:
        return filled(
            "({l.level} = $height OR $text IS NOT DISTINCT FROM {l.label})",
            names={"level": self._level, "label": label_name(self.index)},
            height=self.bound.height,
            text=_at(column(self._level, "l"), self._texts("m")),
        )

    def spans(self) -> list[exp.Expr]:
        return []

    def width(self) -> exp.Expr:
        return column(self._level, "l") / real(self.bound.height)


def _at(level: exp.Expr, texts: Sequence[exp.Expr]) -> exp.Expr:
    """Returns the label at a level; '*' at the top."""
    numbers = list(range(len(texts)))
    return filled(
        "CASE WHEN $level = $numbers THEN $texts ELSE '*' END", level=level, numbers=numbers, texts=list(texts)
    )
