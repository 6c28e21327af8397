"""Measures the distance of rows in one quasi-identifier, and computes the label of a class in it.

For numbers and times without a hierarchy, the label is the range. For other values, it is the lowest node of the
hierarchy above all of them or, without a hierarchy, the value or '*'. NULL is a separate value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.republication.streams.columns import Columns
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    big,
    cast,
    if_,
    real,
)
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.sql_files import filled, filled_select
from sqlanon.sql.cells.value_ranks import as_double

# The codes of candidate rows, an array for each column of codes.
Codes: TypeAlias = Sequence[NDArray[Any]]
Distances: TypeAlias = NDArray[np.float64]
Marks: TypeAlias = NDArray[np.bool_]


class Axis(Protocol):
    """One quasi-identifier: the distances of candidate rows from a due row, and expressions for labels of classes.

    In the expressions, the tables are called `m` (a member with its values and codes), `l` (a label) and `s` (the spans
    of labels). Candidates are given by their codes, and rows by their indices among the candidates.
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

    def numbers(self) -> list[exp.Expr]:
        """Returns the columns of a row's codes as numbers without NULL."""

    def distance(self, codes: Codes, due: int) -> Distances:
        """Returns the distance of each candidate from the row `due`, from 0 to 1."""

    def inside(self, codes: Codes, distances: Distances, members: Sequence[int]) -> Marks | None:
        """Marks the candidates that the label of a class with these members covers; None if the label is too
        general.
        """

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
        parts = ("code", "span", "low", "high", "general", "width", "label")
        return {part: f"{part}_{self.index}" for part in parts} | {"value": self.value}

    def numbers(self) -> list[exp.Expr]:
        """Returns the code, or NaN in place of NULL."""
        [name] = self.code_names
        return [alias(f.coalesce(column(name), cast(literal("NaN"), "DOUBLE")), name)]

    def distance(self, codes: Codes, due: int) -> Distances:
        [values] = codes
        start, unknown = values[due], np.isnan(values)
        if unknown[due]:
            return np.where(unknown, 0.0, 1.0)
        span = np.fmax.reduce(values) - np.fmin.reduce(values)
        distances: Distances = np.abs(values - start) / (span or np.inf)
        distances[unknown] = 1.0
        return distances

    def inside(self, codes: Codes, distances: Distances, members: Sequence[int]) -> Marks | None:
        [values] = codes
        of_members = values[members]
        low, high = of_members.min(), of_members.max()
        if np.isnan(low):
            return np.isnan(values) if np.isnan(of_members).all() else np.ones(len(values), dtype=bool)
        return np.asarray((values >= low) & (values <= high))

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

    def numbers(self) -> list[exp.Expr]:
        return [*map(column, self.code_names)]

    def distance(self, codes: Codes, due: int) -> Distances:
        distances = np.ones(len(codes[0]))
        for level in reversed(range(self.bound.height)):
            share = max(level, self.bound.min_level) / self.bound.height
            np.copyto(distances, share, where=codes[level] == codes[level][due])
        return distances

    def inside(self, codes: Codes, distances: Distances, members: Sequence[int]) -> Marks | None:
        widest = distances[members].max()
        return distances <= widest if widest <= self.bound.max_level / self.bound.height else None

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
