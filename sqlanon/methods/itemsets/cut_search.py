"""Searches for a cut of the items' hierarchy, by Apriori or as the cut of least loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from sqlanon.domain.context import Adjustable, Watching
from sqlanon.domain.explanation import Searched
from sqlanon.domain.numbers import counted
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.itemsets.lists import ItemTree, Labelled, Reached

# Apriori: sets of one label, then of two, up to m, each size until no set is rare (Terrovitis et al. 2008).
#
# A step takes the rare set of least support, raises its labels on the path of least loss that makes the set frequent,
# and counts again the sets that have one of the new labels, and no others.


def apriori(
    tree: ItemTree, labelled: Labelled, least: Sequence[int], watching: Watching | None = None
) -> tuple[frozenset[int], tuple[int, ...]]:
    """Returns the cut found and the number of steps for each size of sets; relabels `labelled` by the cut.

    `least` is the minimum support by size: entry i is for sets of i + 1 items. Each class must have at least `least[0]`
    lists with items.
    """
    cut = frozenset(tree.items)
    lists = labelled.number_of_lists()
    steps: list[int] = []
    for items, enough in enumerate(least, start=1):
        taken = 0
        labelled.count_rare(items, enough)
        while first := labelled.first_rare():
            of_class, codes = first
            paths = [tuple(tree.path(code)) for code in codes]
            heights = [_heights(path, tree, cut) for path in paths]
            reached = _whole(labelled.reached(of_class, heights), paths, lists[of_class])
            chosen = least_lossy(tree, cut, paths, reached, enough)
            raised = {code: above for code in cut for above in tree.path(code) if above in chosen and above != code}
            cut = frozenset(raised.get(code, code) for code in cut)
            labelled.raise_labels(raised)
            taken += 1
            if watching:
                watching("solve", items - 1, len(least), f"sets of {counted(items, 'item')}, {counted(taken, 'step')}")
        steps.append(taken)
    return cut, tuple(steps)


def _heights(path: Sequence[int], tree: ItemTree, cut: frozenset[int]) -> dict[int, int]:
    """Returns, for each label of a cut below an inner node of `path`, the index in `path` of the lowest such node; the
    root does not count.
    """
    height = {code: index for index, code in enumerate(path[:-1])}
    first: dict[int, int] = {}
    for code in cut:
        lowest = next((height[above] for above in tree.path(code) if above in height), None)
        if lowest is not None:
            first[code] = lowest
    return first


def _whole(reached: Reached, paths: Sequence[Sequence[int]], lists: int) -> list[tuple[tuple[int, ...], int]]:
    """Returns `reached` with the height of the root in place of None, and with the number of all other lists, which
    have only the root in common with each path.

    `paths` are the paths from labels to the root, and `lists` is the number of lists that have items.
    """
    last = tuple(len(path) - 1 for path in paths)
    others = lists - sum(number for _, number in reached)
    heights = [(tuple(top if h is None else h for h, top in zip(first, last, strict=True)), n) for first, n in reached]
    return [*heights, (last, others)]


def least_lossy(
    tree: ItemTree,
    cut: frozenset[int],
    paths: Sequence[Sequence[int]],
    reached: Sequence[tuple[tuple[int, ...], int]],
    enough: int,
) -> frozenset[int]:
    """Returns the nodes to which the labels of a rare set are raised: those of least loss that together are in `enough`
    lists.

    `paths` are the paths from the labels to the root. `reached` maps the heights on these paths, above which lists have
    items, to numbers of lists. If losses are equal, the first in the order of heights is chosen.
    """
    below: dict[int, int] = {}
    for code in cut:
        for above in tree.path(code):
            below[above] = below.get(above, 0) + tree.cost(code)
    start = (0,) * len(paths)
    heap: list[tuple[int, tuple[int, ...]]] = [(0, start)]
    seen = {start}
    while heap:
        _, heights = heappop(heap)
        if _support(reached, heights) >= enough:
            return frozenset(path[height] for path, height in zip(paths, heights, strict=True))
        for index, height in enumerate(heights):
            if height + 1 == len(paths[index]):
                continue
            raised = _together(paths, (*heights[:index], height + 1, *heights[index + 1 :]))
            if raised not in seen:
                seen.add(raised)
                nodes = {path[p] for path, p in zip(paths, raised, strict=True)}
                heappush(heap, (sum(tree.cost(code) - below[code] for code in nodes), raised))
    raise InternalError("a class has fewer lists than are enough; nothing was published")


def _support(reached: Sequence[tuple[tuple[int, ...], int]], heights: Sequence[int]) -> int:
    return sum(lists for first, lists in reached if all(a <= b for a, b in zip(first, heights, strict=True)))


def _together(paths: Sequence[Sequence[int]], heights: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the heights to which the labels of a set are raised, where a label below another label's new node is
    raised to this node, too.
    """
    nodes = {path[height] for path, height in zip(paths, heights, strict=True)}
    return tuple(max(index for index, code in enumerate(path) if code in nodes) for path in paths)


# The optimal search: cuts in the order of their losses, without cuts that contain a set known to be rare.


@dataclass(frozen=True)
class Sizes:
    """The limits of the optimal search: the greatest number of cuts of a hierarchy, and of rare sets remembered from a
    cut.
    """

    most_cuts: int = 10_000
    most_remembered: int = 100


sizes = Adjustable(Sizes())


def optimal(tree: ItemTree, labelled: Labelled, least: Sequence[int]) -> tuple[frozenset[int], Searched]:
    """Returns the cut of least loss under which no set is rare, and the search's figures; relabels `labelled` by the
    cut.

    `least` is the minimum support by size: entry i is for sets of i + 1 items. Raises PolicyError for a hierarchy with
    too many cuts.
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
        labelled.relabel({code: above for code in tree.items for above in tree.path(code) if above in cut})
        rare_now = _rare(labelled, least)
        if not rare_now:
            return cut, Searched(number, checked, number - checked, True, None)
        rare += rare_now
    raise InternalError("a class has fewer lists than are enough; nothing was published")


def _rare(labelled: Labelled, least: Sequence[int]) -> list[frozenset[int]]:
    """Returns some rare sets of the smallest size with a rare set."""
    for items, enough in enumerate(least, start=1):
        labelled.count_rare(items, enough)
        if rare_now := labelled.rare_sets(sizes().most_remembered):
            return rare_now
    return []


def number_of_cuts(tree: ItemTree) -> int:
    """Counts the cuts of a hierarchy: a node has one cut more than the product of its children's numbers of cuts."""
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
    """Yields the cuts in the order of their losses, then of their labels."""
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
    """Formats a number of cuts; a very long number is described by its number of digits."""
    text = f"{number:,}"
    return text if number < 10**15 else f"a number of {len(str(number))} digits"
