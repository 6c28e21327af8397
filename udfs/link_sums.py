"""What counts come to over groups of rows that are linked to groups of others, for each of many queries.

A group has as many rows as links, and each of its links leads to a group of another fragment: a row of the source has
the values of one row of either. With s of t and s' of t' rows that satisfy, a link may satisfy if both are more than 0,
does for certain if both are all, and s s' / (t t') is how likely it does. Added up over links are s s' and its square,
for each t t', and over the groups what bounds are made of in by_links.sql.

Groups come in blocks: a list of the codes of their rows, which say what their labels satisfy and of which group they
are, and the same of each link's rows in the other fragment, with the links and groups that these are of. The sums stand
in one result for all blocks of a call, first of all how many groups are wrong: they do not have as many rows as links,
or a link leads to no rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sqlanon.workload.answering import Codes
from sqlanon.workload.blocks import MOST_LOCAL, Numbers, fields, in_order, lists, rows_of
from sqlanon.workload.labelled import LINK_BITS
from sqlanon.workload.planes import Plane, Totals, descending

__all__ = ["PARAMETERS", "RETURNS", "link_sums"]

PARAMETERS = ("STRUCT(own BIGINT[], other BIGINT[], link BIGINT[])",)
_SUMS = ("hits", "squares", "possible", "open", "satisfying", "failing", "apart")
RETURNS = f"STRUCT(wrong BIGINT, total BIGINT, {', '.join(f'{name} BIGINT[]' for name in _SUMS)})[]"

# So many groups at a time: their masks fit a processor's cache.
_CHUNK = 1024

_LISTS = ((name, pa.list_(pa.int64())) for name in _SUMS)
_RESULT = pa.list_(pa.struct([("wrong", pa.int64()), ("total", pa.int64()), *_LISTS]))


def link_sums(blocks: pa.Array | pa.ChunkedArray, own_codes: Codes, other_codes: Codes, links: bool) -> pa.Array:
    """The sums of each query; those over `links` only where they are asked for."""
    own, other, link = fields(blocks)
    every = zip(rows_of(own, own_codes.count), rows_of(other, other_codes.count), lists(link), strict=True)
    sums, wrong = _Sums(own_codes.queries, links), 0
    for rows, led, of_link in every:
        groups = _Groups(rows, led, of_link)
        wrong += groups.wrong
        if not wrong:
            for own_rows, other_rows in groups.chunks():
                sums.add(
                    [own_codes.satisfied(one) for one in own_rows],
                    [[other_codes.satisfied(one) for one in some] for some in other_rows],
                )
    found = [{"wrong": wrong}, *([] if wrong else sums.totals())]
    return pa.array([found] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


class _Groups:
    """The rows of groups in their order, and the rows that their links lead to in the order of these.

    Groups have a number of links, which begin at one place with their rows; each link leads to a number of rows.
    """

    def __init__(self, own: Numbers, other: Numbers, link: Numbers) -> None:
        order = np.argsort(link)
        (self._own, rows), self._other = in_order(own), other[:, order]
        link = link[order]
        new = np.ones(len(link), dtype=bool)
        new[1:] = link[1:] != link[:-1]
        self._start = np.flatnonzero(new)
        self._size = np.diff(np.append(self._start, len(link)))
        group_of_link = link[self._start] >> LINK_BITS
        self._count = np.bincount(group_of_link, minlength=MOST_LOCAL)
        self._first = np.cumsum(self._count) - self._count
        if len(self._size) and self._size.min() != self._size.max():
            # Links of a group in the order of how many rows they lead to.
            by_size = np.lexsort((self._size, group_of_link))
            self._start, self._size = self._start[by_size], self._size[by_size]
        uneven = np.count_nonzero(self._count != rows)
        self.wrong = int(uneven) + int(np.count_nonzero(other[0] < 0))

    def chunks(self) -> Iterator[tuple[list[Numbers], list[list[Numbers]]]]:
        """For some groups that are alike their first rows, their second, ..., and the same of each link."""
        for number in (np.flatnonzero(np.bincount(self._count)[1:]) + 1).tolist():
            links = self._first[self._count == number][:, None] + np.arange(number)
            shapes, which = np.unique(self._size[links], axis=0, return_inverse=True)
            for index, shape in enumerate(shapes.tolist()):
                alike = links[which.ravel() == index]
                for begin in range(0, len(alike), _CHUNK):
                    some = alike[begin : begin + _CHUNK]
                    own = [self._own[:, some[:, i]] for i in range(number)]
                    led = (self._start[some[:, i]] for i in range(number))
                    yield own, [[self._other[:, at + j] for j in range(n)] for at, n in zip(led, shape, strict=True)]


class _Sums:
    """Sums over links and over groups.

    What is counted is how many groups, or links, have at least so many rows that satisfy: numbers, their products and
    the lesser of two add up from these.
    """

    def __init__(self, queries: int, links: bool) -> None:
        self._queries, self._with_links = queries, links
        # How many links have at least i rows that satisfy, and lead to j: of those with so many rows of either.
        self._of_links: dict[tuple[int, int], dict[tuple[int, int], Totals]] = {}
        self._of_groups = {name: Totals(_CHUNK) for name in _SUMS[2:]}

    def add(self, own: list[Plane], others: list[list[Plane]]) -> None:
        """Those of groups with as many rows, and of their links with as many."""
        n, satisfying = len(own), descending(own)
        possible: list[Plane] = []
        unsure: list[Plane] = []
        by_itself: list[Plane] = []
        for other in others:
            found = descending(other)
            if self._with_links:
                self._add_link(satisfying, found)
            may, must = satisfying[0] & found[0], found[-1]
            possible.append(may)
            unsure.append(may & ~(satisfying[-1] & must))
            by_itself.append(may & ~must)
        narrow = descending(by_itself)
        for plane in possible:
            self._of_groups["possible"].add(0, plane)
        for index, open_ in enumerate(descending(unsure)):
            # The rows that satisfy beyond the narrow links are more than those of which this many are open.
            beyond = satisfying[-1 - index] & ~narrow[0]
            for less in range(1, index + 1):
                beyond |= satisfying[less - 1 - index] & ~narrow[less]
            self._of_groups["open"].add(0, open_)
            self._of_groups["satisfying"].add(0, open_ & satisfying[index])
            self._of_groups["apart"].add(0, open_ & ~satisfying[n - 1 - index])
            self._of_groups["failing"].add(0, open_ & ~beyond)

    def _add_link(self, own: list[Plane], other: list[Plane]) -> None:
        sizes = len(own), len(other)
        if sizes not in self._of_links:
            pairs = ((i, j) for i in range(1, sizes[0] + 1) for j in range(1, sizes[1] + 1))
            self._of_links[sizes] = {pair: Totals(_CHUNK) for pair in pairs}
        for (i, j), total in self._of_links[sizes].items():
            total.add(0, own[i - 1] & other[j - 1])

    def totals(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = [
            {name: total.counts(self._queries) for name, total in self._of_groups.items()}
        ]
        for sizes, pairs in self._of_links.items():
            hits = np.zeros(self._queries, dtype=np.int64)
            squares = np.zeros(self._queries, dtype=np.int64)
            for (i, j), total in pairs.items():
                count = total.counts(self._queries)
                hits += count
                squares += (2 * i - 1) * (2 * j - 1) * count
            found.append({"total": sizes[0] * sizes[1], "hits": hits, "squares": squares})
        return found
