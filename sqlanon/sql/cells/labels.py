"""Labels of an attribute's distinct values, one column for each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Mask, Shift
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    ascending,
    big,
    case,
    cast,
    filtered,
    identical,
    if_,
    in_utc,
    infix,
    is_not_null,
    is_null,
    joined,
    or_,
    or_zero,
    order_by,
    paren,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, full_join, left_join, select, subquery
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.hierarchies.base import functional


def level_name(level: int) -> str:
    return f"level_{level}"


def published_value(bound: BoundAttribute, of: str | None = None) -> exp.Expr:
    """Returns the column in the type that is published: an ENUM as text, another type as it is."""
    value = column(bound.column, of)
    if bound.type == bound.published_type:
        return value
    return cast(value, bound.published_type)


def generalized(bound: BoundAttribute, distinct: exp.Query, listed: exp.Query | None, counted: bool) -> exp.Select:
    """Returns value, level_1, ... (the levels below `*`), and n if `counted`: a row for each value.

    `distinct` returns the values of the source as `value` (and their numbers of rows as `n`). For a stored hierarchy
    `listed` returns every listed value with its labels. The result then has the values of both; its column `listed`
    says whether the hierarchy has the value, and n is 0 for a value that is not in the source.
    """
    counts = [column("n")] if counted else []
    if not bound.stored:
        labels: tuple[exp.Expr, ...] = ()
        if bound.hierarchy:
            labels = functional(bound.hierarchy.kind).labels(bound.hierarchy, column("value"), bound.published_type)
        named = [alias(label, level_name(i)) for i, label in enumerate(labels, start=1)]
        return select(column("value"), *counts, *named, of=subquery(distinct, "occurring"))
    assert listed is not None
    same = identical(column("value", "occurring"), column("value", "listed"))
    missing = column("listed", "listed").is_(exp.null())
    # The value from the side that has it: both are NULL for the value NULL, which coalesce keeps.
    value = f.coalesce(column("value", "occurring"), column("value", "listed"))
    number = or_zero(column("n", "occurring"))
    return select(
        alias(value, "value"),
        *([alias(number, "n")] if counted else []),
        *(column(level_name(i), "listed") for i in range(1, bound.height)),
        alias(exp.not_(missing), "listed"),
        of=subquery(distinct, "occurring"),
        joins=[full_join(subquery(listed, "listed"), same)],
    )


def listed_values(bound: BoundAttribute, rows: exp.Table) -> exp.Select:
    """Returns the values that a stored hierarchy lists, in the column's type, with a label for each level.

    `rows` is `anon.hierarchy_value`. Texts that are equal values in that type count once. A text that is not a value of
    that type is left out, because it cannot occur.
    """
    value = _in_type(bound)
    labels = (
        alias(
            filtered(f.max(column("label")), column("level").eq(literal(level))),
            level_name(level),
        )
        for level in range(1, bound.height)
    )
    return select(
        alias(value, "value"),
        *labels,
        alias(literal(True), "listed"),
        of=rows,
        where=_possible(bound),
        group_by=[value],
    )


def stored_labels(bound: BoundAttribute) -> exp.Select | None:
    """Returns `listed_values` of the catalog; None if there is no hierarchy, or if the hierarchy computes its
    labels.
    """
    return listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None


def occurring_values(bound: BoundAttribute, source: QualifiedName) -> exp.Select:
    """Returns value and n: the values of the column and their numbers of rows."""
    value = published_value(bound)
    return select(alias(value, "value"), alias(f.count(), "n"), of=relation(source), group_by=[value])


def listed_twice(bound: BoundAttribute, rows: exp.Table) -> exp.Select:
    """Returns the values that a stored hierarchy lists under several texts, such as 1 and 01 for a number."""
    value = _in_type(bound)
    return select(
        as_text(value),
        of=rows,
        where=[*_possible(bound), column("level").eq(0)],
        group_by=[value],
        having=f.count() > 1,
    )


def _in_type(bound: BoundAttribute) -> exp.Expr:
    return try_cast(column("value"), bound.published_type)


def _possible(bound: BoundAttribute) -> list[exp.Expr]:
    """Returns the conditions that a row of the attribute's hierarchy must satisfy, because its text must be NULL or a
    value of the column's type.
    """
    assert bound.hierarchy is not None
    name = column("hierarchy").eq(literal(bound.hierarchy.name))
    return [name, or_(is_null(column("value")), is_not_null(_in_type(bound)))]


def passed(
    query: exp.Select,
    bound: BoundAttribute,
    index: int,
    tokens: Mapping[str, str],
    entity: BoundAttribute | None,
    entity_of: str = "source",
) -> exp.Expr:
    """Returns a column of `source`: unchanged, as tokens, or shifted by its `entity`; joins the tables that are needed.

    `tokens` maps a column to a table of value and token; the column of the entity is in the relation `entity_of`.
    """
    pseudonym = bound.attribute.pseudonym
    if not pseudonym:
        return published_value(bound, "source")
    if isinstance(pseudonym, Mask) and pseudonym.is_keyless:
        return keyless_mask(pseudonym, text_of_token(bound, "source"))
    name = f"token_{index}"
    is_shifted = isinstance(pseudonym, Shift)
    same = same_token(entity, name, entity_of) if is_shifted and entity is not None else same_token(bound, name)
    extend(query, joins=[left_join(relation(tokens[bound.column], as_=name), same)])
    return moved_date(bound, name) if is_shifted else column("token", name)


def same_token(bound: BoundAttribute, table: str, of: str = "source") -> exp.Expr:
    """Returns the condition that a row of `table` (value, token) and a row of `of` have the same value in the
    column.
    """
    return identical(text_of_token(bound, of), column("value", table))


def moved_date(bound: BoundAttribute, table: str) -> exp.Expr:
    """Returns a date of `source` shifted by a token's days: infinity stays unchanged, and a date outside the type's
    range becomes NULL.
    """
    date = column(bound.column, "source")
    days = f.call("to_days", cast(column("token", table), "INTEGER"))
    moved = f.try_(cast(paren(date + days), bound.type))
    return if_(f.call("isfinite", date), moved, date)


def keyless_mask(mask: Mask, text: exp.Expr) -> exp.Expr:
    """Returns a text masked without a key; NULL for NULL."""
    return _MASKED[mask.name](mask, text)


def _partial(mask: Mask, text: exp.Expr) -> exp.Expr:
    """Keeps the first and the last characters, and replaces the others by stars; a text without others becomes all
    stars.
    """
    first, last, star = mask.argument("first"), mask.argument("last"), mask.argument("with")
    assert isinstance(first, int) and isinstance(last, int)
    hidden = infix(f.length(text), "-", first + last)
    parts = [
        *([f.left(text, first)] if first else []),
        f.repeat(literal(star), hidden),
        *([f.right(text, last)] if last else []),
    ]
    only_stars = f.repeat(literal(star), f.length(text))
    return if_(infix(f.length(text), "<=", first + last), only_stars, joined(*parts))


def _email(mask: Mask, text: exp.Expr) -> exp.Expr:
    """Keeps the first characters of a longer local part and the domain after the last @, with three stars between
    them.
    """
    first = mask.argument("first")
    assert isinstance(first, int)
    domain = f.built_in("split_part", text, "@", -1)
    local = infix(infix(f.length(text), "-", f.length(domain)), "-", 1)
    front = if_(infix(local, ">", first), f.left(text, first), "")
    masked = joined(*([front] if first else []), literal("***@"), domain)
    lacks_local = infix(f.built_in("strpos", text, "@"), "<", 2)
    return case((is_null(text), exp.null()), (lacks_local, "***"), otherwise=masked)


_MASKED = {"partial": _partial, "email": _email}


def text_of_token(bound: BoundAttribute, of: str | None = None) -> exp.Expr:
    """Returns the text of a column from which tokens are made, independent of the session's time zone."""
    return as_text(in_utc(bound.column, bound.type, of))


# Labels of several levels under one numbering: equal texts have equal numbers.


def label_at(level: int) -> str:
    """Returns the name of the column with a value's label at a level."""
    return f"label_{level}"


def code_at(level: int) -> str:
    """Returns the name of the column that numbers the labels of values at a level."""
    return f"code_{level}"


def shown_at(bound: BoundAttribute, levels: Sequence[int]) -> list[exp.Alias]:
    """Returns the labels at these levels, from value, level_1, ...; if there are several levels, they are texts."""
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
    """Returns a row for each value: value, and for each level its label (label_1) and the label's number (code_1).

    `labelled` has the columns value and label_1, .... Equal labels have the same number at all levels. At the levels
    `listed`, a value has a label only if its column `listed` is true; a value without any label may be missing.
    """
    rows: list[exp.Select] = []
    for level in sorted(set(levels)):
        row = select(column("value"), alias(literal(level), "level"), alias(column(label_at(level)), "label"))
        rows.append(extend(row, of=relation("labelled")))
        if level in listed:
            extend(rows[-1], where=[column("listed")])
    labels = union_all(rows)
    order = order_by(ascending(column("label")))
    number = window(f.dense_rank(), order=order) - 1
    code = alias(big(number), "code")
    numbers = select(column("value"), column("level"), column("label"), code, of=subquery(labels, "shown"))
    query = select(column("value"), of=relation("numbers"), group_by=[column("value")])
    for level in sorted(set(levels)):
        extend(query, alias(_at(level, "label"), label_at(level)), alias(_at(level, "code"), code_at(level)))
    return with_steps(query, [("labelled", labelled), ("numbers", numbers)])


def _at(level: int, name: str) -> exp.Expr:
    here = column("level").eq(literal(level))
    return f.max(if_(here, column(name)))
