"""Whether a hierarchy lists all values of its column, each once."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.counts import counted
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.inputs.item_lists import is_list
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, is_not_null
from sqlanon.sqlgen.build.names import column, literal, relation
from sqlanon.sqlgen.cells.labels import listed_twice

__all__ = ["require_listed"]

_MAX_VALUES_SHOWN = 10


def require_listed(
    engine: Engine, bound: BoundAttribute, tree_name: str, hierarchy_values: exp.Table, *, of_items: bool = False
) -> None:
    """Raises unless the hierarchy lists every value that occurs, each once; an unlisted NULL is a value of its own.

    `of_items` says that the values are the items of lists. An error does not name them: anything may be among them.
    """
    assert bound.hierarchy is not None
    text = as_text(column("value"))
    has_value = is_not_null(column("value"))
    unlisted = exp.select(text).from_(relation(tree_name)).where(exp.not_(column("listed")), has_value)
    again = f"its query and run CREATE OR REPLACE HIERARCHY {bound.hierarchy.name} again"
    if of_items and (number := _count(engine, unlisted)):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks {counted(number, 'item')} of the lists of {bound.column}",
            hint=f"unnest({bound.column}) has the items of the source; add those that are missing to {again}",
        )
    if missing := _named(engine, unlisted):
        instead = "; labels of the items in lists need REQUIRE km_anonymity and METHOD itemsets"
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks values of the column {bound.column}: {missing}",
            hint=f"add them to {again}{instead if is_list(bound.published_type) else ''}",
        )
    if bound.published_type != "VARCHAR" and (twice := _named(engine, listed_twice(bound, hierarchy_values))):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lists values of the column {bound.column}, of type "
            f"{bound.published_type}, under several texts: {twice}",
            hint=f"keep one text of each in {again}",
        )


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
