"""The cut of least loss: cuts in the order of their losses, without those that have a set known to be rare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from sqlanon.domain.adjustable import Adjustable
from sqlanon.domain.choice import Searched
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.itemsets.item_tree import ItemTree
from sqlanon.methods.itemsets.supports import Labelled


@dataclass(frozen=True)
class Sizes:
    """The optimal search refuses more than `most_cuts` cuts. Of a cut that has rare sets it remembers so many."""

    most_cuts: int = 10_000
    most_remembered: int = 100


sizes = Adjustable(Sizes())


def optimal(tree: ItemTree, labelled: Labelled, least: Sequence[int]) -> tuple[frozenset[int], Searched]:
    """The cut of least loss under which no set is rare, and how it was found; `labelled` then has its labels.

    `least` is the number of lists that a set has to have, by its number of items less one. Raises PolicyError for a
    hierarchy of too many cuts.
    """
    number = number_of_cuts(tree)
    if number > sizes().most_cuts:
        raise PolicyError(
            f"search => 'optimal' looks at no more than {sizes().most_cuts:,} cuts of a hierarchy, and the items that "
            f"occur have {_written(number)}",
            hint="leave it out: search => 'apriori' takes hierarchies of any size",
        )
    rare: list[frozenset[int]] = []
    checked = pruned = 0
    for cut in _cuts(tree):
        # A set stays as rare as it was in every cut that has all of its labels.
        if any(codes <= cut for codes in rare):
            pruned += 1
            continue
        checked += 1
        labelled.label_anew({code: above for code in tree.items for above in tree.path(code) if above in cut})
        rare_now = _rare(labelled, least)
        if not rare_now:
            return cut, Searched(number, checked, number - checked, True, None)
        rare += rare_now
    raise InternalError("a class has fewer lists than are enough; nothing was published")


def _rare(labelled: Labelled, least: Sequence[int]) -> list[frozenset[int]]:
    """Some rare sets of the first size that has any."""
    for items, enough in enumerate(least, start=1):
        labelled.count_rare(items, enough)
        if rare_now := labelled.rare_sets(sizes().most_remembered):
            return rare_now
    return []


def number_of_cuts(tree: ItemTree) -> int:
    """How many cuts there are: of a node it is one more than the product of those of the nodes below it."""
    numbers: dict[int, int] = dict.fromkeys(tree.items, 1)
    inner = [code for code, node in enumerate(tree.nodes) if not node.is_item]
    for code in sorted(inner, key=lambda code: tree.nodes[code].leaves):
        number = 1
        for child in tree.children[code]:
            number *= numbers[child]
        numbers[code] = number + 1
    roots = [code for code, node in enumerate(tree.nodes) if node.above is None]
    return numbers[roots[0]] if roots else 1


def _cuts(tree: ItemTree) -> Iterator[frozenset[int]]:
    """The cuts in the order of their losses, and of equal ones in that of their labels."""
    start = tuple(sorted(tree.items))
    heap: list[tuple[int, tuple[int, ...]]] = [(0, start)]
    seen = {start}
    while heap:
        loss, codes = heappop(heap)
        cut = frozenset(codes)
        yield cut
        for above, children in tree.children.items():
            if not cut.issuperset(children):
                continue
            raised = tuple(sorted(cut.difference(children) | {above}))
            if raised not in seen:
                seen.add(raised)
                heappush(heap, (loss + tree.cost(above) - sum(map(tree.cost, children)), raised))


def _written(number: int) -> str:
    """A number of cuts: of many digits, how many."""
    text = f"{number:,}"
    return text if number < 10**15 else f"a number of {len(str(number))} digits"
