"""What counts come to over groups of rows that are linked to groups of others, for each of many queries.

A group has as many rows as links, and each of its links leads to a group of another fragment: a row of the source has
the values of one row of either. With s of t and s' of t' rows that satisfy, a link may satisfy if both are more than 0,
does for certain if both are all, and s s' / (t t') is how likely it does. Added up over links are s s' and its square,
for each t t', and over the groups what bounds are made of in by_links.sql.

Groups come in blocks: for each column a list of the numbers of the labels of their rows, and the same of each link's
rows in the other fragment, with the groups and the links that they are of. The sums stand in one result for all blocks
of a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.workload.answering import Masks, gathered
from sqlanon.workload.blocks import buckets_of, columns_of, fields, lists, taken
from sqlanon.workload.planes import Plane, Totals, alike, counted, lesser, plus, product, squares

__all__ = ["PARAMETERS", "RETURNS", "link_sums"]

PARAMETERS = ("STRUCT(own INTEGER[][], own_group INTEGER[], other INTEGER[][], link_group INTEGER[], link BIGINT[])",)
_SUMS = ("hits", "squares", "possible", "open", "satisfying", "failing", "apart")
RETURNS = f"STRUCT(total BIGINT, {', '.join(f'{name} BIGINT[]' for name in _SUMS)})[]"

# So many groups at a time: their masks fit a processor's cache.
_CHUNK = 512
# Links, and the rows of a group, are fewer than this many bits count; the groups of a call fit the others.
_LINK_BITS = 40

_RESULT = pa.list_(pa.struct([("total", pa.int64()), *((name, pa.list_(pa.int64())) for name in _SUMS)]))

Numbers = Sequence[NDArray[np.int32]]


def link_sums(
    blocks: pa.Array | pa.ChunkedArray, own_masks: list[Masks], other_masks: list[Masks], queries: int, links: bool
) -> pa.Array:
    """The sums of each query; those over `links` only where they are asked for."""
    own, own_group, other, link_group, link = fields(blocks)
    own_places, other_places = _places(own, own_masks), _places(other, other_masks)
    groups = _Groups(buckets_of(own_group), buckets_of(link_group), lists(link)[0])
    sums = _Sums(queries, links)
    for own_rows, other_rows in groups.chunks():
        sums.add(
            [gathered(own_masks, taken(own_places, rows), slice(0, len(rows)), queries) for rows in own_rows],
            [
                [gathered(other_masks, taken(other_places, rows), slice(0, len(rows)), queries) for rows in one]
                for one in other_rows
            ],
        )
    return pa.array([sums.totals()] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


def _places(numbers: pa.Array, masks: list[Masks]) -> Numbers:
    """Which mask each row has of each column."""
    return [one.places[part] for one, part in zip(masks, columns_of(numbers, len(masks)), strict=True)]


class _Groups:
    """The rows of groups and of their links, those that have as many of each together."""

    def __init__(self, own: NDArray[np.int64], group: NDArray[np.int64], link: NDArray[np.int64]) -> None:
        self._own_order = np.argsort(own)
        self._names, self._own_first, self._own_size = np.unique(
            own[self._own_order], return_index=True, return_counts=True
        )
        # One number is sorted several times as fast as two.
        self._order = np.argsort((group << _LINK_BITS) + link)
        sorted_link, sorted_group = link[self._order], group[self._order]
        new = np.ones(len(link), dtype=bool)
        new[1:] = (sorted_link[1:] != sorted_link[:-1]) | (sorted_group[1:] != sorted_group[:-1])
        first = np.flatnonzero(new)
        size = np.diff(np.append(first, len(link)))
        # Links of a group in the order of how many rows they lead to.
        by_size = np.argsort((sorted_group[first] << _LINK_BITS) + size)
        self._first, self._size = first[by_size], size[by_size]
        names, self._link_first, self._links = np.unique(
            sorted_group[first][by_size], return_index=True, return_counts=True
        )
        if not np.array_equal(names, self._names) or not np.array_equal(self._links, self._own_size):
            raise ValueError("groups do not have as many rows as links")

    def chunks(self) -> Iterator[tuple[list[NDArray[np.int64]], list[list[NDArray[np.int64]]]]]:
        """For groups that are alike where their first rows are, their second, ..., and the same of each link."""
        for number in np.unique(self._links).tolist():
            some = np.flatnonzero(self._links == number)
            links = self._link_first[some][:, None] + np.arange(number)
            shapes, which = np.unique(self._size[links], axis=0, return_inverse=True)
            for place, shape in enumerate(shapes.tolist()):
                here = np.flatnonzero(which.ravel() == place)
                for first in range(0, len(here), _CHUNK):
                    at = here[first : first + _CHUNK]
                    own = self._own_first[some[at]]
                    yield (
                        [self._own_order[own + i] for i in range(number)],
                        [[self._order[self._first[links[at, i]] + j] for j in range(n)] for i, n in enumerate(shape)],
                    )


class _Sums:
    """Sums over links and over groups."""

    def __init__(self, queries: int, links: bool) -> None:
        self._queries, self._with_links = queries, links
        self._of_links: dict[int, tuple[Totals, Totals]] = {}
        self._of_groups = {name: Totals(_CHUNK) for name in _SUMS[2:]}

    def add(self, own: list[Plane], others: list[list[Plane]]) -> None:
        """Those of groups with as many rows, and of their links with as many."""
        satisfying, failing = counted(own), counted([~one for one in own])
        some, all_ = _either(own), _both(own)
        possible: list[Plane] = []
        unsure: list[Plane] = []
        by_itself: list[Plane] = []
        for other in others:
            if self._with_links:
                self._add_link(satisfying, counted(other), len(own) * len(other))
            may, must = some & _either(other), _both(other)
            possible.append(may)
            unsure.append(may & ~(all_ & must))
            by_itself.append(may & ~must)
        held, open_, fails, narrow = alike(satisfying, counted(unsure), failing, counted(by_itself))
        found = {"possible": counted(possible), "open": open_, "satisfying": lesser(open_, held)}
        found["apart"] = lesser(open_, fails)
        found["failing"] = lesser(*alike(open_, plus(fails, lesser(held, narrow))))
        for name, planes in found.items():
            self._of_groups[name].add_number(planes)

    def _add_link(self, own: list[Plane], other: list[Plane], total: int) -> None:
        hits, square = self._of_links.setdefault(total, (Totals(_CHUNK), Totals(_CHUNK)))
        for place, plane in product(own, other):
            hits.add(place, plane)
        for place, plane in squares(own):
            for further, one in squares(other):
                square.add(place + further, plane & one)

    def totals(self) -> list[dict[str, object]]:
        groups = {name: total.counts(self._queries) for name, total in self._of_groups.items()}
        found: list[dict[str, object]] = [dict(groups)]
        for number, (hits, square) in self._of_links.items():
            sums = {"hits": hits.counts(self._queries), "squares": square.counts(self._queries)}
            found.append({"total": number, **sums})
        return found


def _either(planes: list[Plane]) -> Plane:
    found = planes[0]
    for one in planes[1:]:
        found = found | one
    return found


def _both(planes: list[Plane]) -> Plane:
    found = planes[0]
    for one in planes[1:]:
        found = found & one
    return found
