"""(h,k,p)-coherence and the suppression of items, written from the paper over the lists themselves.

Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from fractions import Fraction
from itertools import chain, combinations

Item = Hashable
# A class, the items that others may know, and the sensitive ones; None instead of a list is a list without items.
Row = tuple[Hashable, Sequence[Item] | None, Sequence[Item] | None]
# A class and a set of items.
Known = tuple[Hashable, frozenset[Item]]


def counted(rows: Sequence[Row], p: int) -> dict[Known, tuple[int, int]]:
    """Counts the lists of a class with each occurring set of at most p items, the empty set among them, and the lists
    with the set and its most frequent sensitive item.
    """
    known = [(of, frozenset(items or ()), frozenset(secrets or ())) for of, items, secrets in rows]
    sets = {
        (of, frozenset(part)) for of, items, _ in known for size in range(p + 1) for part in combinations(items, size)
    }
    counts: dict[Known, tuple[int, int]] = {}
    for of, part in sets:
        having = [secrets for other, items, secrets in known if other == of and part <= items]
        held = Counter(chain.from_iterable(having))
        counts[of, part] = len(having), max(held.values(), default=0)
    return counts


def least_support(rows: Sequence[Row], p: int) -> int | None:
    """Returns the least number of lists with a set; None without rows."""
    return min((n for n, _ in counted(rows, p).values()), default=None)


def greatest_share(rows: Sequence[Row], p: int) -> Fraction | None:
    """Returns the greatest share, among the lists with a set, of lists with one sensitive item; None without rows."""
    return max((Fraction(most, n) for n, most in counted(rows, p).values()), default=None)


def moles(rows: Sequence[Row], h: Fraction, k: int, p: int) -> set[Known]:
    """The sets that violate: moles, as the paper calls them."""
    return {known for known, (n, most) in counted(rows, p).items() if n < k or Fraction(most, n) > h}


def violating(rows: Sequence[Row], h: Fraction, k: int, p: int) -> set[Hashable]:
    """The classes with a set that violates."""
    return {of for of, _ in moles(rows, h, k, p)}


def without(rows: Sequence[Row], suppressed: Collection[Item]) -> list[Row]:
    """Returns the lists without the suppressed items."""
    return [(of, [i for i in items or () if i not in suppressed], secrets) for of, items, secrets in rows]


def minimal(sets: Collection[frozenset[Item]]) -> set[frozenset[Item]]:
    """Returns the sets that contain no other set."""
    return {part for part in sets if not any(other < part for other in sets)}


def _costs(rows: Sequence[Row]) -> Counter[Item]:
    return Counter(item for _, items, _ in rows for item in dict.fromkeys(items or ()))


def share_of(rows: Sequence[Row], suppressed: Collection[Item]) -> Fraction:
    """Returns the share of suppressed items among all occurrences of items."""
    costs = _costs(rows)
    return Fraction(sum(costs[item] for item in suppressed), sum(costs.values()) or 1)


def least_share(rows: Sequence[Row], h: Fraction, k: int, p: int) -> Fraction | None:
    """Returns the least share of occurrences to suppress, over all sets of items; None if no set helps."""
    items = list(_costs(rows))
    tried = (set(part) for size in range(len(items) + 1) for part in combinations(items, size))
    return min((share_of(rows, part) for part in tried if not moles(without(rows, part), h, k, p)), default=None)


def greedy(rows: Sequence[Row], h: Fraction, k: int, p: int) -> set[Item] | None:
    """Returns the items that the greedy search suppresses; None if a class violates without any items.

    First it suppresses items that violate alone. Of the minimal larger sets without these it then takes the item in
    most sets for its occurrences, the first in order among equals, until each set is hit. Last it gives back items
    whose sets are all hit by others, the one with most occurrences first.
    """
    sets = minimal({part for _, part in moles(rows, h, k, p)})
    if frozenset() in sets:
        return None
    costs = _costs(rows)
    alone = {item for part in sets if len(part) == 1 for item in part}
    larger = [part for part in sets if len(part) > 1]
    remaining, chosen = list(larger), []
    while remaining:
        items = sorted({item for part in remaining for item in part}, key=in_order)
        best = max(items, key=lambda item: Fraction(sum(item in part for part in remaining), costs[item]))
        chosen.append(best)
        remaining = [part for part in remaining if best not in part]
    for item in sorted(chosen, key=lambda item: (-costs[item], in_order(item))):
        if all(len(part & set(chosen)) > 1 for part in larger if item in part):
            chosen.remove(item)
    return alone | set(chosen)


def in_order(item: Item) -> tuple[bool, str]:
    """Returns the sort key of an item: by its text, None last."""
    return item is None, "" if item is None else str(item)
