"""Searches with a time limit, which report their progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from time import monotonic

from sqlanon.domain.context import Watching
from sqlanon.methods.shared.lattice.annealing import anneal
from sqlanon.methods.shared.lattice.node_arrays import NodeArrays
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.nodes import Found, Lattice, Node, Progress, Rank, Settle, sizes
from sqlanon.methods.shared.lattice.search import Count, raised, search


class TimedSearches:
    """The searches of one statement, which share its time: `time_limit` seconds, unlimited if None."""

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
        """Finds the best node by `search`; `value` converts a loss from the search's unit to the unit of reports."""
        expired, progress = None if self._until is None else self.expired, self._progress(value)
        return search(lattice, limit, count, settle, batch=batch, few=few, progress=progress, expired=expired)

    def best_in_memory(self, nodes: Nodes, limit: int, arrays: NodeArrays) -> Found | None:
        """Finds the best node as `best` does, with nodes that are counted by `arrays`.

        If the time is limited, and the lattice is too large for a complete search, a good node is found by `anneal`.
        """
        lattice, value = nodes.lattice, nodes.loss.value
        if self._until is not None and lattice.size > sizes().max_nodes:
            smaller, counted = raised(lattice, limit, arrays.count)
            if smaller.size > sizes().max_nodes:
                outside = counted, lattice.size - smaller.size - counted
                return anneal(
                    arrays,
                    smaller,
                    limit,
                    nodes.settle,
                    outside=outside,
                    progress=self._progress(value),
                    expired=self.expired,
                )
        count = partial(nodes.count_in_memory, arrays)

        def settle_all(some: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
            return nodes.settle_in_memory(arrays, some)

        return self.best(lattice, limit, count, settle_all, value, batch=sizes().batch)

    def expired(self) -> bool:
        """Whether the time limit is over."""
        return self._until is not None and monotonic() > self._until

    def _progress(self, value: Callable[[int], Fraction]) -> Callable[[Progress], None] | None:
        """Returns a function that reports the nodes that were counted and ruled out, and the least loss so far; None
        if nobody is watching.
        """
        return None if self._watching is None else _reported(self._watching, value)


def _reported(watching: Watching, value: Callable[[int], Fraction]) -> Callable[[Progress], None]:
    def report(seen: Progress) -> None:
        best = "" if seen.loss is None else f", best loss {float(value(seen.loss)):.6g}"
        detail = f"{seen.checked} of {seen.nodes} nodes checked, {seen.pruned} ruled out{best}"
        watching("solve", seen.checked + seen.pruned, seen.nodes, detail)

    return report
