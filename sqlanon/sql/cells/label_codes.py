"""Labels of several levels under one numbering, so that two of them are equal where a release shows them alike."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, big, if_, order_by, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import level_name


def label_at(level: int) -> str:
    """The column with a value's label at this level."""
    return f"label_{level}"


def code_at(level: int) -> str:
    """The column with the number of that label."""
    return f"code_{level}"


def shown_at(bound: BoundAttribute, levels: Sequence[int]) -> list[exp.Alias]:
    """The labels at these levels, from the columns value, level_1, ...: texts, if there are several levels."""
    several = len(set(levels)) > 1
    return [alias(_published_label(bound, level, several), label_at(level)) for level in sorted(set(levels))]


def _published_label(bound: BoundAttribute, level: int, published_as_text: bool) -> exp.Expr:
    if level == bound.height:
        return literal("*")
    if level:
        return column(level_name(level))
    value = column("value")
    return as_text(value) if published_as_text else value


def numbered(labelled: exp.Query, levels: Sequence[int], listed: Sequence[int] = ()) -> exp.Select:
    """A row for each value: value, and for each level its label (label_1) and the label's number (code_1).

    `labelled` has the columns value and label_1, .... Equal labels have one number,
    whatever their levels. At the levels `listed` a value has a label only if its column
    `listed` is true; a value without any label at all may be missing.
    """
    rows: list[exp.Select] = []
    for level in sorted(set(levels)):
        row = exp.select(column("value"), alias(literal(level), "level"), alias(column(label_at(level)), "label"))
        rows.append(row.from_(relation("labelled")))
        if level in listed:
            rows[-1].where(column("listed"), copy=False)
    labels = union_all(rows)
    order = order_by(ascending(column("label")))
    number = window(f.dense_rank(), order=order) - 1
    code = alias(big(number), "code")
    numbers = exp.select(column("value"), column("level"), column("label"), code).from_(labels.subquery("shown"))
    query = exp.select(column("value")).from_(relation("numbers")).group_by(column("value"))
    for level in sorted(set(levels)):
        query.select(alias(_at(level, "label"), label_at(level)), copy=False)
        query.select(alias(_at(level, "code"), code_at(level)), copy=False)
    return with_steps(query, [("labelled", labelled), ("numbers", numbers)])


def _at(level: int, name: str) -> exp.Expr:
    here = column("level").eq(literal(level))
    return f.max(if_(here, column(name)))
