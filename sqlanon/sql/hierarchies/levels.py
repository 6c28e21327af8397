"""LEVELS (SELECT ...): a row for each value, with its label at level 1, 2, ... in the columns that follow.

A single column is a flat list: the values, and `*` above. If the last columns have `*` in every row, they are the top
already and are not repeated; any other common label in a last column is a level below `*`. A row whose value is NULL
has the labels of NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import different, exists, or_
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.hierarchies._trees import (
    is_null,
    join_text,
    long_rows,
    needs_query,
    no_rows,
    number,
    quoted,
    select,
    text,
    text_column,
    union_all,
    unique_values,
)
from sqlanon.sql.hierarchies.base import Check, refused

STORED = True


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless the only argument of LEVELS is a query."""
    needs_query(definition, "LEVELS", "write LEVELS (SELECT value, level_1, level_2 FROM ...)")


def values(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> exp.Select:
    """Returns rows (value, level, label) from the wide rows of the query. Raises PolicyError if there is no column."""
    _needs_columns(definition, columns)
    parts = []
    for level, name in enumerate(columns):
        part = select(
            alias(text_column(columns[0]), "value"),
            alias(number(level), "level"),
            alias(text_column(name), "label"),
        ).from_(relation.copy())
        parts.append(part.where(_below_top(columns[level:], relation)) if level else part)
    return long_rows(parts)


def _below_top(columns: Sequence[str], relation: exp.Expr) -> exp.Expr:
    """Whether any row has another label than `*` in any of the columns."""
    other = [different(text_column(name), text("*")) for name in columns]
    return exists(select(number(1)).from_(relation.copy()).where(or_(*other)))


def checks(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> list[Check]:
    """Returns the checks that each value is listed once and has all labels, and that levels nest.

    Raises PolicyError if there is no column.
    """
    _needs_columns(definition, columns)
    checks = [no_rows(definition, relation)]
    if len(columns) > 1:
        checks.append(_two_labels(definition, columns[0], columns[1], relation))
    checks.append(_value_twice(definition, columns[0], relation))
    if len(columns) > 1:
        checks.append(_label_missing(definition, columns, relation))
    if len(columns) > 2:
        checks.append(_levels_nest(definition, columns, relation))
    return checks


def _two_labels(definition: HierarchyDefinition, name: str, above: str, relation: exp.Expr) -> Check:
    value, label = text_column(name), text_column(above)
    first, last = f.min(label), f.max(label)
    words = join_text(quoted(value), text(" under "), quoted(first), text(" and "), quoted(last))
    query = select(alias(words, "name")).from_(relation.copy()).group_by(value).having(first.neq(last))
    message = f"hierarchy {definition.name}: values with two different labels"
    return Check("two_labels", query, message, unique_values(name, above))


def _value_twice(definition: HierarchyDefinition, name: str, relation: exp.Expr) -> Check:
    value = text_column(name)
    many = f.count() > 1
    query = select(alias(quoted(value), "name")).from_(relation.copy()).group_by(value).having(many)
    return Check(
        "value_twice",
        query,
        f"hierarchy {definition.name}: values that are listed more than once",
        "keep one row for each value, as with SELECT DISTINCT",
    )


def _label_missing(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> Check:
    parts = [
        select(alias(join_text(quoted(text_column(columns[0])), text(f" (level {level})")), "name"))
        .from_(relation.copy())
        .where(is_null(column(name)))
        for level, name in enumerate(columns[1:], 1)
    ]
    return Check(
        "label_missing",
        union_all(parts),
        f"hierarchy {definition.name}: values whose label is NULL",
        "give each value a label at each level; for values that go straight to the top write '*'",
    )


def _levels_nest(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> Check:
    parts = []
    for level, (finer, coarser) in enumerate(pairwise(columns[1:]), 1):
        label, above = text_column(finer), text_column(coarser)
        first, last = f.min(above), f.max(above)
        words = (text(f" of level {level} under "), text(" and "), text(f" of level {level + 1}"))
        name = join_text(quoted(label), words[0], quoted(first), words[1], quoted(last), words[2])
        differ = first.neq(last)
        parts.append(select(alias(name, "name")).from_(relation.copy()).group_by(label).having(differ))
    return Check(
        "levels_nest",
        union_all(parts),
        f"hierarchy {definition.name}: levels that do not nest, since a label lies under two labels of the next level",
        "give each label one label above it",
    )


def _needs_columns(definition: HierarchyDefinition, columns: Sequence[str]) -> None:
    if not columns:
        raise refused(definition, "the query has no column", "select the value, then its label at each level")
