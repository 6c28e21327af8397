"""Whether a hierarchy lists all values of its column, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import DataError
from sqlanon.sources.column_types import is_list
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, exists, is_not_null
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.labels import generalized, listed_twice, listed_values, published_value
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.syntax.texts import typed_name

_MAX_VALUES_SHOWN = 10


def require_listed(
    engine: Engine, bound: BoundAttribute, tree_name: str, hierarchy_values: exp.Table, *, of_items: bool = False
) -> None:
    """Raises unless the hierarchy lists every value that occurs, each once; an unlisted NULL is a value of its own.

    `of_items` says that the values are the items of lists. An error does not name them: anything may be among them.
    """
    assert bound.hierarchy is not None
    text = alias(as_text(column("value")), "value")
    has_value = is_not_null(column("value"))
    unlisted = exp.select(text).from_(relation(tree_name)).where(exp.not_(column("listed")), has_value)
    again = f"its query and run CREATE OR REPLACE HIERARCHY {typed_name(bound.hierarchy.name)} again"
    if of_items and (number := _count(engine, unlisted)):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks {counted(number, 'item')} of the lists of {bound.column}",
            hint=spelled_otherwise(engine, bound, unlisted)
            or f"unnest({bound.column}) has the items of the source; add those that are missing to {again}",
        )
    if missing := _named(engine, unlisted):
        instead = "; labels of the items in lists need REQUIRE km_anonymity and METHOD itemsets"
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks values of the column {bound.column}: {missing}",
            hint=spelled_otherwise(engine, bound, unlisted)
            or f"add them to {again}{instead if is_list(bound.published_type) else ''}",
        )
    if bound.published_type != "VARCHAR" and (twice := _named(engine, listed_twice(bound, hierarchy_values))):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lists values of the column {bound.column}, of type "
            f"{bound.published_type}, under several texts: {twice}",
            hint=f"keep one text of each in {again}",
        )


def spelled_otherwise(engine: Engine, bound: BoundAttribute, unlisted: exp.Select) -> str | None:
    """The hint about unlisted values that a hierarchy lists but for blanks at the ends or for case; None without any.

    `unlisted` has one column, the values as texts, named `value`. None of them is named in the hint.
    """
    assert bound.hierarchy is not None
    value, listed = column("value", "unlisted"), column("value", "listed")
    of_hierarchy = column("hierarchy", "listed").eq(literal(bound.hierarchy.name))
    itself = column("level", "listed").eq(literal(0))

    def number(spelled: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        same = exp.and_(of_hierarchy.copy(), itself.copy(), spelled(listed.copy()).eq(spelled(value.copy())))
        rows = exp.select(literal(1)).from_(relation(("anon", "hierarchy_value"), "listed"))
        return f.call("count_if", exists(rows.where(same)))

    counts = exp.select(number(_trimmed), number(_folded), f.count()).from_(unlisted.copy().subquery("unlisted"))
    blanks, alike, missing = map(int, engine.rows(counts)[0])
    if not alike:
        return None
    name, only_blanks = to_sql(identifier(bound.column)), blanks == alike
    differ = "by blanks at the ends" if only_blanks else "by case or by blanks at the ends"
    spelled = f"trim({name})" if only_blanks else f"lower(trim({name}))"
    return (
        f"{alike} of {counted(missing, 'value')} differ from listed ones {differ} only: write both alike, "
        f"with {spelled} in a query as the source and with the same in that of the hierarchy"
    )


def _trimmed(text: exp.Expr) -> exp.Expr:
    return f.call("trim", text)


def _folded(text: exp.Expr) -> exp.Expr:
    return f.lower(_trimmed(text))


def _named(engine: Engine, values: exp.Select) -> str:
    """The first few values and how many there are; empty if there is none."""
    count = _count(engine, values)
    examples = (
        [repr(row[0]) for row in engine.rows(values.order_by(literal(1)).limit(_MAX_VALUES_SHOWN))] if count else []
    )
    return ", ".join(examples) + (
        f" and {count - _MAX_VALUES_SHOWN} more ({count} in all)" if count > _MAX_VALUES_SHOWN else ""
    )


def _count(engine: Engine, values: exp.Select) -> int:
    return int(engine.rows(exp.select(f.count()).from_(values.copy().subquery("missing")))[0][0])


# Hierarchies of sensitive columns, for requirements that other rows than the cells answer.


def listed_taxonomy(
    engine: Engine,
    policy: BoundPolicy,
    bound: BoundAttribute,
    requirements: Sequence[BoundRequirement],
    scratch: Scratch,
) -> Taxonomy:
    """The hierarchy of a sensitive column. Raises DataError if it lacks values that a requirement looks up in it."""
    if not bound.stored:
        return Taxonomy(bound)
    stored = relation(("anon", "hierarchy_value"))
    listed = listed_values(bound, stored.copy())
    if any(
        {"sensitive_ancestor", "guarding_node"} & set(r.reads) for r in requirements if bound.column in r.attributes
    ):
        occurring = exp.select(alias(published_value(bound), "value")).distinct().from_(relation(policy.relation))
        values = scratch.table("values", generalized(bound, occurring, listed.copy(), counted=False))
        require_listed(engine, bound, values, stored)
    return Taxonomy(bound, listed)
