"""The search by itself, with counts of suppressed rows and losses that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import PolicyError
from sqlanon.methods.shared.lattice.losses.base import additive
from sqlanon.methods.shared.lattice.nodes import Counted, Found, Lattice, Node, Progress, Rank, nodes_between
from sqlanon.methods.shared.lattice.search import search
from tests.oracles.lattice import best_node, nodes


def of_costs(low: Node, high: Node, costs: Sequence[Sequence[int]]) -> Lattice:
    """A lattice whose nodes lose at least the sum of what their levels cost."""
    return Lattice(low, high, lambda levels, rows: additive(costs, levels))


def of_bounds(low: Node, high: Node, bound: dict[Node, int]) -> Lattice:
    """A lattice with a bound of its own for each node."""
    return Lattice(low, high, lambda levels, rows: np.array([bound[tuple(map(int, node))] for node in levels]))


@dataclass
class Made:
    """A lattice with what each node's classes tell and what it loses, and a record of what the search asked for.

    `suppressed` are the rows of the classes that violate by themselves, `withheld` all
    that a release of the node leaves out, None where it cannot be published.
    """

    lattice: Lattice
    suppressed: dict[Node, int]
    excess: dict[Node, float]
    withheld: dict[Node, int | None]
    loss: dict[Node, int]
    floor: dict[Node, int | None] = field(default_factory=dict)
    least: dict[Node, int | None] = field(default_factory=dict)
    asked: list[Node] = field(default_factory=list)
    settled: list[Node] = field(default_factory=list)

    def count(self, asked: Sequence[Node]) -> list[Counted]:
        self.asked.extend(asked)
        return [
            Counted(self.suppressed[node], self.excess[node], self.floor.get(node), self.least.get(node))
            for node in asked
        ]

    def settle(self, asked: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        self.settled.extend(asked)
        found: list[tuple[int, int] | None] = []
        for node in asked:
            rows = self.withheld[node]
            better = best is None or (self.loss[node], sum(node), node) < best
            found.append(None if rows is None or not better else (self.loss[node], rows))
        return found

    def best(self, limit: int) -> tuple[int, int, Node] | None:
        def rows(node: Node) -> int:
            found = self.withheld[node]
            return limit + 1 if found is None else found

        return best_node(self.lattice.low, self.lattice.high, limit, rows, self.loss.__getitem__)

    def search(self, limit: int, **how: Any) -> Found | None:
        return search(self.lattice, limit, self.count, self.settle, **how)


def below(node: Node, other: Node) -> bool:
    return all(a <= b for a, b in zip(node, other, strict=True))


@st.composite
def made(draw: st.DrawFn) -> tuple[Made, int]:
    """Whatever the facts allow that the search relies on, and no more.

    Excess never grows from a node to one above, nor is it more than what has to be
    suppressed; a bound is no more than the loss, and a floor no more than that of any
    node above. Losses need not grow upwards, nor suppressed rows fall.
    """
    width = draw(st.integers(1, 4))
    low = tuple(draw(st.integers(0, 2)) for _ in range(width))
    high = tuple(least + draw(st.integers(0, 3 if width < 4 else 2)) for least in low)
    lattice = nodes(low, high)
    rows = draw(st.integers(0, 12))
    few = st.integers(0, rows)
    monotone = draw(st.booleans())
    own = {node: draw(few) for node in lattice}
    excess = {node: float(max(own[other] for other in lattice if below(node, other))) for node in lattice}
    suppressed = {node: int(excess[node]) + (0 if monotone else draw(st.integers(0, 3))) for node in lattice}
    # Rounds withhold more, or find that nothing can be published.
    rounds = draw(st.booleans())
    withheld: dict[Node, int | None] = {
        node: draw(st.one_of(st.none(), st.integers(suppressed[node], rows + 4))) if rounds else suppressed[node]
        for node in lattice
    }
    loss = {node: draw(st.integers(0, 40)) for node in lattice}
    bound = {node: draw(st.integers(-3, loss[node])) for node in lattice}
    floor: dict[Node, int | None] = {
        node: draw(st.one_of(st.none(), st.integers(-3, min(loss[other] for other in lattice if below(node, other)))))
        for node in lattice
    }
    least: dict[Node, int | None] = {node: draw(st.one_of(st.none(), st.integers(-3, loss[node]))) for node in lattice}
    return Made(of_bounds(low, high, bound), suppressed, excess, withheld, loss, floor, least), draw(few)


@pytest.mark.long
@given(given_case=made(), batch=st.integers(1, 6), few=st.sampled_from([0, 1000]), timed=st.booleans())
@settings(max_examples=300, deadline=None)
def test_finds_the_best_node_and_asks_for_none_twice(
    given_case: tuple[Made, int], batch: int, few: int, timed: bool
) -> None:
    case, limit = given_case
    lattice = case.lattice
    seen: list[Progress] = []
    # A search that may be cut short looks at other nodes first, and comes to the same if it is not.
    expired = (lambda: False) if timed else None
    found = case.search(limit, batch=batch, few=few, progress=seen.append, expired=expired)
    best = case.best(limit)
    event("none satisfies" if best is None else f"{lattice.size} nodes" if lattice.size < 4 else "found")
    assert (found and (found.loss, sum(found.node), found.node)) == best
    assert len(set(case.asked)) == len(case.asked) <= lattice.size
    assert set(case.settled) <= set(case.asked)
    assert len(set(case.settled)) == len(case.settled)
    if found:
        assert found.suppressed == case.withheld[found.node]
        assert found.checked == len(case.asked)
        assert found.checked + found.pruned == lattice.size
        assert (found.proven, found.least) == (True, None)
    assert all(one.nodes == lattice.size and 0 <= one.checked + one.pruned <= lattice.size for one in seen)
    done = [one.checked + one.pruned for one in seen]
    assert done == sorted(done)
    assert done[-1] == lattice.size
    assert seen[-1].loss == (found.loss if found else None)


@pytest.mark.long
@given(given_case=made(), batch=st.integers(1, 6), looks=st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_a_search_cut_short_says_how_far_the_best_may_be(given_case: tuple[Made, int], batch: int, looks: int) -> None:
    """Whatever is found in the time is a node that satisfies, and no other loses less than the bound it comes with."""
    case, limit = given_case
    left = iter(range(looks, -1, -1))
    found = case.search(limit, batch=batch, expired=lambda: next(left, 0) == 0)
    best = case.best(limit)
    assert (found is None) == (best is None)
    if not found or not best:
        return
    rows = case.withheld[found.node]
    assert rows is not None
    assert rows <= limit
    assert (found.loss, found.suppressed) == (case.loss[found.node], rows)
    if found.proven:
        assert (found.loss, sum(found.node), found.node) == best
        assert found.least is None
    else:
        assert found.least is not None
        assert found.least <= best[0] <= found.loss
        assert found.checked + found.pruned < case.lattice.size


def nothing_suppressed(of: Lattice, satisfies: Callable[[Node], bool]) -> Made:
    """Every node either satisfies or has one row too many; it loses what its bound says."""
    lattice = nodes(of.low, of.high)
    rows = {node: 0 if satisfies(node) else 1 for node in lattice}
    excess = {node: float(some) for node, some in rows.items()}
    return Made(of, rows, excess, dict(rows), {rank[2]: rank[0] for rank in of.ranks(lattice)})


def test_costs_beyond_64_bits_stay_exact() -> None:
    """Two nodes whose losses differ by 1 in 10**30: floating point would call them equal."""
    huge = 10**30
    case = nothing_suppressed(of_costs((0, 0), (1, 1), ((0, huge + 1), (0, huge))), lambda node: sum(node) > 0)
    found = case.search(0)
    assert found is not None
    assert (found.node, found.loss) == ((0, 1), huge)


def test_of_equal_losses_the_least_height_then_the_first_levels() -> None:
    case = nothing_suppressed(of_costs((0, 0, 0), (2, 2, 2), ((0, 0, 0),) * 3), lambda node: sum(node) >= 2)
    found = case.search(0, batch=4)
    assert found is not None
    assert found.node == (0, 0, 2)


def test_a_lattice_of_one_node() -> None:
    of = of_costs((2,), (2,), ((0, 0, 7),))
    assert nothing_suppressed(of, lambda node: False).search(0) is None
    found = nothing_suppressed(of, lambda node: False).search(1)
    assert found is not None
    assert (found.node, found.suppressed, found.checked, found.pruned) == ((2,), 1, 1, 0)


@pytest.mark.parametrize("choices", [(), (3,), (2, 1, 4), (1,) * 70, (1, 2) * 35])
def test_the_nodes_between_two_are_in_the_order_of_their_levels(choices: tuple[int, ...]) -> None:
    # More attributes than an array has dimensions, of which few have a choice.
    choices = tuple(levels if index < 8 else 1 for index, levels in enumerate(choices))
    low = tuple(index % 3 for index in range(len(choices)))
    high = tuple(bottom + levels - 1 for bottom, levels in zip(low, choices, strict=True))
    expected = list(product(*(range(bottom, top + 1) for bottom, top in zip(low, high, strict=True))))
    assert list(map(tuple, nodes_between(low, high).T.tolist())) == expected


def test_a_large_lattice_is_settled_with_few_checks() -> None:
    """All nodes of at least half the height satisfy; the loss is the height: 5 levels of 5 attributes."""
    case = nothing_suppressed(of_costs((0,) * 5, (4,) * 5, (range(5),) * 5), lambda node: sum(node) >= 10)
    found = case.search(0)
    assert found is not None
    assert found.loss == 10
    # Every node of height 9 has to fail first; little else needs to be asked.
    frontier = sum(sum(node) == 9 for node in product(range(5), repeat=5))
    assert frontier <= len(case.asked) < frontier + 100


def test_a_lattice_that_is_nearly_satisfied_is_settled_from_below() -> None:
    """All nodes but the least general one satisfy; the loss is the height: 5 levels of 5 attributes."""
    of, low = of_costs((0,) * 5, (4,) * 5, (range(5),) * 5), (0,) * 5
    asked: dict[int, int] = {}
    for rows in (20, 21):
        suppressed = {node: rows if node == low else 0 for node in nodes(of.low, of.high)}
        excess = {node: float(some) for node, some in suppressed.items()}
        case = Made(of, suppressed, excess, dict(suppressed), {node: sum(node) for node in suppressed})
        found = case.search(2, batch=32)
        assert found is not None
        assert (found.node, found.loss) == ((0, 0, 0, 0, 1), 1)
        asked[rows] = len(case.asked)
    # Both ends, then the eight nodes of least bound, of which one has the least loss; or some in the middle first.
    assert asked[20] == 10 < asked[21]


def test_the_floor_of_a_node_rules_out_those_above() -> None:
    """Marginal counts tell nothing, but classes do: a loss that grows upwards needs no look above what satisfies."""
    of = of_costs((0,) * 4, (4,) * 4, ((0,) * 5,) * 4)
    case = nothing_suppressed(of, lambda node: True)
    case.loss = {node: 1 + sum(node) for node in case.loss}
    unaided = Made(of, case.suppressed, case.excess, case.withheld, case.loss)
    case.floor = dict(case.loss)
    found, other = case.search(0, batch=8), unaided.search(0, batch=8)
    assert found is not None
    assert other is not None
    assert found.node == other.node == (0,) * 4
    assert len(case.asked) < len(unaided.asked) == of.size


def test_too_many_nodes_are_refused_with_what_to_do() -> None:
    case = of_costs((0,) * 9, (9,) * 9, (range(10),) * 9)
    with pytest.raises(PolicyError, match="1,000,000,000 nodes") as raised:
        search(case, 0, lambda some: [Counted(0, 0.0) for _ in some], lambda some, best: [(0, 0) for _ in some])
    assert "MAX LEVEL" in str(raised.value)
