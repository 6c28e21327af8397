"""Mondrian as in the papers, row by row: cuts a region in two, and each half again, while both halves satisfy.

LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity (2006): cuts the widest attribute at its median,
strict or relaxed. The same, Workload-aware anonymization (2006): makes the cut of greatest information gain on a
target. Cuts that respect a hierarchy fall between the children of one node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import fsum, log2
from typing import Any

Value = Any  # of a column: hashable; None is a value
Row = Mapping[str, Value]
Region = list[int]
Cut = tuple[Region, Region]
Node = tuple[Hashable, ...]


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier.

    `order` is 'numeric' (by value, with the differences of the values as distances), 'values' (by value, with distance
    1 between neighbors) or 'tree' (along the hierarchy). `paths` has a value's labels from level 1 up to the last below
    `*`, also for listed values that do not occur; None without a hierarchy. `text` prints a value.
    """

    name: str
    order: str
    weight: float = 1.0
    paths: Mapping[Value, Sequence[Hashable]] | None = None
    text: Callable[[Value], str] = str


@dataclass(frozen=True)
class Options:
    """How regions are cut: for information gain each half has `least` rows; in relaxed mode equal rows may be
    separated.
    """

    mode: str = "strict"
    split: str = "median"
    target: str | None = None
    hierarchy: str = "order"
    least: int = 1


class Domain:
    """The values of an attribute in their order, and the rank of each row."""

    def __init__(self, attribute: Attribute, rows: Sequence[Row]) -> None:
        """Takes the values that occur in the rows; along a tree, all values of the tree."""
        self.attribute = attribute
        column = [row[attribute.name] for row in rows]
        tree = attribute.paths if attribute.order == "tree" and attribute.paths else {}
        height = max(map(len, tree.values()), default=0)
        self.values = self._along_tree([*tree], height) if tree else in_order(column)
        self.rank = [self.values.index(value) for value in column]
        self.positions = self._positions()

    def _along_tree(self, values: Sequence[Value], level: int) -> list[Value]:
        """Returns values depth first: nodes of a level by the least value below them, nodes with None alone last."""
        if level == 0:
            return in_order(values)
        nodes: dict[Node, list[Value]] = {}
        for value in values:
            nodes.setdefault(self.node(value, level), []).append(value)
        by_least = {in_order(below)[0]: below for below in nodes.values()}
        return [value for least in in_order([*by_least]) for value in self._along_tree(by_least[least], level - 1)]

    def _positions(self) -> list[float]:
        if self.attribute.order != "numeric":
            return [float(rank) for rank in range(len(self.values))]
        known = [number(value) for value in self.values if value is not None]
        if len(known) == len(self.values):
            return known
        gap = (known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 1.0
        return [*known, known[-1] + gap if known else 0.0]

    def node(self, value: Value, level: int) -> Node:
        """Returns the node above a value: its label and all labels above, because two nodes may share a label."""
        return (value, *(self.attribute.paths or {}).get(value, ()))[level:]

    def common_level(self, region: Region) -> int:
        """Returns the level of the lowest common ancestor of the least and the greatest value of a region."""
        first, last = self.span(region)
        level = 0
        while self.node(self.values[first], level) != self.node(self.values[last], level):
            level += 1
        return level

    def span(self, region: Region) -> tuple[int, int]:
        """Returns the least and the greatest rank of a region."""
        return min(self.rank[row] for row in region), max(self.rank[row] for row in region)

    def share(self, region: Region) -> float:
        """Returns the share of the domain that a region spans, at most 1."""
        first, last = self.span(region)
        whole = self.positions[-1] - self.positions[0]
        return (self.positions[last] - self.positions[first]) / whole if whole else 0.0

    def width(self, region: Region) -> float:
        """Returns the width of a region: the share of the domain that it spans, by number of values unless they have
        distances.
        """
        if self.attribute.order == "numeric":
            return self.share(region)
        first, last = self.span(region)
        return (last - first + 1) / len(self.values)

    def places(self, region: Region, hierarchy: str) -> list[int]:
        """Returns the numbers by which a cut sorts rows: ranks, or first ranks of children of the common ancestor."""
        ranks = [self.rank[row] for row in region]
        if hierarchy == "order" or self.attribute.paths is None:
            return ranks
        level = self.common_level(region) - 1
        children = [self.node(value, level) for value in self.values]
        return [children.index(children[rank]) for rank in ranks]


def in_order(values: Sequence[Value]) -> list[Value]:
    """Sorts the distinct values, None last."""
    return sorted(set(values), key=order)


def order(value: Value) -> tuple[Any, ...]:
    """Returns the sort key of a value; None sorts last."""
    return (True,) if value is None else (False, value)


def number(value: Value) -> float:
    """Converts a value to a number: a date to the days, a timestamp to the seconds since 1970."""
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1)) / timedelta(seconds=1)
    if isinstance(value, date):
        return float((value - date(1970, 1, 1)).days)
    return float(value)


@dataclass(frozen=True)
class Mondrian:
    """The table, its quasi-identifiers in the policy's order, and the test whether a region meets every requirement."""

    rows: Sequence[Row]
    domains: Sequence[Domain]
    options: Options
    satisfied: Callable[[Region], bool]

    def partition(self) -> list[Region] | None:
        """Returns the regions; None if all rows form one region that violates."""
        if not self.rows:
            return []
        regions = self._parts(list(range(len(self.rows))))
        return regions if len(regions) > 1 or self.satisfied(regions[0]) else None

    def _parts(self, region: Region) -> list[Region]:
        for left, right in self._cuts(region):
            if self.satisfied(left) and self.satisfied(right):
                return self._parts(left) + self._parts(right)
        return [region]

    def _cuts(self, region: Region) -> Iterator[Cut]:
        """Yields a cut for each attribute that is not constant in the region, in the order in which they are tried."""
        wide = [domain for domain in self.domains if len({domain.rank[row] for row in region}) > 1]
        wide.sort(key=lambda domain: -domain.attribute.weight * domain.width(region))
        if self.options.split == "information_gain":
            best = [cut for domain in wide for cut in self._most_informative(region, domain)]
            yield from sorted(best, key=self._purity, reverse=True)  # equal ones stay as they are
            return
        yield from (self._median(region, domain) for domain in wide)

    def _between(self, region: Region, domain: Domain) -> list[Cut]:
        """Returns every cut between two neighboring ranks, by the difference of its halves, then by the size of the
        left half.
        """
        places = domain.places(region, self.options.hierarchy)
        at = list(zip(region, places, strict=True))
        lasts = sorted(set(places))[:-1]
        cuts = [([row for row, p in at if p <= last], [row for row, p in at if p > last]) for last in lasts]
        return sorted(cuts, key=lambda cut: (abs(len(cut[0]) - len(cut[1])), len(cut[0])))

    def _median(self, region: Region, domain: Domain) -> Cut:
        if self.options.mode == "strict":
            return self._between(region, domain)[0]
        places = dict(zip(region, domain.places(region, self.options.hierarchy), strict=True))

        def key(row: int) -> tuple[Any, ...]:
            ranks = (other.rank[row] for other in self.domains)
            return (places[row], *ranks)

        ordered = sorted(region, key=key)
        return ordered[: len(region) // 2], ordered[len(region) // 2 :]

    def _most_informative(self, region: Region, domain: Domain) -> list[Cut]:
        """Returns the cut of greatest gain among the cuts with enough rows in both halves; an empty list if there is
        none.
        """
        cuts = [cut for cut in self._between(region, domain) if min(map(len, cut)) >= self.options.least]
        return [max(cuts, key=self._purity)] if cuts else []

    def _purity(self, cut: Cut) -> int:
        """Returns -sum |half| * entropy(half) in 2^-20 bits: the gain, less a term that all cuts of a region share."""

        def bits(n: int) -> int:
            return round(n * log2(n) * 2**20)

        counts = [Counter(self.rows[row][self.options.target or ""] for row in half) for half in cut]
        return sum(sum(map(bits, own.values())) - bits(own.total()) for own in counts)


def granularity_loss(domains: Sequence[Domain], partition: Sequence[Region], publish: str = "range") -> float:
    """Returns the weighted mean, over rows and attributes, of the share of other values that a label may represent."""
    if not partition:
        return 0.0
    each = [(domain, region, domain.attribute.weight * len(region)) for domain in domains for region in partition]
    covered = fsum(scale * granularity(domain, region, publish) for domain, region, scale in each)
    return covered / fsum(scale for _, _, scale in each)


def granularity(domain: Domain, region: Region, publish: str) -> float:
    """Returns the share of the other values that the label and bounds of a region allow: 0 for one value, 1 for all."""
    low, high = bounds(domain, region)
    if low is None or len(domain.values) == 1:
        return 0.0
    first, last = domain.values.index(low), domain.values.index(high)
    allowed = {value for value in domain.values[first : last + 1] if value is not None}
    if publish == "ancestor" and domain.attribute.paths is not None:
        if domain.attribute.order == "tree":
            # In another order than `<` the bounds add no information.
            level = domain.common_level(region)
            above = domain.node(domain.values[domain.span(region)[0]], level)
            allowed = {value for value in domain.values if domain.node(value, level) == above}
        elif ancestor_label(domain, region) == "*":
            allowed |= {None} & {*domain.values}
    elif any(domain.values[domain.rank[row]] is None for row in region):
        allowed.add(None)
    return (len(allowed) - 1) / (len(domain.values) - 1)


def bounds(domain: Domain, region: Region) -> tuple[Value, Value]:
    """Returns the least and the greatest value of a region, None apart; (None, None) if all are None."""
    known = [domain.rank[row] for row in region if domain.values[domain.rank[row]] is not None]
    return (domain.values[min(known)], domain.values[max(known)]) if known else (None, None)


def range_label(domain: Domain, region: Region) -> str | None:
    """Returns `value` or `[low, high]`, followed by ` or NULL` if a value is None; None if all values are None."""
    low, high = bounds(domain, region)
    if low is None:
        return None
    text = domain.attribute.text
    label = text(low) if low == high else f"[{text(low)}, {text(high)}]"
    return f"{label} or NULL" if any(domain.values[domain.rank[row]] is None for row in region) else label


def ancestor_label(domain: Domain, region: Region) -> Hashable:
    """Returns the label of the lowest common ancestor, `*` for the root; the range without a hierarchy."""
    first, last = domain.span(region)
    if domain.attribute.paths is None or first == last:
        return range_label(domain, region)
    above = domain.node(domain.values[first], domain.common_level(region))
    return above[0] if above else "*"
