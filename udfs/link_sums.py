"""Sums over links between the groups of two tables, from which counts are estimated and bounded, for many queries.

A group has as many rows as links, and each link leads to a group of the other table: a row of the source has the values
of one row of each group. If s of t rows of one group and s' of t' rows of the other satisfy a query, their link may
satisfy it if s and s' are positive, certainly does if s = t and s' = t', and does with the probability s s' / (t t').
Summed over links are s s' and its square, for each t t'; summed over groups are the terms of the bounds in
by_links.sql.

Groups come in blocks. A block lists the codes of the groups' own rows, with the group and the conditions that the
labels satisfy, and the codes of each link's rows in the other table, with their link and group. The first result has
the sums over all blocks of a call. It begins with the number of wrong groups: groups with another number of rows than
links, and links that lead to no rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sqlanon.estimates.batch.code_layout import LINK_BITS
from sqlanon.estimates.batch.label_masks import (
    MOST_LOCAL,
    Codes,
    Numbers,
    Plane,
    Totals,
    fields,
    in_order,
    lists,
    rows_of,
    sizes_of,
    sort_bits,
)

__all__ = ["PARAMETERS", "RETURNS", "link_sums"]

PARAMETERS = ("STRUCT(own BIGINT[], other BIGINT[], link BIGINT[])",)
_SUMS = ("hits", "squares", "possible", "open", "satisfying", "failing", "apart")
RETURNS = f"STRUCT(wrong BIGINT, total BIGINT, {', '.join(f'{name} BIGINT[]' for name in _SUMS)})[]"

# The number of groups whose masks are looked up at a time.
_CHUNK = 4096
# The number of groups whose masks are added up at a time: they fit a processor's cache.
_STEP = 512

_LISTS = ((name, pa.list_(pa.int64())) for name in _SUMS)
_RESULT = pa.list_(pa.struct([("wrong", pa.int64()), ("total", pa.int64()), *_LISTS]))


def link_sums(blocks: pa.Array | pa.ChunkedArray, own_codes: Codes, other_codes: Codes, links: bool) -> pa.Array:
    """Returns the sums of each query over the groups of all blocks and, with `links`, over their links."""
    group_rows, other, link = fields(blocks)
    blocks_of_codes = zip(
        rows_of(group_rows, own_codes.count), rows_of(other, other_codes.count), lists(link), strict=True
    )
    sums, wrong = _Sums(own_codes.queries, links), 0
    for rows, led, of_link in blocks_of_codes:
        groups = _Groups(rows, led, of_link)
        wrong += groups.wrong
        if not wrong:
            for own_rows, other_rows in groups.chunks():
                sums.add(
                    own_codes.satisfied(own_rows), [other_codes.satisfied(linked_rows) for linked_rows in other_rows]
                )
    found = [{"wrong": wrong}, *([] if wrong else sums.totals())]
    return pa.array([found] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


class _Groups:
    """The rows of groups, sorted by group, and the linked rows, sorted by link.

    The links of a group begin at the same index as its rows; each link has a number of linked rows.
    """

    def __init__(self, group_rows: Numbers, linked_rows: Numbers, link: Numbers) -> None:
        order = np.argsort(link)
        self._own, self._other = in_order(group_rows), linked_rows[:, order]
        link = link[order]
        new = np.ones(len(link), dtype=bool)
        new[1:] = link[1:] != link[:-1]
        self._start = np.flatnonzero(new)
        self._size = np.diff(np.append(self._start, len(link)))
        group_of_link = link[self._start] >> LINK_BITS
        self._count = np.bincount(group_of_link, minlength=MOST_LOCAL)
        self._first = np.cumsum(self._count) - self._count
        if len(self._size) and self._size.min() != self._size.max():
            # Sorts the links of a group by their number of linked rows.
            by_size = np.lexsort((self._size, group_of_link))
            self._start, self._size = self._start[by_size], self._size[by_size]
        uneven = np.count_nonzero(self._count != sizes_of(group_rows))
        self.wrong = int(uneven) + int(np.count_nonzero(linked_rows[0] < 0))

    def chunks(self) -> Iterator[tuple[Numbers, list[Numbers]]]:
        """Yields groups with equally many rows and equal sizes of links: their rows, and the rows of each link."""
        for number in (np.flatnonzero(np.bincount(self._count)[1:]) + 1).tolist():
            links = self._first[self._count == number][:, None] + np.arange(number)
            sizes = self._size[links]
            if sizes.min() == sizes.max():
                # The usual case; finding the different shapes would take longer than all the rest.
                shapes, which = sizes[:1], np.zeros(len(links), dtype=np.int64)
            else:
                shapes, which = np.unique(sizes, axis=0, return_inverse=True)
            for index, shape in enumerate(shapes.tolist()):
                alike = links[which.ravel() == index]
                for begin in range(0, len(alike), _CHUNK):
                    chunk = alike[begin : begin + _CHUNK]
                    positions = chunk[:, 0] + np.arange(number)[:, None]
                    led = (self._start[chunk[:, i]] + np.arange(n)[:, None] for i, n in enumerate(shape))
                    yield self._own[:, positions], [self._other[:, at] for at in led]


class _Sums:
    """Sums over links and over groups.

    It counts the groups, or links, with at least a number of satisfying rows. Numbers of rows, their products and the
    lesser of two numbers are sums of these counts.
    """

    def __init__(self, queries: int, links: bool) -> None:
        self._queries, self._with_links = queries, links
        # By the numbers of rows on both sides: the links with at least i and j satisfying rows on them.
        self._of_links: dict[tuple[int, int], Totals] = {}
        self._of_groups = Totals(_STEP)

    def add(self, group_masks: Plane, others: list[Plane]) -> None:
        """Adds the masks of groups with equally many rows, whose links have equally many linked rows."""
        for masks in (group_masks, *others):
            sort_bits(masks)
        for first in range(0, group_masks.shape[1], _STEP):
            chunk = slice(first, first + _STEP)
            self._add(group_masks[:, chunk], [other[:, chunk] for other in others])

    def _add(self, group_masks: Plane, others: list[Plane]) -> None:
        """Adds groups and their links; the mask at index i has the bits of queries that more than i rows satisfy."""
        n = len(group_masks)
        possible, unsure, narrow = (np.empty_like(group_masks) for _ in range(3))
        for link, other in enumerate(others):
            if self._with_links:
                totals = self._of_links.setdefault((n, len(other)), Totals(_STEP))
                totals.add(0, group_masks[:, None] & other[None])
            np.bitwise_and(group_masks[0], other[0], out=possible[link])
            np.bitwise_and(possible[link], ~(group_masks[-1] & other[-1]), out=unsure[link])
            np.bitwise_and(possible[link], ~other[-1], out=narrow[link])
        sort_bits(unsure)
        sort_bits(narrow)
        for index, open_ in enumerate(unsure):
            # Queries whose failing rows and narrow links (not all linked rows satisfy) are together at most `index`.
            beyond = group_masks[-1 - index] & ~narrow[0]
            for less in range(1, index + 1):
                beyond |= group_masks[less - 1 - index] & ~narrow[less]
            found = np.stack(
                [
                    possible[index],
                    open_,
                    open_ & group_masks[index],
                    open_ & ~beyond,
                    open_ & ~group_masks[n - 1 - index],
                ]
            )
            self._of_groups.add(0, found)

    def totals(self) -> list[dict[str, object]]:
        groups = self._of_groups.counts(self._queries)
        found: list[dict[str, object]] = [
            dict(zip(_SUMS[2:], np.broadcast_to(groups, (5, self._queries)), strict=True))
        ]
        for (n, m), totals in self._of_links.items():
            pairs, i, j = totals.counts(self._queries), np.arange(n)[:, None, None], np.arange(m)[None, :, None]
            squares = (2 * i + 1) * (2 * j + 1) * pairs
            found.append({"total": n * m, "hits": pairs.sum(axis=(0, 1)), "squares": squares.sum(axis=(0, 1))})
        return found
