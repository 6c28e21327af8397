"""Lattices that are too large to hold, on small ones: the search without the limit is the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as counter
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.methods.shared.lattice.nodes import Counted, Found, Lattice, Node, sizes
from sqlanon.methods.shared.lattice.search import raised, search
from tests.oracles.lattice import best_node, nodes


class Made:
    """A lattice over random rows, each with the level at which each attribute of it is common enough."""

    def __init__(self, high: Node, rows: Sequence[Node]) -> None:
        self.rows = rows
        self.lattice = Lattice(tuple(0 for _ in high), high, self.bounds)

    def bounds(self, levels: Any, withheld: int = 0) -> Any:
        return np.asarray(levels, dtype=np.int64).sum(axis=1) * len(self.rows)

    def suppressed(self, node: Node) -> int:
        return sum(any(level < need for level, need in zip(node, row, strict=True)) for row in self.rows)

    def loss(self, node: Node) -> int:
        return sum(node) * len(self.rows) + 3 * self.suppressed(node)

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        return [Counted(self.suppressed(node), float(self.suppressed(node))) for node in nodes]

    def settle(self, nodes: Sequence[Node], best: object) -> list[tuple[int, int]]:
        return [(self.loss(node), self.suppressed(node)) for node in nodes]

    def best(self, limit: int) -> tuple[int, int, Node] | None:
        return best_node(self.lattice.low, self.lattice.high, limit, self.suppressed, self.loss)


@st.composite
def made(draw: st.DrawFn) -> Made:
    high = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)))
    row = st.tuples(*(st.integers(0, top) for top in high))
    return Made(high, draw(st.lists(row, min_size=1, max_size=12)))


def found_rank(found: Found | None) -> tuple[int, int, Node] | None:
    return found and (found.loss, sum(found.node), found.node)


@given(case=made(), limit=st.integers(0, 12), batch=st.sampled_from([1, 4, 32]))
@settings(max_examples=150, deadline=None)
def test_levels_that_nothing_can_have_are_left_out_first(case: Made, limit: int, batch: int) -> None:
    lattice, looked = raised(case.lattice, limit, case.count)
    satisfying = [node for node in nodes(case.lattice.low, case.lattice.high) if case.suppressed(node) <= limit]
    assert all(all(a >= b for a, b in zip(node, lattice.low, strict=True)) for node in satisfying)
    assert looked <= sum(case.lattice.high) + len(case.lattice.high)
    with sizes.replaced(raise_from=0):
        found = search(case.lattice, limit, case.count, case.settle, batch=batch)
    assert found_rank(found) == case.best(limit)
    assert found is None or found.proven
    assert found is None or found.checked + found.pruned == case.lattice.size


@given(case=made(), limit=st.integers(0, 12), turns=st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_under_a_time_limit_a_lattice_that_is_too_large_gives_a_node_and_a_bound(
    case: Made, limit: int, turns: int
) -> None:
    best = case.best(limit)
    clock = counter()
    with sizes.replaced(max_nodes=0, raise_from=0):
        found = search(case.lattice, limit, case.count, case.settle, expired=lambda: next(clock) >= turns)
    # Rows suppressed at the top are suppressed everywhere, so one that satisfies at all does so at the top.
    assert (found is None) == (best is None)
    if found is None or best is None:
        return
    assert not found.proven
    assert case.suppressed(found.node) == found.suppressed <= limit
    assert found.least is not None
    assert found.least <= best[0] <= found.loss == case.loss(found.node)


@given(case=made(), limit=st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_with_time_enough_a_lattice_that_is_too_large_gives_the_best_node(case: Made, limit: int) -> None:
    with sizes.replaced(max_nodes=0, raise_from=0, batch=3):
        found = search(case.lattice, limit, case.count, case.settle, expired=lambda: False)
    assert found_rank(found) == case.best(limit)
    assert found is None or found.checked <= case.lattice.size + sum(case.lattice.high) + len(case.lattice.high)


@given(case=made(), limit=st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_a_search_that_is_stopped_says_how_far_the_best_may_be(case: Made, limit: int) -> None:
    best = case.best(limit)
    found = search(case.lattice, limit, case.count, case.settle, batch=2, expired=lambda: True)
    assert (found is None) == (best is None)
    if found is not None and best is not None:
        assert found.loss == case.loss(found.node)
        assert found.loss == best[0] if found.proven else found.least is not None and found.least <= best[0]


class Dear(Made):
    """78,125 nodes of seven attributes, whose levels cost more the further up, and 150 rows that need some of them."""

    _ATTRIBUTES, _TOP = 7, 4

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        attributes = range(self._ATTRIBUTES)
        rows = [tuple(min(self._TOP, int(random.expovariate(1))) for _ in attributes) for _ in range(150)]
        levels = range(self._TOP + 1)
        self._cost = np.array([[int((level / 4) ** 1.5 * 1000 * (1 + i % 3)) for level in levels] for i in attributes])
        super().__init__((self._TOP,) * self._ATTRIBUTES, rows)

    def bounds(self, levels: Any, withheld: int = 0) -> Any:
        base = sum(self._cost[index][np.asarray(levels)[:, index]] for index in range(self._ATTRIBUTES))
        return base * len(self.rows) + withheld * (self._cost[:, self._TOP].sum() - base)

    def loss(self, node: Node) -> int:
        return int(self.bounds([node], self.suppressed(node))[0])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_a_search_that_is_stopped_after_six_batches_is_close_to_the_best(seed: int) -> None:
    case, batches = Dear(seed), iter(range(6))
    whole = search(case.lattice, 45, case.count, case.settle, batch=32)
    found = search(case.lattice, 45, case.count, case.settle, batch=32, expired=lambda: next(batches, None) is None)
    assert found is not None
    assert whole is not None
    assert not found.proven
    assert whole.proven
    assert found.checked < whole.checked / 4
    assert found.loss <= 1.01 * whole.loss


class Trap(Made):
    """A lattice whose first attribute, at its top, lets the eight others be at the bottom; else these share 20 levels.

    Its top costs ten levels. So a node that gives up the first attribute loses less for a long way, but not in the end.
    """

    def __init__(self) -> None:
        super().__init__((1, *(4,) * 8), [(0,) * 9])

    def bounds(self, levels: Any, withheld: int = 0) -> Any:
        return np.asarray(levels, dtype=np.int64) @ np.array([10, *(1,) * 8])

    def suppressed(self, node: Node) -> int:
        return 0 if node[0] else max(0, 20 - sum(node[1:]))

    def loss(self, node: Node) -> int:
        return 10 * node[0] + sum(node[1:])


def test_a_way_up_leaves_the_valley_that_a_way_down_enters() -> None:
    case, counted = Trap(), list[Node]()

    def count(nodes: Sequence[Node]) -> list[Counted]:
        counted.extend(nodes)
        return case.count(nodes)

    with sizes.replaced(max_nodes=0, raise_from=10**9):
        found = search(case.lattice, 0, count, case.settle, expired=lambda: len(counted) > 500)
    assert found_rank(found) == (10, 1, (1, *(0,) * 8))


def test_without_a_time_limit_a_lattice_that_is_too_large_is_refused() -> None:
    case = Made((4,) * 6, [(0,) * 6])
    refused = pytest.raises(PolicyError, match="the lattice has 15,625 nodes, more than 1,000")
    with sizes.replaced(max_nodes=1000), refused:
        search(case.lattice, 0, case.count, case.settle)
