"""Searches of a lattice that end when their time is up, and report how far they have come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from time import monotonic

from sqlanon.domain.watching import Watching
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.lattice.search import search
from sqlanon.methods.shared.lattice.types import Counted, Found, Lattice, Progress, Settle

Count = Callable[[Sequence[Node]], Sequence[Counted]]


class TimedSearches:
    """Searches of one statement, which share its time: `time_limit` seconds, or as long as it takes."""

    def __init__(self, time_limit: Decimal | None, watching: Watching | None) -> None:
        self._until = None if time_limit is None else monotonic() + float(time_limit)
        self._watching = watching

    def best(
        self,
        lattice: Lattice,
        limit: int,
        count: Count,
        settle: Settle,
        value: Callable[[int], Fraction],
        *,
        batch: int = 1,
        few: int = 0,
    ) -> Found | None:
        """The best node, as `search` finds it; `value` is a loss as it is published, not in the units of the search."""
        progress = None if self._watching is None else _reported(self._watching, value)
        expired = None if self._until is None else self.expired
        return search(lattice, limit, count, settle, batch=batch, few=few, progress=progress, expired=expired)

    def expired(self) -> bool:
        """Whether time is up."""
        return self._until is not None and monotonic() > self._until


def _reported(watching: Watching, value: Callable[[int], Fraction]) -> Callable[[Progress], None]:
    """Tells the observer how many nodes have been checked and ruled out, and the least loss so far."""

    def report(seen: Progress) -> None:
        best = "" if seen.loss is None else f", best loss {float(value(seen.loss)):.6g}"
        detail = f"{seen.checked} of {seen.nodes} nodes checked, {seen.pruned} ruled out{best}"
        watching("solve", seen.checked + seen.pruned, seen.nodes, detail)

    return report
