"""PREFIXES: a text matches each of its masks, and levels nest for every text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName
from tests.oracles import hierarchies as oracle
from tests.support.hierarchies import assert_levels_nest, assert_null_stays_null, labelled, quick

pytestmark = pytest.mark.drawn

# Stars, an astral letter, a combining accent, joined emoji, a NUL, right-to-left marks.
AWKWARD = st.text(alphabet="ab*0-'\"%_\\ \u0301\u200d\u202e\x00\U0001d538👩🏽é", max_size=12)
TEXTS = st.lists(st.text(max_size=12) | AWKWARD, max_size=25)
LENGTHS = st.sets(st.integers(1, 14), min_size=1, max_size=4).map(lambda chosen: tuple(sorted(chosen, reverse=True)))


def mask(lengths: tuple[int, ...]) -> HierarchyDefinition:
    return HierarchyDefinition("mask", "prefixes", lengths)


def assert_masked(lengths: tuple[int, ...], value: str, labels: tuple[str | None, ...]) -> None:
    for length, label in zip(lengths, labels, strict=True):
        assert label == oracle.prefix(value, length)
        assert oracle.matches(value, label)


@quick
@given(TEXTS, LENGTHS)
def test_a_text_matches_each_of_its_labels(values: list[str], lengths: tuple[int, ...]) -> None:
    rows = labelled(mask(lengths), "VARCHAR", ["", "*", "**", *values])
    assert {value for value, _ in rows} == {"", "*", "**", *values, None}
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for value, labels in rows:
        if value is not None:
            assert_masked(lengths, value, labels)


@quick
@given(st.lists(AWKWARD, min_size=2, max_size=2, unique=True), LENGTHS)
def test_texts_of_different_length_never_share_a_label(values: list[str], lengths: tuple[int, ...]) -> None:
    rows = [row for row in labelled(mask(lengths), "VARCHAR", values) if row[0] is not None]
    (first, first_labels), (second, second_labels) = rows
    if len(first) != len(second):
        assert not set(first_labels) & set(second_labels)


@quick
@given(st.lists(st.integers(-(2**127), 2**127 - 1) | st.integers(-999, 99_999), max_size=20), LENGTHS)
def test_an_integer_is_masked_by_its_digits(values: list[int], lengths: tuple[int, ...]) -> None:
    rows = labelled(mask(lengths), "HUGEINT", [str(value) for value in values])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for value, labels in rows:
        if value is not None:
            assert_masked(lengths, value, labels)


@quick
@given(st.lists(st.uuids(), max_size=5), LENGTHS)
def test_a_uuid_is_masked_by_its_text(values: list[object], lengths: tuple[int, ...]) -> None:
    rows = labelled(mask(lengths), "UUID", [str(value) for value in values])
    assert {value for value, _ in rows} == {None, *map(str, values)}
    for value, labels in rows:
        if value is not None:
            assert_masked(lengths, value, labels)


@quick
@given(TEXTS, LENGTHS, st.integers(1, 3), st.lists(st.tuples(st.integers(0, 24), st.integers(0, 2)), max_size=8))
def test_values_of_small_areas_share_one_label(
    values: list[str], lengths: tuple[int, ...], width: int, drawn: list[tuple[int, int]]
) -> None:
    # Prefixes of the values themselves, so that some of them fit.
    people = {values[i][:width]: 20_000 + more for i, more in drawn if i < len(values) and len(values[i]) >= width}
    large = tuple(sorted(prefix for prefix, number in people.items() if number > 20_000))
    small = "few people"
    assume(large and not any(small.startswith(prefix) for prefix in large))
    table = QualifiedName(("areas",))
    options = (("people", table), ("more_than", 20_000), ("small", small), ("large", large))
    rows = labelled(HierarchyDefinition("mask", "prefixes", lengths, options), "VARCHAR", values)
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for value, labels in rows:
        if value is not None and len(value) >= width and people.get(value[:width], 0) > 20_000:
            assert_masked(lengths, value, labels)
        elif value is not None:
            assert set(labels) == {small}
