"""The search by itself, with counts of suppressed rows and losses that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import PolicyError
from sqlanon.search.lattice import Lattice, Node, search
from tests.oracles.lattice import best_node, nodes


class Made:
    """A lattice with what each node suppresses and loses, and a record of what the search asked for."""

    def __init__(self, lattice: Lattice, suppressed: dict[Node, int], loss: dict[Node, int]) -> None:
        self.lattice = lattice
        self.suppressed = suppressed
        self.loss = loss
        self.asked: list[Node] = []

    def count(self, asked: Sequence[Node]) -> list[int]:
        self.asked.extend(asked)
        return [self.suppressed[node] for node in asked]


@st.composite
def made(draw: st.DrawFn) -> tuple[Made, int]:
    """Rows fall into classes along each attribute's levels, so that counts are monotone as those of k-anonymity."""
    width = draw(st.integers(1, 4))
    low = tuple(draw(st.integers(0, 2)) for _ in range(width))
    high = tuple(least + draw(st.integers(0, 3)) for least in low)
    rows = draw(st.integers(0, 20))
    # Each node suppresses what it does by itself, or more where a more general node does.
    own = {node: draw(st.integers(0, rows)) if rows else 0 for node in nodes(low, high)}
    suppressed = {
        node: max((own[other] for other in own if all(a <= b for a, b in zip(node, other, strict=True))), default=0)
        for node in own
    }
    row = draw(st.integers(1, 30)) * width
    costs = tuple(
        (0,) * least + tuple(sorted(draw(st.integers(0, rows * row // width)) for _ in range(most - least + 1)))
        for least, most in zip(low, high, strict=True)
    )
    lattice = Lattice(low, high, costs, row)
    loss = {}
    for node in own:
        # A suppressed row's loss is at most that of all its cells, and at least what its recoding lost.
        bound = lattice.bound(node)
        more = min(suppressed[node] * row, rows * row - bound)
        loss[node] = bound + (draw(st.integers(0, more)) if suppressed[node] else 0)
    return Made(lattice, suppressed, loss), draw(st.integers(0, rows))


@given(given_case=made(), batch=st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_finds_the_best_node_and_asks_for_none_twice(given_case: tuple[Made, int], batch: int) -> None:
    case, limit = given_case
    lattice = case.lattice
    progress: list[tuple[int, int]] = []
    found = search(
        lattice, limit, case.count, case.loss.__getitem__, batch=batch, progress=lambda *at: progress.append(at)
    )
    best = best_node(lattice.low, lattice.high, limit, case.suppressed.__getitem__, case.loss.__getitem__)
    assert (found and (found.loss, sum(found.node), found.node)) == best
    assert len(set(case.asked)) == len(case.asked) <= lattice.size
    if found:
        assert found.suppressed == case.suppressed[found.node]
        assert found.checked == len(case.asked)
    assert all(total == lattice.size and 0 <= done <= total for done, total in progress)
    assert progress == sorted(progress)
    assert progress[-1] == (lattice.size, lattice.size)


def test_costs_beyond_64_bits_stay_exact() -> None:
    """Two nodes whose losses differ by 1 in 10**30: floating point would call them equal."""
    huge = 10**30
    lattice = Lattice((0, 0), (1, 1), ((0, huge + 1), (0, huge)), row=huge)
    suppressed: dict[Node, int] = {(0, 0): 5, (0, 1): 0, (1, 0): 0, (1, 1): 0}
    found = search(lattice, 0, lambda asked: [suppressed[node] for node in asked], lattice.bound)
    assert found is not None
    assert (found.node, found.loss) == ((0, 1), huge)


def test_a_lattice_of_one_node() -> None:
    lattice = Lattice((2,), (2,), ((0, 0, 7),), row=1)
    assert search(lattice, 0, lambda asked: [1 for _ in asked], lattice.bound) is None
    found = search(lattice, 1, lambda asked: [1 for _ in asked], lattice.bound)
    assert found is not None
    assert (found.node, found.suppressed, found.checked) == ((2,), 1, 1)


def test_a_large_lattice_is_settled_with_few_checks() -> None:
    """All nodes of at least half the height satisfy; the loss is the height: 5 levels of 5 attributes."""
    lattice = Lattice((0,) * 5, (4,) * 5, (tuple(range(5)),) * 5, row=20)
    asked: list[Node] = []

    def count(some: Sequence[Node]) -> list[int]:
        asked.extend(some)
        return [0 if sum(node) >= 10 else 1 for node in some]

    found = search(lattice, 0, count, lattice.bound)
    assert found is not None
    assert found.loss == 10
    # Every node of height 9 has to fail first; little else needs to be asked.
    frontier = sum(sum(node) == 9 for node in product(range(5), repeat=5))
    assert frontier <= len(asked) < frontier + 60


def test_too_many_nodes_are_refused_with_what_to_do() -> None:
    lattice = Lattice((0,) * 9, (9,) * 9, (tuple(range(10)),) * 9, row=81)
    with pytest.raises(PolicyError, match="1,000,000,000 nodes") as raised:
        search(lattice, 0, lambda some: [0 for _ in some], lattice.bound)
    assert "MAX LEVEL" in str(raised.value)
