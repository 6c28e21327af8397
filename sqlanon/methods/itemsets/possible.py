"""What a cut of the items cannot do: too few lists, and labels of several nodes."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from sqlanon.domain.counts import counted
from sqlanon.errors import DataError, PrivacyViolation
from sqlanon.methods.itemsets.item_tree import ItemTree
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.sql_files import query_file, reading


def require_enough(task: Task, rows: str, labelled: str, enough: int) -> None:
    """Raises PrivacyViolation for classes that have too few rows, or too few lists with items among them."""
    query = reading(query_file("lists", "least_lists"), {"listed": rows, "labelled": labelled})
    for mark in list(query.find_all(exp.Placeholder)):
        mark.replace(literal(enough))
    ((classes, number, empty),) = task.engine.rows(query)
    if not classes:
        return
    if len(task.policy.quasi_identifiers) == 1:
        lists = f"{counted(int(number), 'list')} {'without' if empty else 'with'} items"
        raise PrivacyViolation(
            f"{task.name} would have {lists}, and at least {enough} are required; nothing was published",
            hint="require a smaller k, or publish no lists",
        )
    raise PrivacyViolation(
        f"{counted(int(classes), 'class', 'classes')} of the quasi-identifiers beside the list "
        f"{'has' if classes == 1 else 'have'} fewer than {enough} rows, or fewer lists with items "
        f"({counted(int(number), 'row')} in all); nothing was published",
        hint="make these columns coarser in a query, ON (SELECT ...), leave them out, or require a smaller k",
    )


def require_told_apart(tree: ItemTree, cut: frozenset[int]) -> None:
    """Raises DataError where two nodes that would be published have one label: nobody could tell which one is meant."""
    labels = Counter(tree.nodes[code].label for code in cut)
    several = [label for label, number in labels.items() if number > 1]
    if several:
        raise DataError(
            f"{counted(len(several), 'label')} would stand for several nodes of the hierarchy, such as {several[0]!r}",
            hint="give the nodes of the hierarchy different labels, none of them that of an item",
        )
