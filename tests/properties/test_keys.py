"""Prefix-coded keys: fields that never overlap, and releases whose keys need more than one word."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sqlanon.sql.cells.cells import KeyLayout, bits_for
from sqlanon.sql.sizes import sizes
from tests.support.draws import draws
from tests.support.policies import (
    BUDGET,
    Case,
    Quasi,
    assert_optimal,
    insert,
    intervals,
    levels_of,
    prefixes,
    released,
    shown,
)

pytestmark = pytest.mark.drawn

FEW = settings(BUDGET, max_examples=draws(2, long=12))
_SIBLINGS = st.lists(st.lists(st.integers(0, 2**40), min_size=1, max_size=5), min_size=1, max_size=12)


@given(siblings=_SIBLINGS)
def test_fields_hold_their_numbers_and_share_no_bit(siblings: list[list[int]]) -> None:
    layout = KeyLayout.pack(siblings)
    taken = [0] * layout.words
    for counts, fields in zip(siblings, layout.fields, strict=True):
        assert len(fields) == len(counts)
        for count, field in zip(counts, fields, strict=True):
            assert max(count - 1, 0) <= field.mask >> field.shift
            assert field.mask.bit_length() <= sizes().word_bits < 63
            assert taken[field.word] & field.mask == 0
            taken[field.word] |= field.mask
        # Within a word a coarser level stands above a finer one, so that code order is value order.
        places = [(field.word, field.shift) for field in fields if field.bits]
        assert places == sorted(places)


@given(data=st.data(), siblings=_SIBLINGS)
def test_masks_keep_the_levels_from_a_node_up(data: st.DataObject, siblings: list[list[int]]) -> None:
    layout = KeyLayout.pack(siblings)
    node = [data.draw(st.integers(0, len(counts))) for counts in siblings]
    masks = layout.masks(node)
    for fields, level in zip(layout.fields, node, strict=True):
        for place, field in enumerate(fields):
            assert masks[field.word] & field.mask == (field.mask if place >= level else 0)


def test_an_only_child_needs_no_bits() -> None:
    assert [bits_for(count) for count in (0, 1, 2, 3, 4, 5, 256, 257)] == [0, 0, 1, 2, 2, 3, 8, 9]


@st.composite
def wide_cases(draw: st.DrawFn) -> Case:
    """Twelve fixed columns of 33 to 60 values, more than 62 bits, around two that are searched."""
    count = draw(st.integers(33, 60))
    turns = [draw(st.integers(0, count - 1)) for _ in range(12)]
    fixed = [draw(st.sampled_from([0, 0, 1])) for _ in turns]
    quasi = [Quasi("INTEGER", None, 1, (), _no_labels, low=level, high=level) for level in fixed]
    columns: list[list[Any]] = [[(row + turn) % count for row in range(count)] for turn in turns]
    for _ in range(2):
        searched = draw(st.one_of(intervals(), prefixes()))
        domain = draw(st.lists(st.sampled_from(searched.domain), min_size=1, max_size=5, unique=True))
        place = draw(st.integers(0, len(quasi)))
        quasi.insert(place, searched)
        columns.insert(place, [draw(st.sampled_from(domain)) for _ in range(count)])
    rows = list(zip(*columns, strict=True))
    # The first rows have a class mate each, so that there is something to release.
    twins = draw(st.integers(0, count))
    rows = [row for place, row in enumerate(rows) for _ in range(2 if place < twins else 1)]
    entities = tuple(place % 50 for place in range(len(rows))) if draw(st.booleans()) else None
    suppression = draw(st.sampled_from(["0.5", "0.9", "1"]))
    return Case(tuple(quasi), tuple(rows), entities, draw(st.integers(1, 3)), suppression)


def _no_labels(value: object) -> tuple[()]:
    return ()


@pytest.mark.long
@given(case=wide_cases(), kind=st.sampled_from(["TABLE", "VIEW"]))
@FEW
def test_releases_with_keys_of_several_words(case: Case, kind: str) -> None:
    con = case.install()
    best = assert_optimal(con, case, kind)
    event("infeasible" if best is None else f"{kind}, {'some' if best.suppressed else 'none'} suppressed")
    con.close()


@pytest.mark.long
@given(case=wide_cases(), twins=st.lists(st.integers(0, 32), max_size=3))
@FEW
def test_view_with_a_key_of_several_words_follows_its_source(case: Case, twins: list[int]) -> None:
    assume(case.optimum() is not None)
    con = case.install()
    con.execute(f"CREATE ANONYMIZED VIEW out AS POLICY p {case.method}")
    rows = [case.full_row(place) for place in range(len(case.rows))]
    for twin in [*twins, None]:
        old = case.rows[twin] if twin is not None else tuple(None for _ in case.quasi)
        for who in (1000, 1001, None):
            rows.append((*old, who, len(rows)))
            insert(con, rows[-1])
        assert released(con, case, "out") == Counter(shown(case, rows, levels_of(con)))
    con.close()
