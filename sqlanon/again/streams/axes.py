"""Measures the distance of rows in one quasi-identifier, and computes the label of a class in it.

For numbers and times without a hierarchy the label is the range. For other values it is the lowest node of the
hierarchy above all of them; without a hierarchy, the value or '*'. NULL is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.again.streams.columns import Columns
from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    ascending,
    big,
    case,
    different,
    identical,
    if_,
    infix,
    is_null,
    joined,
    or_,
    or_zero,
    order_by,
    paren,
    real,
    up_to_here,
    window,
)
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.cells.value_ranks import as_double

_ALL = "*"


class Axis(Protocol):
    """One quasi-identifier: its expressions in the steps of `sql/streams/leave.sql` and in the labels of classes.

    These steps call the tables `w`, a waiting row; `o`, the oldest; `c`, a row that may leave with the oldest; `s`, the
    spans of these rows; `b`, the bounds of the class; `m`, a member with its values and codes; `l`, a label.
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
        """Returns the columns of a row in the step `candidate`, beside those of the oldest row."""

    def span(self) -> list[exp.Expr]:
        """Returns the columns of the step `span`, computed from all candidates."""

    def distance(self) -> exp.Expr:
        """Returns the distance of a candidate from the oldest row, 0 to 1."""

    def bounds(self) -> list[exp.Expr]:
        """Returns the columns of the step `bounds` for a class."""

    def formed(self) -> exp.Expr:
        """Whether a class with these bounds can be published."""

    def inside(self) -> exp.Expr:
        """Whether a candidate lies within the bounds of the class."""

    def label(self) -> list[exp.Expr]:
        """Returns the columns of a class's label: its text, and the bounds of the values that it covers."""

    def covers(self) -> exp.Expr:
        """Whether the label `l` covers the row `m`."""

    def spans(self) -> list[exp.Expr]:
        """Returns the columns of the label `l` by which it is compared with other labels."""

    def width(self) -> exp.Expr:
        """Returns the width of the label `l`, 0 to 1."""


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
    """Returns the name of the column that numbers the ancestors of values at a level; level 0 is the value itself."""
    return f"code_{index}_{level}"


@dataclass(frozen=True)
class Ranges:
    """Axis of numbers and times. The label of a class consists of its smallest and its largest value.

    The code of NULL, NaN and infinity is NULL; a class with such values and others shows '*'.
    """

    index: int
    bound: BoundAttribute
    value: str

    @property
    def _code(self) -> str:
        return f"code_{self.index}"

    @property
    def code_names(self) -> tuple[str, ...]:
        return (self._code,)

    @property
    def text_names(self) -> tuple[str, ...]:
        return ()

    def candidate(self) -> list[exp.Expr]:
        return [column(self._code, "w"), alias(column(self._code, "o"), f"from_{self.index}")]

    def span(self) -> list[exp.Expr]:
        code = column(self._code, "c")
        return [alias(f.max(code) - f.min(code), f"span_{self.index}")]

    def distance(self) -> exp.Expr:
        code, start = column(self._code, "c"), column(f"from_{self.index}", "c")
        share = infix(f.abs(code - start), "/", f.nullif(column(f"span_{self.index}", "s"), 0))
        return case(
            (and_(is_null(code), is_null(start)), real(0)),
            (or_(is_null(code), is_null(start)), real(1)),
            otherwise=or_zero(share),
        )

    def bounds(self) -> list[exp.Expr]:
        code = column(self._code, "c")
        known = f.count(code)
        mixed = and_(infix(known, ">", 0), infix(known, "<", f.count()))
        ends = [alias(f.min(code), f"low_{self.index}"), alias(f.max(code), f"high_{self.index}")]
        return [*ends, alias(mixed, f"mixed_{self.index}")]

    def formed(self) -> exp.Expr:
        return literal(True)

    def inside(self) -> exp.Expr:
        code, low = column(self._code, "c"), column(f"low_{self.index}", "b")
        within = exp.Between(this=code, low=low, high=column(f"high_{self.index}", "b"))
        both_unknown = and_(is_null(code), is_null(low))
        return paren(or_(column(f"mixed_{self.index}", "b"), within, paren(both_unknown)))

    def label(self) -> list[exp.Expr]:
        low, high = (end(column(self.value, "m")) for end in (f.min, f.max))
        known = f.count(column(self.value, "m"))
        finite = f.count(column(self._code, "m"))
        with_null = and_(infix(known, ">", 0), infix(known, "<", f.count()))
        differ = and_(infix(finite, "<", f.count()), different(low, high))
        general = or_(paren(with_null), paren(differ))
        ends = joined(literal("["), as_text(low), literal(", "), as_text(high), literal("]"))
        text = case(
            (general, literal(_ALL)),
            (identical(low, high), as_text(low)),
            otherwise=ends,
        )
        return [
            alias(text, label_name(self.index)),
            # '*' reveals nothing about its values.
            alias(if_(exp.not_(paren(general)), low), f"low_{self.index}"),
            alias(if_(exp.not_(paren(general)), high), f"high_{self.index}"),
            alias(general, f"general_{self.index}"),
        ]

    def covers(self) -> exp.Expr:
        value, low = column(self.value, "m"), column(f"low_{self.index}", "l")
        within = exp.Between(this=value, low=low, high=column(f"high_{self.index}", "l"))
        general = column(f"general_{self.index}", "l")
        return paren(or_(general, identical(value, low), within))

    def spans(self) -> list[exp.Expr]:
        """Returns the width of the label `l`, and the width of the range that covers all labels up to it."""
        low, high = (code_of_value(self.bound, column(f"{end}_{self.index}", "l")) for end in ("low", "high"))
        order = order_by(ascending(column("class_no", "l")))
        ends = [window(end, None, order, up_to_here()) for end in (f.max(high), f.min(low))]
        reached = ends[0] - ends[1]
        return [alias(high - low, f"width_{self.index}"), alias(reached, f"span_{self.index}")]

    def width(self) -> exp.Expr:
        general = column(f"general_{self.index}", "l")
        return if_(
            general,
            real(1),
            or_zero(column(f"width_{self.index}", "l") / f.nullif(column(f"span_{self.index}", "s"), 0)),
        )


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
        alike = (
            (f.min(column(name, "m")).eq(f.max(column(name, "m"))), level) for level, name in enumerate(self.code_names)
        )
        level = f.greatest(case(*alike, otherwise=self.bound.height), self.bound.min_level)
        text = _at(level, [f.max(text) for text in self._texts("m")])
        return [alias(text, label_name(self.index)), alias(big(level), self._level)]

    def _texts(self, of: str) -> list[exp.Expr]:
        """Returns the labels of a row at each level below the top."""
        return [as_text(column(self.value, of)), *(column(name, of) for name in self.text_names)]

    def covers(self) -> exp.Expr:
        level = column(self._level, "l")
        same = identical(_at(level, self._texts("m")), column(label_name(self.index), "l"))
        return paren(or_(infix(level, "=", self.bound.height), same))

    def spans(self) -> list[exp.Expr]:
        return []

    def width(self) -> exp.Expr:
        return column(self._level, "l") / real(self.bound.height)


def _at(level: exp.Expr, texts: Sequence[exp.Expr]) -> exp.Expr:
    """Returns the label at a level; '*' at the top."""
    return case(*((infix(level, "=", number), text) for number, text in enumerate(texts)), otherwise=literal(_ALL))
