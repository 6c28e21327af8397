"""k^m-anonymity and labels of items, written from the paper over the lists themselves.

Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008). `itertools.combinations`
enumerates every set, and `cuts` every cut of a hierarchy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

Item = Hashable
# A class and the list of a row in it; None instead of a list is a list without items.
Row = tuple[Hashable, Sequence[Item] | None]
# The label that is shown of each item.
Cut = Mapping[Item, Hashable]

ROOT = "*"


def supports(rows: Sequence[Row], m: int) -> Counter[tuple[Hashable, frozenset[Item]]]:
    """Counts the lists of each class that contain each set of at most m items; the empty set is one of the sets."""
    found: Counter[tuple[Hashable, frozenset[Item]]] = Counter()
    for of, items in rows:
        distinct = list(dict.fromkeys(items or ()))
        found.update((of, frozenset(part)) for size in range(m + 1) for part in combinations(distinct, size))
    return found


def achieved(rows: Sequence[Row], m: int) -> int | None:
    """Returns the least support of a set that occurs in a list; None without rows."""
    return min(supports(rows, m).values(), default=None)


def satisfied(rows: Sequence[Row], k: int, m: int) -> bool:
    """Whether each set that occurs in a list of a class is in at least k lists of the class."""
    return all(n >= k for n in supports(rows, m).values())


def violating(rows: Sequence[Row], k: int, m: int) -> set[Hashable]:
    """Returns the classes with a set that is in fewer than k of the class's lists."""
    return {of for (of, _), n in supports(rows, m).items() if n < k}


def labelled(rows: Sequence[Row], cut: Cut) -> list[Row]:
    """Replaces the items of each list by their labels, each label once."""
    return [(of, list(dict.fromkeys(cut[item] for item in items or ()))) for of, items in rows]


def cuts(items: Sequence[Item], labels: Mapping[Item, Sequence[Hashable]]) -> Iterator[dict[Item, Hashable]]:
    """Yields every cut, which assigns each item one node on its path to the root.

    `labels` has the labels below the root, lowest first. A node is shown by its label, and identified by the labels
    from its level up.
    """

    def below(members: Sequence[Item], level: int) -> list[dict[Item, Hashable]]:
        """Returns the cuts below a node, whose children are at this level; the cut at the node itself is not one of
        them.
        """
        if level < 0:
            return [{item: item for item in members}]
        groups: dict[Hashable, list[Item]] = {}
        for item in members:
            groups.setdefault(labels[item][level], []).append(item)
        each = [[dict.fromkeys(group, label), *below(group, level - 1)] for label, group in groups.items()]
        return [{item: shown for part in parts for item, shown in part.items()} for parts in product(*each)]

    if not items:
        yield {}
        return
    height = len(labels[items[0]])
    yield dict.fromkeys(items, ROOT)
    yield from below(items, height - 1)


def loss(rows: Sequence[Row], cut: Cut) -> Fraction:
    """Returns the NCP, the mean over all occurrences of items: 0 for an unchanged item, else n / N, where n of the N
    occurring items have the label.
    """
    occurring = Counter(item for _, items in rows for item in dict.fromkeys(items or ()))
    whole = sum(occurring.values())
    leaves = Counter(cut[item] for item in occurring)
    cost = sum((Fraction(leaves[cut[i]], len(occurring)) * n for i, n in occurring.items() if cut[i] != i), Fraction(0))
    return cost / whole if whole else Fraction(0)


def least_loss(rows: Sequence[Row], labels: Mapping[Item, Sequence[Hashable]], k: int, m: int) -> Fraction | None:
    """Returns the least NCP of a cut under which the rows satisfy; None if no cut does."""
    items = list(dict.fromkeys(item for _, listed in rows for item in listed or ()))
    return min((loss(rows, cut) for cut in cuts(items, labels) if satisfied(labelled(rows, cut), k, m)), default=None)


def at_level(items: Sequence[Item], labels: Mapping[Item, Sequence[Hashable]], level: int) -> dict[Item, Hashable]:
    """Returns the cut that shows each item by its node at a level, `*` above all levels; a node with a single item
    shows the item.
    """
    height = max((len(labels[item]) for item in items), default=0)
    cut: dict[Item, Hashable] = {}
    for item in items:
        cut[item], wide = item, 1
        for at in range(level):
            below = sum(labels[other][at:] == labels[item][at:] for other in items)
            if below > wide:
                cut[item], wide = labels[item][at] if at < height else ROOT, below
    return cut


def least_level(rows: Sequence[Row], labels: Mapping[Item, Sequence[Hashable]], k: int, m: int) -> dict[Item, Hashable]:
    """Returns the cut of the lowest level under which the rows satisfy, from level 0 (the items) to `*`."""
    items = list(dict.fromkeys(item for _, listed in rows for item in listed or ()))
    height = max((len(labels[item]) for item in items), default=0)
    each = (at_level(items, labels, level) for level in range(height + 2))
    return next(cut for cut in each if satisfied(labelled(rows, cut), k, m))


def _order(label: Hashable) -> tuple[bool, str]:
    """Returns the sort key of a label: by its text, None last."""
    return label is None, "" if label is None else str(label)


def apriori(rows: Sequence[Row], labels: Mapping[Item, Sequence[Hashable]], k: int, m: int) -> dict[Item, Hashable]:
    """Returns the cut that apriori chooses; each step counts every set and tries every way to raise a rare one.

    Labels must have different texts, and some cut must satisfy. A step takes the rare set of least support, the first
    by labels and then by class. Of the cuts that give its labels enough support in its class, the step chooses the cut
    of least loss, then the one that raises the first labels least.
    """
    items = list(dict.fromkeys(item for _, listed in rows for item in listed or ()))
    ways = {item: _widening(item, items, labels) for item in items}
    cut: dict[Item, Hashable] = {item: item for item in items}
    for size in range(1, m + 1):
        while True:
            found = supports(labelled(rows, cut), size)
            rare = [(n, of, part) for (of, part), n in found.items() if len(part) == size and n < k]
            if not rare:
                break
            _, of, part = min(rare, key=lambda it: (it[0], sorted(map(_order, it[2])), _order(it[1])))
            cut = _raised(rows, cut, ways, of, sorted(part, key=_order), k)
    return cut


def _widening(item: Item, items: Sequence[Item], labels: Mapping[Item, Sequence[Hashable]]) -> list[Hashable]:
    """Returns the labels from an item up to the root, without labels that cover no more items than the label below."""
    way: list[Hashable] = [item]
    wide = 1
    for level in range(len(labels[item]) + 1):
        below = sum(labels[other][level:] == labels[item][level:] for other in items)
        if below > wide:
            wide = below
            way.append(labels[item][level] if level < len(labels[item]) else ROOT)
    return way


def _raised(
    rows: Sequence[Row], cut: Cut, ways: Mapping[Item, list[Hashable]], of: Hashable, part: Sequence[Hashable], k: int
) -> dict[Item, Hashable]:
    """Returns the best cut that raises the labels of a rare set."""
    upward = [next(way[way.index(label) :] for item, way in ways.items() if cut[item] == label) for label in part]
    lists = [listed or () for other, listed in rows if other == of]
    candidates = []
    for heights in product(*(range(len(way)) for way in upward)):
        nodes = {way[height] for way, height in zip(upward, heights, strict=True)}
        new = {item: next((label for label in reversed(ways[item]) if label in nodes), cut[item]) for item in cut}
        if any(ways[item].index(new[item]) < ways[item].index(cut[item]) for item in cut):
            continue
        wanted = [next(new[item] for item in cut if cut[item] == label) for label in part]
        if [way.index(label) for way, label in zip(upward, wanted, strict=True)] != list(heights):
            continue
        support = sum(all(any(new[item] == label for item in listed) for label in wanted) for listed in lists)
        if support >= k:
            candidates.append((loss(rows, new), heights, new))
    return min(candidates, key=lambda it: it[:2])[2]
