"""Decides which waiting rows leave together, from codes of their values: the rule of a stream.

The oldest due row leaves with the rows of the k - 1 nearest other respondents, and with one row of each further
respondent that the label of these rows covers. It leaves alone if there are fewer respondents, or if the label would be
too general. Each class takes rows that a later class cannot have, so classes are made one after the other; each is
made by a few operations on arrays of all its candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sqlanon.republication.streams.axes import Axis, Codes, Distances

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Rows: TypeAlias = NDArray[np.int64]


def departures(blocks: Iterable[tuple[int, Arrays]], axes: Sequence[Axis], k: int) -> Iterator[tuple[int, int, bool]]:
    """Yields the rows that leave: their position, the position of the due row with which they leave, and whether they
    form a class.

    A block is an end and rows: the waiting rows below the position `end` that no earlier block had. The rows have their
    position, horizon (the last position of a row that may leave with the row, -1 if it is not due), respondent, and
    the codes of the axes, in order of position.
    """
    rest: Arrays = {}
    for end, block in blocks:
        rows = {name: np.concatenate([rest[name], part]) if rest else part for name, part in block.items()}
        staying = np.ones(len(rows["position"]), dtype=bool)
        position = rows["position"].tolist()
        for due, members, formed in _classes(rows, end, staying, axes, k):
            staying[members] = False
            yield from ((position[row], position[due], formed) for row in members)
        rest = {name: part[staying] for name, part in rows.items()}


def _classes(
    rows: Arrays, end: int, staying: NDArray[np.bool_], axes: Sequence[Axis], k: int
) -> Iterator[tuple[int, list[int], bool]]:
    """Yields each staying due row with the rows that leave with it, itself included, and whether these form a class.

    Rows are given by their indices. Ends at the first row that may leave with rows at the position `end` or later. The
    caller marks the yielded rows as no longer `staying`.
    """
    reaches = np.searchsorted(rows["position"], rows["horizon"], side="right")
    candidates, read = np.zeros(0, dtype=np.int64), 0
    for due in np.flatnonzero(rows["horizon"] >= 0).tolist():
        if rows["horizon"][due] >= end:
            return
        if not staying[due]:
            continue
        reach = int(reaches[due])
        if reach > read:
            candidates, read = np.concatenate([candidates, np.arange(read, reach)]), reach
        candidates = candidates[staying[candidates]]
        within = candidates if reach == read else candidates[: np.searchsorted(candidates, reach)]
        members, formed = _class(
            axes,
            k,
            [[rows[name][within] for name in axis.code_names] for axis in axes],
            rows["respondent"][within],
            int(np.searchsorted(within, due)),
        )
        yield due, within[members].tolist(), formed


def _class(axes: Sequence[Axis], k: int, codes: Sequence[Codes], respondents: Rows, due: int) -> tuple[list[int], bool]:
    """Returns the candidates that leave with the row `due`, and whether they form a class."""
    distances = [axis.distance(of_axis, due) for axis, of_axis in zip(axes, codes, strict=True)]
    # Added from left to right, because another order may give another DOUBLE.
    weighted = (float(axis.bound.attribute.weight) * part for axis, part in zip(axes, distances, strict=True))
    total = next(weighted)
    for part in weighted:
        total = total + part
    members = [due, *_nearest(total, respondents, due, k - 1)]
    if len(members) < k:
        return [due], False
    covered = np.ones(len(total), dtype=bool)
    for axis, of_axis, part in zip(axes, codes, distances, strict=True):
        inside = axis.inside(of_axis, part, members)
        if inside is None:
            return [due], False
        covered &= inside
    chosen = dict(zip(respondents[members].tolist(), members, strict=True))
    others = np.flatnonzero(covered)
    for row, respondent in zip(others.tolist(), respondents[others].tolist(), strict=True):
        chosen.setdefault(respondent, row)
    return list(chosen.values()), True


def _nearest(distances: Distances, respondents: Rows, due: int, others: int) -> list[int]:
    """Returns one row, the nearest, of each of the `others` nearest respondents; the respondent of `due` is left out.

    Of equally near rows the earliest is taken. There are fewer rows in the result if there are fewer respondents.
    """
    respondent_of_due, count = int(respondents[due]), 2 * others
    while True:
        near = np.arange(len(distances))
        if count < len(near):
            limit = np.partition(distances, count)[count]
            # NaN, the quotient of two infinite numbers, is farther than any number.
            if not np.isnan(limit):
                near = np.flatnonzero(distances <= limit)
        near = near[np.argsort(distances[near], kind="stable")]
        chosen: dict[int, int] = {}
        for row, respondent in zip(near.tolist(), respondents[near].tolist(), strict=True):
            if respondent != respondent_of_due:
                chosen.setdefault(respondent, row)
                if len(chosen) == others:
                    return list(chosen.values())
        if len(near) == len(distances):
            return list(chosen.values())
        count *= 8
