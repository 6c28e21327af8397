"""The hospital of the loose associations paper: its own tables are 4-loose, and so are ours."""

from __future__ import annotations

import pytest

from sqlanon.methods.fragmentation.association.looseness import looseness
from tests.oracles.left_out import fewest
from tests.oracles.loose import most_blocks
from tests.support.hospital import LEFT, LINKED, OTHERS, RIGHT
from tests.support.loose import (
    Table,
    agrees,
    database,
    judged,
    make,
    multiset,
    publish,
    published_as,
    selected,
)

COLUMNS = tuple((name, "VARCHAR") for name in ("dob", "sex", "zip", "disease"))
FRAGMENTS = (("dob", "sex", "zip"), ("disease",))
CONSTRAINTS = (("dob", "sex", "zip", "disease"),)


def test_the_papers_association_is_4_loose() -> None:
    assert len(OTHERS) == 16
    # The printed pairs are those of the printed groups.
    assert multiset(LINKED) == multiset(list(zip(LEFT, RIGHT, strict=True)))
    left = [(*row[:3], group) for row, group in zip(OTHERS, LEFT, strict=True)]
    right = [(row[3], group) for row, group in zip(OTHERS, RIGHT, strict=True)]
    with database() as engine:
        publish(engine, [Table(COLUMNS[:3], left), Table(COLUMNS[3:], right)], LINKED)
        found = looseness(engine, published_as(FRAGMENTS), CONSTRAINTS)
    assert found.heterogeneous
    assert (found.k, found.sizes, found.unmatched) == (4, (2, 2), (0, 0))
    assert [(pair.fragment, pair.other, pair.k) for pair in found.pairs] == [(0, 1, 4), (1, 0, 4)]
    assert agrees(found, judged(FRAGMENTS, [left, right], LINKED, CONSTRAINTS))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("near", [(), ("dob",), ("dob", "zip")])
@pytest.mark.parametrize("sizes", [(2, 2), (1, 4), (4, 1), (2, 1), (1, 2)])
def test_ours_has_every_row_and_the_product_of_the_sizes(sizes, near) -> None:
    with database() as engine:
        table = Table(COLUMNS, list(OTHERS))
        made = make(engine, table, FRAGMENTS, CONSTRAINTS, sizes, near)
    assert made.found.heterogeneous
    assert made.found.k == made.association.k == sizes[0] * sizes[1]
    assert (made.association.placed, made.association.left_out) == (16, 0)
    for fragment, rows in zip(FRAGMENTS, made.fragments, strict=True):
        assert multiset([row[:-1] for row in rows]) == multiset(selected(table, fragment))
    assert made.found.sizes == sizes


@pytest.mark.parametrize(("sizes", "left_out"), [((2, 3), None), ((3, 1), 4), ((1, 3), 4)])
def test_rows_left_out_are_a_class_as_small_as_can_be(sizes, left_out) -> None:
    # Two blocks of 6 could be filled. But 4 of 16 have a peptic ulcer, more than one in 6 of all, so of those left out.
    diseases = [row[3] for row in OTHERS]
    assert most_blocks(diseases, 6) == 2
    with database() as engine:
        made = make(engine, Table(COLUMNS, list(OTHERS)), FRAGMENTS, CONSTRAINTS, sizes)
    assert made.association.least == fewest(diseases, sizes[0] * sizes[1], sizes[0] * sizes[1]) == left_out
    assert made.association.placed == (0 if left_out is None else 16 - left_out)


def test_the_shorter_constraints_of_the_paper() -> None:
    constraints = [("dob", "disease"), ("zip", "disease"), ("sex", "zip", "disease")]
    with database() as engine:
        made = make(engine, Table(COLUMNS, list(OTHERS)), FRAGMENTS, constraints, (2, 2))
    assert made.found.heterogeneous
    assert made.found.k == 4
    assert made.association.placed >= 8
