"""The least level of the hierarchy at which no set is rare, the same for all items: full-domain generalization."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.errors import InternalError
from sqlanon.methods.itemsets.item_tree import ItemTree
from sqlanon.methods.itemsets.supports import Labelled


def least_level(tree: ItemTree, labelled: Labelled, least: Sequence[int]) -> tuple[frozenset[int], int]:
    """The cut of the least level under which no set is rare, and the level; `labelled` then has its labels.

    `least` is the number of lists that a set has to have, by its number of items less one. Levels above have no rarer
    sets, and lose more.
    """
    cut: frozenset[int] | None = None
    for level in range(max((node.level for node in tree.nodes), default=0) + 1):
        labels = tree.at_level(level)
        if frozenset(labels.values()) == cut:
            continue
        cut = frozenset(labels.values())
        labelled.label_anew(labels)
        if not _has_rare(labelled, least):
            return cut, level
    raise InternalError("a class has fewer lists than are enough; nothing was published")


def _has_rare(labelled: Labelled, least: Sequence[int]) -> bool:
    for items, enough in enumerate(least, start=1):
        labelled.count_rare(items, enough)
        if labelled.first_rare() is not None:
            return True
    return False
