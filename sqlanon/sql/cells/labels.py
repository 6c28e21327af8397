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
    case,
    cast,
    identical,
    if_,
    in_utc,
    infix,
    is_null,
    joined,
    try_cast,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join
from sqlanon.sql.build.sql_files import Names, filled, filled_query, filled_select, select_file
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
    counts, levels = ["n"] if counted else [], [level_name(i) for i in range(1, bound.height)]
    if not bound.stored:
        labels: tuple[exp.Expr, ...] = ()
        if bound.hierarchy:
            labels = functional(bound.hierarchy.kind).labels(bound.hierarchy, column("value"), bound.published_type)
        names: Names = {"counts": counts, "levels": levels[: len(labels)]}
        text = 'SELECT value, {counts}, $labels AS "{levels}" FROM occurring'
        return filled_select(text, tables={"occurring": distinct}, names=names, labels=[*labels])
    assert listed is not None
    tables, names = {"occurring": distinct, "listed": listed}, {"counts": counts, "levels": levels}
    return select_file("generalized", "generalized", tables=tables, names=names)


def listed_values(bound: BoundAttribute, rows: exp.Table) -> exp.Select:
    """Returns the values that a stored hierarchy lists, in the column's type, with a label for each level.

    `rows` is `anon.hierarchy_value`. Texts that are equal values in that type count once. A text that is not a value of
    that type is left out, because it cannot occur.
    """
    assert bound.hierarchy is not None
    levels = [*range(1, bound.height)]
    return select_file(
        "generalized",
        "listed_values",
        names={"names": [*map(level_name, levels)], "rows": rows},
        value=_in_type(bound),
        levels=levels,
        hierarchy=bound.hierarchy.name,
    )


def stored_labels(bound: BoundAttribute) -> exp.Select | None:
    """Returns the values and labels that the catalog stores for a hierarchy, as `listed_values` does; None if there is
    no hierarchy, or if the hierarchy computes its labels.
    """
    return listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None


def occurring_values(bound: BoundAttribute, source: QualifiedName) -> exp.Select:
    """Returns value and n: the values of the column and their numbers of rows."""
    text = 'SELECT $value AS value, count(*) AS n FROM "{source}" GROUP BY $value'
    return filled_select(text, names={"source": source}, value=published_value(bound))


def listed_twice(bound: BoundAttribute, rows: exp.Table) -> exp.Select:
    """Returns the values that a stored hierarchy lists under several texts, such as 1 and 01 for a number."""
    text = """
        SELECT CAST($value AS VARCHAR) FROM "{rows}" WHERE $possible AND level = 0 GROUP BY $value HAVING count(*) > 1
    """
    return filled_select(text, names={"rows": rows}, value=_in_type(bound), possible=_possible(bound))


def _in_type(bound: BoundAttribute) -> exp.Expr:
    return try_cast(column("value"), bound.published_type)


def _possible(bound: BoundAttribute) -> list[exp.Expr]:
    """Returns the conditions that a row of the attribute's hierarchy must satisfy, because its text must be NULL or a
    value of the column's type.
    """
    assert bound.hierarchy is not None
    texts = ("hierarchy = $name", "value IS NULL OR NOT $value IS NULL")
    return [filled(text, name=bound.hierarchy.name, value=_in_type(bound)) for text in texts]


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
    names = {"date": bound.column, "tokens": table}
    moved = filled('({source.date} + to_days(CAST("{tokens}".token AS INTEGER)))', names=names)
    text = "CASE WHEN isfinite({source.date}) THEN try($moved) ELSE {source.date} END"
    return filled(text, names=names, moved=cast(moved, bound.type))


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
    ordered = sorted(set(levels))
    text = "SELECT value, $level AS level, {label} AS label FROM labelled WHERE {listed}"
    labels = union_all(
        filled_query(
            text, names={"label": label_at(level), "listed": ["listed"] if level in listed else []}, level=level
        )
        for level in ordered
    )
    columns: list[exp.Expr] = []
    for level in ordered:
        for part, name in (("label", label_at(level)), ("code", code_at(level))):
            text = 'max(CASE WHEN level = $level THEN {part} END) AS "{name}"'
            columns.append(filled(text, names={"part": part, "name": name}, level=level))
    query = select_file("generalized", "numbered", tables={"shown": labels}, names={"columns": columns})
    return with_steps(query, [("labelled", labelled)])
