"""PREFIXES (n1, n2, ...): the first characters are kept, and each further character becomes `*`.

94141 under PREFIXES (4, 3, 2) has the labels 9414*, 941** and 94***. The mask is as long as the hidden characters, so a
label determines the prefix and the length; a value of at most n characters is its own label at level n. Levels
therefore nest for all texts, even if values contain `*`, because the label at a level is a function of the label one
level below.

`people => table` names a table of prefix and people, which is read when the hierarchy is made. A value whose prefix has
at most `more_than` people, or is not in the table, has the label `small` at each level below `*`. HIPAA requires this
for ZIP codes: 45 CFR 164.514(b)(2)(i)(B) keeps areas of more than 20,000 people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, is_not_null
from sqlanon.sql.hierarchies._ends import options_of, taken
from sqlanon.sql.hierarchies._trees import INTEGERS, cast, choose, join_text, number, subtract, text
from sqlanon.sql.hierarchies.base import OpenEnd, refused

STORED = False
KEEPS_ORDER = False
READ_AS = "mask"

_LONGEST = 1_000_000
_OPTIONS = ("people", "more_than", "small", "large")


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless lengths are whole, positive and strictly decreasing."""
    if definition.query is not None:
        raise refused(definition, "PREFIXES reads no query", "write PREFIXES (4, 3, 2)")
    lengths = _lengths(definition)
    if not lengths:
        raise refused(definition, "PREFIXES needs at least one length", "write PREFIXES (4, 3, 2)")
    for finer, coarser in pairwise(lengths):
        if coarser >= finer:
            raise refused(
                definition,
                f"levels that keep {finer} and {coarser} characters do not nest",
                "give the lengths in strictly decreasing order",
            )
    _areas(definition)


class _Areas(NamedTuple):
    """The prefixes of publishable areas, all of the same length, and the label of all other values."""

    prefixes: tuple[str, ...]
    small: str


def _areas(definition: HierarchyDefinition) -> _Areas | None:
    """Returns the publishable areas; None if there are no options about them. Raises PolicyError for options that do
    not fit together.
    """
    options = options_of(definition, _OPTIONS, "PREFIXES")
    if not options:
        return None
    small, more_than, large = options.get("small"), options.get("more_than"), options.get("large", ())
    if not isinstance(options.get("people"), QualifiedName):
        raise refused(definition, "people is not a table", "write people => areas, a table of prefix and people")
    if isinstance(more_than, bool) or not isinstance(more_than, int) or more_than < 0:
        raise refused(definition, "more_than is not a number of people", "write more_than => 20000")
    if not isinstance(small, str) or not small.strip() or small == "*":
        raise refused(definition, "small is not a label", "write small => '000**'")
    prefixes = large if isinstance(large, tuple) else (large,)
    texts = tuple(prefix for prefix in prefixes if isinstance(prefix, str))
    if len(texts) < len(prefixes) or len({len(text) for text in texts}) > 1 or "" in texts:
        raise refused(
            definition, "its prefixes are not texts of one length", "keep prefixes such as '036' in the table"
        )
    if any(small.startswith(text) for text in texts):
        raise taken(definition, "small", small)
    return _Areas(texts, small)


def table_of(definition: HierarchyDefinition) -> QualifiedName | None:
    """Returns the table of people to read; None if the definition names no table, or if the definition has the prefixes
    already.
    """
    options = dict(definition.options)
    people = options.get("people")
    return people if isinstance(people, QualifiedName) and "large" not in options else None


def with_rows(definition: HierarchyDefinition, rows: Sequence[Sequence[object]]) -> HierarchyDefinition:
    """Returns the definition with the prefixes of publishable areas, from a table's rows of prefix and people.

    Raises PolicyError for a table without such rows.
    """
    more_than = dict(definition.options).get("more_than")
    assert isinstance(more_than, int)
    numbers = [row[1] for row in rows if len(row) == 2]
    if len(numbers) < len(rows) or not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise refused(
            definition,
            "its table of people has other columns than a prefix and a whole number",
            "make one: CREATE TABLE areas (prefix VARCHAR, people INTEGER)",
        )
    prefixes = [row[0] for row in rows]
    if len(set(prefixes)) < len(prefixes):
        raise refused(definition, "its table of people has a prefix twice", "add them up: GROUP BY prefix")
    large = tuple(sorted(str(prefix) for prefix, n in rows if isinstance(n, int) and n > more_than))
    if not large:
        raise refused(definition, f"no area of its table has more than {more_than} people", "look at the table")
    made = replace(definition, options=(*definition.options, ("large", large)))
    if any(not isinstance(prefix, str) for prefix in prefixes):
        raise refused(definition, "its table of people has prefixes that are no texts", "cast them to VARCHAR")
    validate(made)
    return made


def open_ends(definition: HierarchyDefinition) -> tuple[OpenEnd, ...]:
    """Returns the label of small areas, which may mean any value."""
    small = dict(definition.options).get("small")
    return (OpenEnd(small),) if isinstance(small, str) else ()


def values_at(_: HierarchyDefinition) -> int | None:
    """Returns None, because no level above 0 shows values."""
    return None


def height(definition: HierarchyDefinition) -> int:
    """Returns the number of levels above the values, including `*`."""
    return len(definition.arguments) + 1


def accepts(column_type: str) -> bool:
    """Whether the type is text, ENUM, UUID, or an integer, whose decimal digits and sign are the characters."""
    return column_type in INTEGERS or column_type in ("VARCHAR", "UUID") or column_type.startswith("ENUM(")


def labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """Returns the masked text of the value at levels 1 to height - 1; NULL for NULL.

    A character is a Unicode code point, which is the unit of `left` and `length`. Raises PolicyError if the type is not
    accepted.
    """
    validate(definition)
    if not accepts(column_type):
        raise refused(
            definition,
            f"PREFIXES takes no column of type {column_type}",
            "it takes VARCHAR, ENUM, UUID and integer columns; cast the column in a view to say which text you mean",
        )
    whole = cast(value.copy(), "VARCHAR")
    areas = _areas(definition)
    if areas is None:
        return tuple(_masked(whole, length) for length in _lengths(definition))
    if column_type in INTEGERS:
        raise refused(
            definition,
            f"areas by their people are prefixes of texts, and the column is of type {column_type}",
            "cast it in a view with its leading zeros: lpad(zip::VARCHAR, 5, '0')",
        )
    return tuple(_within_areas(whole, _masked(whole, length), areas) for length in _lengths(definition))


def _within_areas(whole: exp.Expr, label: exp.Expr, areas: _Areas) -> exp.Expr:
    """Returns the label of a value in a publishable area, or `small` for other values; NULL for NULL."""
    if not areas.prefixes:
        return choose([(is_not_null(whole), text(areas.small))], whole)
    prefix = f.left(whole, len(areas.prefixes[0]))
    is_shown = exp.In(this=prefix, expressions=[text(prefix_text) for prefix_text in areas.prefixes])
    is_small = and_(is_not_null(whole), exp.not_(is_shown))
    return choose([(is_small, text(areas.small))], label)


def _masked(whole: exp.Expr, length: int) -> exp.Expr:
    prefix = f.left(whole, length)
    hidden = subtract(f.length(whole), number(length))
    return join_text(prefix, f.repeat(text("*"), hidden))


def _lengths(definition: HierarchyDefinition) -> tuple[int, ...]:
    lengths = []
    for argument in definition.arguments:
        if isinstance(argument, bool) or not isinstance(argument, int) or not 0 < argument <= _LONGEST:
            raise refused(definition, f"{argument} is not a length", f"lengths are whole numbers from 1 to {_LONGEST}")
        lengths.append(argument)
    return tuple(lengths)
