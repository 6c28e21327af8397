"""Fragments against every fragmentation there is, and large schemas against what a fragmentation must be."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.minimal_fragmentation import (
    EXACT_UNITS,
    Fragmentation,
    broken,
    fragmentation,
    require_correct,
)
from tests.oracles.fragments import best, correct
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

SMALL = ("dob", "Sex", 'z"ip ', "select", "é", "e")
ALL = st.sampled_from(SMALL)
SETS = st.lists(st.lists(ALL, min_size=1, max_size=4, unique=True).map(tuple), max_size=5)


def sets(given: list[tuple[str, ...]]) -> list[frozenset[str]]:
    return [frozenset(one) for one in given]


@settings(max_examples=draws(70, long=400), deadline=None)
@given(
    SETS, st.lists(st.lists(ALL, min_size=1, max_size=3, unique=True).map(tuple), max_size=2), st.sets(ALL, max_size=3)
)
def test_it_is_the_best_there_is(confidential, visible, required) -> None:
    expected = best(SMALL, sets(confidential), sets(visible), frozenset(required))
    if expected is None:
        with pytest.raises(PolicyError, match="there is no fragmentation"):
            fragmentation(SMALL, confidential, visible, required)
        return
    found = fragmentation(SMALL, confidential, visible, required)
    assert found.proven
    assert found.least == len(found.fragments)
    assert correct(sets(found.fragments), sets(confidential), sets(visible))
    assert required <= {name for fragment in found.fragments for name in fragment}
    assert (len(found.fragments), sum(map(len, found.fragments))) == expected
    assert sorted([*found.unpublished, *(name for one in found.fragments for name in one)]) == sorted(SMALL)
    require_correct(found.fragments, SMALL, confidential, visible)


@settings(max_examples=draws(75, long=300), deadline=None)
@given(
    st.lists(st.lists(ALL, max_size=4).map(tuple), max_size=4),
    SETS,
    st.lists(st.lists(ALL, min_size=1, max_size=3, unique=True).map(tuple), max_size=2),
)
def test_what_a_given_fragmentation_breaks_is_found(fragments, confidential, visible) -> None:
    repeated = any(len(set(one)) < len(one) for one in fragments)
    sound = not repeated and correct(sets(fragments), sets(confidential), sets(visible))
    assert (not broken(fragments, SMALL, confidential, visible)) == sound


LARGE = tuple(f"a{number}" for number in range(40))


@settings(max_examples=draws(15, long=60), deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(LARGE), min_size=1, max_size=4, unique=True).map(tuple), min_size=20, max_size=80
    ),
    st.booleans(),
)
def test_a_large_schema_has_a_correct_fragmentation_and_a_bound(confidential, every) -> None:
    closed = {one[0] for one in confidential if len(one) == 1}
    required = [name for name in LARGE if name not in closed] if every else []
    found = fragmentation(LARGE, confidential, (), required)
    require_correct(found.fragments, LARGE, confidential)
    assert 1 <= found.least <= len(found.fragments)
    published = {name for fragment in found.fragments for name in fragment}
    assert published.isdisjoint(closed)
    assert published >= set(required)
    if found.proven and every:
        assert found.least == len(found.fragments)


def test_the_hospital() -> None:
    attributes = ("ssn", "dob", "sex", "zip", "disease", "treatment")
    confidential = [("ssn",), ("dob", "sex", "zip", "disease"), ("disease", "treatment")]
    # Without what must be visible, one fragment without one of the two diseases' columns.
    assert fragmentation(attributes, confidential) == Fragmentation(
        (("dob", "sex", "zip", "treatment"),), ("ssn", "disease"), 1, True
    )
    # All that may be published at all: two.
    found = fragmentation(attributes, confidential, [("sex", "treatment")], attributes[1:])
    assert found == Fragmentation((("dob", "zip", "disease"), ("sex", "treatment")), ("ssn",), 2, True)


def test_a_clique_needs_a_fragment_each_and_proves_it() -> None:
    names = LARGE[:20]
    found = fragmentation(names, list(combinations(names, 2)), (), names)
    assert (len(found.fragments), found.least, found.proven) == (20, 20, True)


def test_a_large_schema_says_that_it_is_not_proven() -> None:
    # A cycle of odd length needs three colours, and no two of its vertices but neighbours are in conflict.
    names = LARGE[: EXACT_UNITS + 1]
    cycle = [(one, names[(place + 1) % len(names)]) for place, one in enumerate(names)]
    found = fragmentation(names, cycle, (), names)
    assert (len(found.fragments), found.least, found.proven) == (3, 2, False)
    exact = fragmentation(names[:11], [*cycle[:10], (names[10], names[0])], (), names[:11])
    assert (len(exact.fragments), exact.least, exact.proven) == (3, 3, True)


@pytest.mark.parametrize(
    ("confidential", "visible", "required", "message"),
    [
        (
            [("a", "c")],
            [("A", "b"), ("b", "c")],
            [],
            "VISIBLE (A, b), (b, c) share columns, so they lie in one fragment",
        ),
        (
            [("a", "b")],
            [("b", "a", "c")],
            [],
            "VISIBLE (b, a, c) lies in one fragment, which then contains CONFIDENTIAL (a, b)",
        ),
        ([("b",)], [("a", "b")], [], "contains CONFIDENTIAL (b)"),
        ([("b",)], [], ["B"], "b must be published, and it is CONFIDENTIAL by itself"),
        ([("a", "x")], [], [], "there is no attribute x"),
    ],
)
def test_what_excludes_each_other_is_named(confidential, visible, required, message) -> None:
    with pytest.raises(PolicyError) as refused:
        fragmentation(("a", "b", "c"), confidential, visible, required)
    assert message in refused.value.message
    assert refused.value.hint


def test_everything_that_a_given_fragmentation_breaks_is_named() -> None:
    with pytest.raises(PolicyError) as refused:
        require_correct([("a", "B"), ("b", "d"), ()], ("a", "b", "c"), [("A", "b"), ("c",)], [("a", "c"), ("b", "a")])
    for part in (
        "the fragment (a, B) contains CONFIDENTIAL (A, b)",
        "b is in two fragments",
        "there is no attribute d",
        "a fragment has no attribute",
        "VISIBLE (a, c) lies in no fragment",
    ):
        assert part in refused.value.message
    assert "VISIBLE (b, a)" not in refused.value.message


def test_without_attributes_or_with_nothing_to_publish_there_is_no_fragment() -> None:
    assert fragmentation((), []) == Fragmentation((), (), 0, True)
    assert fragmentation(("a", "b"), [("a",), ("b",), ("a", "b")]) == Fragmentation((), ("a", "b"), 0, True)
    assert fragmentation(("a", "b"), []) == Fragmentation((("a", "b"),), (), 1, True)
