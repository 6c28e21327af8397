"""The proof by one look at each table: it holds for what is made, and never says more than looking pair by pair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.methods.fragmentation.association.block_grids import grid
from sqlanon.methods.fragmentation.association.grid_proof import are_grids, are_grids_by_groups
from sqlanon.methods.fragmentation.association.looseness import looseness
from tests.support.draws import draws
from tests.support.loose import Table, database, make, published_as

pytestmark = pytest.mark.drawn

BUDGET = settings(max_examples=draws(4, long=15), deadline=None, suppress_health_check=list(HealthCheck))
SHAPES = (
    ((("a",), ("b",)), (("a", "b"),), (2, 2)),
    ((("a", "c"), ("b",)), (("a", "b"), ("a", "c", "b")), (2, 3)),
    ((("a",), ("c",), ("b",)), (("a", "b"), ("b", "c")), (2, 2, 2)),
    ((("a",), ("c",), ("b",)), (("a", "b", "c"),), (1, 3, 2)),
)
PROOFS = (are_grids, are_grids_by_groups)
COLUMNS = (("a", "INTEGER"), ("b", "INTEGER"), ("c", "VARCHAR"))
# The first makes the rows of a block alike, each other one changes a row.
EDITS = (
    'UPDATE fragment_0 SET a = 5 WHERE "a group" <= 2',
    'UPDATE fragment_1 SET "a group" = {number} WHERE rowid = {row}',
    'UPDATE fragment_0 SET "a group" = NULL WHERE rowid = {row}',
    'UPDATE association SET "group 0" = {number} WHERE rowid = {row}',
    'UPDATE association SET "group 1" = {number} WHERE rowid = {row}',
    'UPDATE association SET "group 1" = NULL WHERE rowid = {row}',
    "DELETE FROM association WHERE rowid = {row}",
    "DELETE FROM fragment_0 WHERE rowid = {row}",
    "INSERT INTO association SELECT * FROM association WHERE rowid = {row}",
    "INSERT INTO fragment_1 SELECT * FROM fragment_1 WHERE rowid = {row}",
)


@settings(BUDGET, max_examples=draws(2, long=15))
@given(
    st.lists(st.tuples(*(st.integers(0, most) for most in (30, 20, 9))), min_size=4, max_size=40),
    st.sampled_from(SHAPES),
    st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 15), st.integers(-1, 9)), max_size=2),
)
def test_edited_or_not_it_finds_what_looking_pair_by_pair_finds(
    rows: list[tuple[Any, ...]], shape: Any, edits: list[tuple[str, int, int]]
) -> None:
    fragments, constraints, sizes = shape
    laid = grid(sizes)
    with database() as engine:
        made = make(engine, Table(COLUMNS, rows), fragments, constraints, sizes)
        published = published_as(fragments)
        if made.association.placed:
            parts = [[list(one)] for one in fragments]
            parts = parts if len(fragments) == 3 else [[["a"]], [["b"]]]
            assert all(prove(engine, published, parts, laid) for prove in PROOFS)
        assert looseness(engine, published, constraints, laid) == made.found
        for edit, row, number in edits:
            engine.run(edit.format(row=row, number=number))
        pair_by_pair = looseness(engine, published, constraints)
        for prove in PROOFS:
            assert looseness(engine, published, constraints, laid, prove) == pair_by_pair


def proven(engine: DuckDBEngine, edit: str = "SELECT 1", prove: Any = are_grids) -> bool:
    rows = [(number, number % 7, "c") for number in range(28)]
    make(engine, Table(COLUMNS, rows), *SHAPES[0])
    engine.run(edit)
    return prove(engine, published_as(SHAPES[0][0]), [[["a"]], [["b"]]], grid((2, 2)))


@pytest.mark.long
@pytest.mark.parametrize("prove", PROOFS)
def test_every_single_edit_is_seen(prove: Any) -> None:
    with database() as engine:
        assert proven(engine, prove=prove)
        for edit in EDITS:
            assert not proven(engine, edit.format(row=3, number=0), prove), edit
        # Whole numbers are needed to tell blocks by them.
        assert not proven(engine, 'ALTER TABLE association ALTER "group 0" TYPE VARCHAR', prove)
        assert not proven(engine, "DELETE FROM association", prove)


@pytest.mark.parametrize("prove", PROOFS)
def test_two_blocks_that_exchange_groups_are_no_grids(prove: Any) -> None:
    """Each row, group and pair is as frequent as before: only which groups are linked has changed."""
    swap = 'UPDATE association SET "group 1" = CASE "group 1" WHEN {} THEN {} WHEN {} THEN {} ELSE "group 1" END'
    with database() as engine:
        # A whole block for another is a grid again.
        assert proven(engine, f"{swap.format(1, 3, 3, 1)}; {swap.format(2, 4, 4, 2)}", prove)
        assert not proven(engine, swap.format(1, 3, 3, 1), prove)
