"""What is remarked of a release in which all items have one label: why that may be, and what helps."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlanon.domain.counts import counted
from sqlanon.methods.itemsets.item_tree import ItemTree

_LESS_REQUIRED = "give a hierarchy with labels between items and *, or require a smaller m or k"


def of_one_label(tree: ItemTree, cut: Collection[int], enough: int, classes: bool) -> Iterator[str]:
    """A sentence where all items are published as the root, with how many of them are in fewer than enough lists.

    Where only one item occurs it is the root, and is published as it is. `classes` says whether there are
    quasi-identifiers beside the list, in whose classes an item may be in fewer lists than in all.
    """
    if not any(tree.nodes[code].above is None and not tree.nodes[code].is_item for code in cut):
        return
    rare = sum(tree.nodes[code].occurrences < enough for code in tree.items)
    if rare:
        why = (
            f"{rare} of {len(tree.items)} items {'is' if rare == 1 else 'are'} in fewer than {counted(enough, 'list')}"
        )
        helps = f"leave NULLs and very rare items out of the lists in a query, ON (SELECT ...), or {_LESS_REQUIRED}"
    else:
        within = ", or items within classes of the other columns, are" if classes else " are"
        why = f"each item is in at least {counted(enough, 'list')}, but sets of items{within} in fewer"
        helps = _LESS_REQUIRED
    yield f"all items are published as one label, and the lists say nothing: {why}; {helps}"
