"""Apriori: sets of one label, then of two, up to m, each size until no set is rare (Terrovitis et al. 2008).

A step takes the rare set of least support, raises its labels along the least lossy way that makes the set frequent,
and counts again the sets that have one of the new labels, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from sqlanon.domain.counts import counted
from sqlanon.domain.watching import Watching
from sqlanon.errors import InternalError
from sqlanon.methods.itemsets.item_tree import ItemTree
from sqlanon.methods.itemsets.supports import Labelled, Reached


def apriori(
    tree: ItemTree, labelled: Labelled, least: Sequence[int], watching: Watching | None = None
) -> tuple[frozenset[int], tuple[int, ...]]:
    """The cut that is found, and the steps taken for each size of sets; `labelled` then has the labels of the cut.

    `least` is the number of lists that a set has to have, by its number of items less one. Each class has to have as
    many lists with items as that for one item.
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
    """For each label of a cut the height of the first node of a path that it lies below, the root aside."""
    height = {code: index for index, code in enumerate(path[:-1])}
    first: dict[int, int] = {}
    for code in cut:
        lowest = next((height[above] for above in tree.path(code) if above in height), None)
        if lowest is not None:
            first[code] = lowest
    return first


def _whole(reached: Reached, paths: Sequence[Sequence[int]], lists: int) -> list[tuple[tuple[int, ...], int]]:
    """What all lists of a class reach: each one with items has one below the root."""
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
    """The nodes to which a rare set's labels are raised: those of least loss that enough lists have together.

    `paths` are the ways of its labels to the root. `reached` says of how many lists the items lie first below which
    heights of these ways. Of equal losses the first in the order of labels that are raised less.
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
    """The heights with each label raised that lies below a node to which another is raised: a cut has one of both."""
    nodes = {path[height] for path, height in zip(paths, heights, strict=True)}
    return tuple(max(index for index, code in enumerate(path) if code in nodes) for path in paths)
