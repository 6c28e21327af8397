"""The lists of the source as they are read: one a respondent, their items as nodes of a tree."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.counts import counted
from sqlanon.errors import DataError, PolicyError
from sqlanon.methods.itemsets.item_tree import ItemTree, LeafRow, item_tree
from sqlanon.methods.itemsets.supports import code_table
from sqlanon.methods.shared.task import Task
from sqlanon.sources.item_lists import item_of, list_column, most_items, require_countable
from sqlanon.sources.listed_values import require_listed
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, is_null, order_by, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels


@dataclass(frozen=True)
class CodedLists:
    """The rows of the source with a number for each, in the table `rows`, and the items of their lists as codes.

    `rows` has list_id, class, list, and `column_name` of each published column. `labelled` has class, list_id and code.
    """

    rows: str
    labelled: str
    tree: ItemTree


def column_name(position: int) -> str:
    """What the published column at a position is called in the table of rows."""
    return f"column_{position}"


def list_attribute(task: Task) -> BoundAttribute:
    """The quasi-identifier with the lists."""
    quasi = task.policy.quasi_identifiers
    name = list_column(task.requirements[0], [(b.column, b.published_type) for b in quasi])
    return next(b for b in quasi if b.column == name)


def required_lists(task: Task) -> tuple[int, ...]:
    """How many lists a set has to have, by its number of items less one: the most that a requirement says of it."""
    pairs = [(most_items(requirement), int(requirement.required)) for requirement in task.requirements]
    return tuple(max(k for m, k in pairs if m >= items) for items in range(1, max(m for m, _ in pairs) + 1))


def coded_lists(task: Task) -> CodedLists:
    """Reads the lists.

    Raises PolicyError for lists of nobody, for respondents with several, and for more sets of items than are counted.

    Raises DataError for lists with several NULLs, and for items that the hierarchy lacks.
    """
    _require_one_each(task)
    attribute = list_attribute(task)
    rows = task.scratch.table("row", _numbered(task, attribute))
    listed = relation(rows)
    ((several,),) = task.engine.rows(reading(query_file("lists", "several_nulls"), {"listed": rows}))
    if several:
        raise DataError(
            f"{counted(several, 'list')} of {attribute.column} {'has' if several == 1 else 'have'} NULL several times, "
            "and nobody knows whether it is one item",
            hint="leave the NULLs out, ON (SELECT ..., list_filter(items, lambda item: item IS NOT NULL) AS items ...)",
        )
    require_countable(task.engine, listed, "list", len(required_lists(task)), attribute.column)
    leaves, tree = _items(task, attribute, rows)
    node = code_table(
        task.scratch, "node", {"leaf": ("BIGINT", list(range(len(tree.items)))), "code": ("BIGINT", list(tree.items))}
    )
    tables = {"listed": rows, "leaf": leaves, "node": node}
    return CodedLists(
        rows, task.scratch.growing_table("labelled", reading(query_file("lists", "labelled"), tables)), tree
    )


def _require_one_each(task: Task) -> None:
    entity = task.policy.entity
    if entity is None:
        return
    source, whose = relation(task.policy.relation), column(entity.column)
    ((nobody,),) = task.engine.rows(exp.select(f.count()).from_(source).where(is_null(whose)))
    if nobody:
        raise PolicyError(
            f"{task.policy.policy}: {counted(int(nobody), 'list')} {'has' if nobody == 1 else 'have'} no "
            f"{entity.column}, and METHOD itemsets takes one list of each",
            hint=f"leave out the lists of nobody, ON (SELECT ... WHERE {entity.column} IS NOT NULL)",
            part=("column", entity.column),
        )
    several = exp.select(whose.copy()).from_(source.copy()).group_by(whose.copy())
    several = several.having(f.count() > literal(1))
    ((number,),) = task.engine.rows(exp.select(f.count()).from_(several.subquery("several")))
    if number:
        raise PolicyError(
            f"{task.policy.policy}: {counted(int(number), 'respondent')} {'has' if number == 1 else 'have'} several "
            f"rows, and METHOD itemsets takes one list of each {entity.column}",
            hint="collect the items, ON (SELECT customer, flatten(list(items)) AS items FROM ... GROUP BY customer)",
            part=("column", entity.column),
        )


def _numbered(task: Task, attribute: BoundAttribute) -> exp.Select:
    """The rows with their numbers and classes: those that agree on the quasi-identifiers beside the list."""
    others = [b for b in task.policy.quasi_identifiers if b is not attribute]
    order = [ascending(published_value(b, "source")) for b in others]
    of_class = window(f.dense_rank(), order=order_by(*order)) if order else literal(1)
    return exp.select(
        alias(window(f.row_number()), "list_id"),
        alias(of_class, "class"),
        alias(published_value(attribute, "source"), "list"),
        *(alias(published_value(b, "source"), column_name(i)) for i, b in enumerate(task.policy.published)),
    ).from_(relation(task.policy.relation, as_="source"))


def _items(task: Task, attribute: BoundAttribute, rows: str) -> tuple[str, ItemTree]:
    """A table of the items, value and leaf, and the tree of them: as many as the hierarchy has, not as the source."""
    item = item_of(attribute)
    occurring = reading(query_file("lists", "items"), {"listed": rows})
    labels = task.scratch.table("item", generalized(item, occurring, stored_labels(item), counted=True))
    if item.stored:
        require_listed(task.engine, item, labels, relation(("anon", "hierarchy_value")), of_items=True)
    levels = [level_name(level) for level in range(1, item.height)]
    number = window(f.row_number(), order=order_by(ascending(column("value")))) - 1
    leaves = exp.select(alias(number, "leaf"), column("value"), column("n"), *map(column, levels))
    leaves = leaves.from_(relation(labels)).where(column("n") > literal(0))
    table = task.scratch.table("leaf", leaves)
    texts = [as_text(column(name)) for name in ("value", *levels)]
    query = exp.select(column("n"), *texts).from_(relation(table)).order_by(column("leaf"))
    rows_of_items = [LeafRow(label, int(n), tuple(above)) for n, label, *above in task.engine.rows(query)]
    return table, item_tree(rows_of_items)
