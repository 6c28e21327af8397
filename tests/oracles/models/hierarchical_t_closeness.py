"""t-closeness with the hierarchical distance (Li et al. 2007), by the paper's recursion over the tree.

extra(leaf) = p - q; extra(N) = the sum over N's children; of an inner node N with
pos_extra and neg_extra, the sums over the children with more and with less than their
share, cost(N) = height(N) / H * min(pos_extra, neg_extra). The distance is the sum of
the costs of all inner nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares

Paths = Mapping[Hashable, Sequence[Hashable]]


def distance(table: Table, of: Class) -> Fraction:
    assert table.taxonomy is not None
    p, q = shares(table.counts(of)), shares(table.baseline)
    extra = {value: p.get(value, Fraction(0)) - q.get(value, Fraction(0)) for value in table.taxonomy}
    paths = {value: (value, *labels) for value, labels in table.taxonomy.items()}
    height = len(next(iter(paths.values())))
    return _costs(list(paths), height, paths, extra) / height


def _costs(leaves: Sequence[Hashable], height: int, paths: Paths, extra: Mapping[Hashable, Fraction]) -> Fraction:
    """Returns the cost of the node above some leaves plus the costs below it, times the height of the tree."""
    if height == 0:
        return Fraction(0)
    children: dict[Hashable, list[Hashable]] = defaultdict(list)
    for leaf in leaves:
        children[paths[leaf][height - 1]].append(leaf)
    extras = [sum((extra[leaf] for leaf in below), Fraction(0)) for below in children.values()]
    positive = sum((more for more in extras if more > 0), Fraction(0))
    negative = -sum((less for less in extras if less < 0), Fraction(0))
    inside = (_costs(below, height - 1, paths, extra) for below in children.values())
    return height * min(positive, negative) + sum(inside, Fraction(0))


def violating(table: Table, t: Fraction) -> set[Class]:
    return {of for of in table.classes if distance(table, of) > t}


def achieved(table: Table, t: Fraction) -> Fraction | None:
    return max((distance(table, of) for of in table.classes), default=None)
