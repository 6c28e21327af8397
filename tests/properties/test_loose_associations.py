"""Loose associations of random tables against the definitions, in tables as they would be published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.methods.fragmentation.association.block_grids import Grid, grid
from sqlanon.methods.fragmentation.association.block_grids import sizes as drawn_sizes
from tests.oracles.left_out import fewest, worst
from tests.support.draws import draws
from tests.support.loose import Made, Table, agrees, database, judged, left_over, make, make_drawn, multiset, selected

pytestmark = pytest.mark.drawn

BUDGET = settings(max_examples=draws(8, long=30), deadline=None, suppress_health_check=list(HealthCheck))

HUGE = st.sampled_from([-(2**100), -1, 0, 1, 2**62, 2**100, None])
NUMBERS = st.integers(-3, 12)
FLOATS = st.sampled_from([-1e300, -0.5, -0.0, 0.0, 1e-300, 0.5, float("inf"), None])
TEXTS = st.sampled_from(["", " ", "null", "NULL", "é", "é", "'", '"', "a", "A", "🦆", None])
# Most rows have one value.
SKEWED = st.one_of(st.just("flu"), st.just("flu"), st.just("flu"), st.sampled_from(["cold", "asthma", None, "gout"]))
IDS = st.integers(0, 10**6)

NAMES = ('a "b', "select", "Ünï ☃", "d.e", "e; --")
TYPES = {id(HUGE): "HUGEINT", id(NUMBERS): "BIGINT", id(FLOATS): "DOUBLE", id(IDS): "BIGINT"}
KINDS = (HUGE, NUMBERS, FLOATS, TEXTS, SKEWED, IDS)


@st.composite
def tables(draw: Any, columns: int, most: int = 45) -> Table:
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(columns)]
    rows = draw(st.lists(st.tuples(*kinds), max_size=most))
    head = tuple((name, TYPES.get(id(kind), "VARCHAR")) for name, kind in zip(NAMES, kinds, strict=False))
    return Table(head, rows)


def constraints_of(names: Sequence[str], fragments: Sequence[Sequence[str]]) -> Any:
    """Sets that lie in no fragment."""
    whole = [set(fragment) for fragment in fragments]
    one = st.lists(st.sampled_from(names), min_size=2, max_size=len(names), unique=True)
    apart = one.filter(lambda made: not any(set(made) <= fragment for fragment in whole))
    return st.lists(apart, min_size=1, max_size=3)


def keys_of(fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    parts = {frozenset(one) & frozenset(fragment) for one in constraints for fragment in fragments} - {frozenset()}
    return [part for part in parts if not any(other < part for other in parts)]


def holds(made: Made, table: Table, fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]]) -> None:
    """What every loose association has to be, whatever was left out."""
    association = made.association
    assert association.placed + association.left_out == len(table.rows)
    assert len(made.truth) == len(made.groups) == association.placed
    # It tells the truth: the rows are the source's, and their values and groups are those of the fragments.
    names = [name for fragment in fragments for name in fragment]
    assert multiset([row[: len(names)] for row in made.truth]) <= multiset(selected(table, names))
    assert multiset([row[len(names) :] for row in made.truth]) == multiset(made.groups)
    start = 0
    for number, fragment in enumerate(fragments):
        own = [(*row[start : start + len(fragment)], row[len(names) + number]) for row in made.truth]
        assert multiset(own) == multiset(made.fragments[number])
        start += len(fragment)
    # It is heterogeneous and k-loose, which our checker sees as the definitions do.
    expected = judged(fragments, made.fragments, made.groups, constraints)
    assert agrees(made.found, expected)
    assert all(pair.group and pair.association and pair.deep for pair in expected.values())
    assert made.found.heterogeneous
    if association.placed:
        assert made.found.k is not None
        assert made.found.k >= association.k
    else:
        assert made.found.k is None


def are_a_class(
    made: Made, table: Table, fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]], k: int
) -> None:
    """Of the rows left out no value of a key is more frequent than one in k; where one key decides, they are fewest."""
    association, keys = made.association, [sorted(key) for key in keys_of(fragments, constraints)]
    left = [left_over(made, table, fragments, key) for key in keys]
    assert {len(rows) for rows in left} == {association.left_out}
    held = [selected(table, key) for key in keys]
    least = [fewest(values, association.size, k) for values in held]
    if not association.placed:
        assert None in least or sum(len(set(values)) < len(values) for values in held) > 1
        return
    assert worst(left) <= Fraction(1, k)
    alike = [Counter(rows).most_common(1)[0][1] for rows in left if rows]
    assert association.alike == max(alike, default=0)
    assert None not in least
    assert association.left_out >= association.least >= max(least)
    if sum(len(set(values)) < len(values) for values in held) <= 1:
        assert association.left_out == max(least)


@settings(BUDGET, max_examples=draws(4, long=30))
@given(
    tables(4),
    st.data(),
    st.sampled_from([(2, 2), (1, 3), (3, 1), (2, 3), (3, 3)]),
    st.sampled_from([(2, 2), (1, 3), (3, 1)]),
    st.booleans(),
)
def test_two_fragments(table, data, sizes, split, near) -> None:
    names = [name for name, _ in table.columns]
    fragments = (tuple(names[: split[0]]), tuple(names[split[0] :]))
    constraints = data.draw(constraints_of(names, fragments))
    with database() as engine:
        made = make(engine, table, fragments, constraints, sizes, fragments[0] if near else ())
    holds(made, table, fragments, constraints)
    if made.association.placed:
        assert made.found.sizes == sizes
    are_a_class(made, table, fragments, constraints, sizes[0] * sizes[1])


@settings(BUDGET, max_examples=draws(3, long=30))
@given(
    tables(5, most=60),
    st.data(),
    st.sampled_from([(2, 2, 2), (1, 2, 2), (2, 1, 3), (3, 2, 2)]),
    st.sampled_from([None, 0, 1, 2]),
)
def test_three_fragments(table, data, sizes, near) -> None:
    names = [name for name, _ in table.columns]
    fragments = (tuple(names[:2]), tuple(names[2:3]), tuple(names[3:]))
    constraints = data.draw(constraints_of(names, fragments))
    with database() as engine:
        made = make(engine, table, fragments, constraints, sizes, () if near is None else fragments[near][:1])
    holds(made, table, fragments, constraints)
    are_a_class(made, table, fragments, constraints, made.association.k)
    if made.association.placed:
        assert all(found >= size for found, size in zip(made.found.sizes, sizes, strict=True))


def of_the_grid(laid: Grid) -> list[tuple[int, ...]]:
    """The groups of every cell."""
    return [
        tuple(line if slope is None else (at + slope * line) % laid.columns for slope in laid.slopes)
        for line in range(laid.lines)
        for at in range(laid.columns)
    ]


@settings(max_examples=draws(50, long=200), deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.data())
def test_groups_of_a_grid_are_large_enough_and_meet_once(sizes, data) -> None:
    first = data.draw(st.integers(0, len(sizes) - 1))
    laid = grid(sizes, first)
    cells = of_the_grid(laid)
    assert len(cells) == laid.rows
    for one, least in enumerate(sizes):
        held = multiset([(cell[one],) for cell in cells])
        assert set(held.values()) == {laid.size(one)}
        assert laid.size(one) >= least
        for other in range(one):
            assert max(multiset([(cell[one], cell[other]) for cell in cells]).values()) == 1
    assert laid.slopes[first] in (None, 0)
    if len(sizes) == 2:
        assert laid.rows == sizes[0] * sizes[1]
    if len(sizes) == 3:
        assert laid.rows == sorted(sizes)[1] * sorted(sizes)[2]


@settings(BUDGET, max_examples=draws(4, long=30))
@given(
    tables(5, most=60),
    st.data(),
    st.sampled_from([((3, 2), (2, 2)), ((1, 4), (2, 3)), ((2, 2, 1), (2, 1, 3)), ((2, 2, 1), (2, 2, 2))]),
    st.integers(0, 3),
    st.sampled_from([0, 1_000_000]),
    st.sampled_from([0, 1_000_000]),
)
def test_rows_known_by_draws(table, data, laid, spare, numbered, moved) -> None:
    """The way of Spark, on an engine that stands for it."""
    split, sizes = laid
    names, start, fragments = [name for name, _ in table.columns], 0, []
    for width in split:
        fragments.append(tuple(names[start : start + width]))
        start += width
    constraints = data.draw(constraints_of(names, fragments))
    with drawn_sizes.replaced(min_blocks_dealt_again=spare, max_rows_numbered=numbered, max_rows_moved=moved):
        made = make_drawn(table, fragments, constraints, sizes)
    holds(made, table, fragments, constraints)
    are_a_class(made, table, fragments, constraints, made.association.k)
