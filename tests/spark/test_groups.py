"""Rows that have their numbers and draws are put into blocks and groups alike on DuckDB and on Spark.

Draws come from a function of DuckDB's; rows are numbered here, wherever something more is drawn stands 0, and the
numbers of rows as they stand, which only DuckDB has, are a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.fragmentation.association import block_grids
from sqlanon.methods.fragmentation.association.grid_proof import PublishedAssociation, PublishedFragment
from sqlanon.methods.fragmentation.association.looseness import looseness
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP, association_columns
from sqlanon.sql.build.names import alias, column, literal, relation
from tests.oracles.loose import most_blocks
from tests.support.spark import registered

pytestmark = pytest.mark.spark

TEXTS = (None, "", "NULL", 'a "b"', "é", "B", "b", "${d}")
NAMES = ('a "b', "select")
KINDS = {"row": pa.int64(), "value_0": pa.string(), "value_1": pa.int64()}
KEYED = {name: pa.int64() for name in ("row", "draw", "position", "key_0")}


def named(kinds: Mapping[str, pa.DataType], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(kinds.items())})


@dataclass(frozen=True)
class Laid:
    """Rows of two values, of which the first has to differ, and how they are put into groups."""

    values: tuple[tuple[Any, Any], ...]
    sizes: tuple[int, int]
    near: bool = False

    def tables(self) -> dict[str, pa.Table]:
        """The rows; and their draws, their keys and their places, near each other if their second values are."""
        random = Random(len(self.values))
        rows = [(i, *own) for i, own in enumerate(self.values)]
        often = Counter(first for first, _ in self.values)
        repeated = {value: 1 + i for i, value in enumerate(value for value in TEXTS if often[value] > 1)}
        keyed = [
            (i, random.randrange(-(2**63), 2**63), (second or 0) if self.near else 0, repeated.get(first, -1 - i))
            for i, first, second in rows
        ]
        return {"rows": named(KINDS, rows), "keyed": named(KEYED, keyed)}


def laid_values(size: int, skew: int) -> tuple[tuple[Any, Any], ...]:
    random = Random(size)
    weights = [1 + skew * (len(TEXTS) - place) for place in range(len(TEXTS))]
    return tuple((random.choices(TEXTS, weights)[0], random.choice((None, *range(-9, size)))) for _ in range(size))


LAID = {
    "skew": Laid(laid_values(45, 9), (2, 3)),
    "near": Laid(laid_values(2100, 0), (3, 2), near=True),
    "nothing": Laid((), (2, 2)),
}


def given(node: exp.Expr) -> exp.Expr:
    """What stands for a draw, and for the number of a row."""
    if isinstance(node, exp.Column) and node.name == block_grids.ROW_NUMBER:
        return column("stands", node.table or None)
    if isinstance(node, exp.BitwiseXorAgg):
        # Draws of several rows, mixed.
        return exp.Max(this=node.this)
    return literal(0) if isinstance(node, exp.Anonymous) else node


def numbered(query: exp.Select) -> exp.Select:
    """The rows of a query that puts them in order, with their numbers as a column: not every engine keeps them."""
    order = query.args["order"]
    query.set("order", None)
    by = [part for part in order.expressions if not isinstance(part.this, exp.Literal)]
    known = [
        exp.Ordered(this=(each.this if isinstance(each, exp.Alias) else each).copy(), nulls_first=False)
        for each in query.selects
    ]
    window = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[*by, *known]))
    return query.select(alias(exp.Sub(this=window, expression=literal(1)), "stands"))


def laid_out(engine: Engine, temp: TempTables, one: Laid) -> dict[str, str]:
    """The tables on the way from rows with their keys to the published ones."""
    grid = block_grids.grid(one.sizes)
    made: dict[str, str] = {}

    def keep(name: str, query: exp.Select) -> str:
        drawn = query.transform(given)
        made[name] = temp.table(name, numbered(drawn) if drawn.args.get("order") else drawn)
        return made[name]

    keep("possible", block_grids.possible("keyed", 0, grid.rows))
    chunked = keep("chunked", block_grids.sorted_rows("keyed", 1, 0, 4 * grid.rows))
    keep("dealt_in_chunks", block_grids.filled_blocks(chunked, 1, 0, grid.rows, 7, chunked=True))
    standing = keep("standing", block_grids.sorted_rows("keyed", 1, 0, None))
    dealt = keep("dealt", block_grids.filled_blocks(standing, 1, 0, grid.rows, 0, chunked=False))
    within = exp.Not(this=exp.Is(this=column("block"), expression=exp.Null()))
    known = [column(name) for name in ("row", "block", "position")]
    placed = keep("placed", exp.select(*known).from_(relation(dealt)).where(within))
    cells = keep("located", block_grids.located(placed, "draw", near=one.near))
    if one.near:
        cells = keep("exchanged", block_grids.exchanged(cells, grid.size(0), "draw"))
    numbers = keep("numbers", block_grids.block_numbers(cells, grid.rows, "draw"))
    numbers = keep("renumbered", block_grids.renumbered(numbers, 0, "draw"))
    grouped = keep("grouped", block_grids.grouped(cells, numbers, grid, 0))
    rows = exp.select(exp.Star()).from_(relation("rows"))
    for fragment, name in enumerate(NAMES):
        keep(f"fragment_{1 + fragment}", block_grids.fragment_rows(rows, grouped, [(fragment, name)], fragment, GROUP))
    keep(ASSOCIATION, block_grids.association_rows(grouped, association_columns(2)))
    return made


@pytest.mark.parametrize("name", LAID)
def test_groups_are_laid_out_alike(name: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    one = LAID[name]
    with registered(duck, spark, one.tables()), TempTables(duck) as here, TempTables(spark) as there:
        both = [(duck, laid_out(duck, here, one)), (spark, laid_out(spark, there, one))]
        ours, theirs = (
            {
                name: sorted(map(repr, engine.rows(exp.select(exp.Star()).from_(relation(table)))))
                for name, table in made.items()
            }
            for engine, made in both
        )
        seen = []
        for engine, made in both:
            parts = [PublishedFragment(relation(made[f"fragment_{1 + i}"]), (NAMES[i],), GROUP) for i in range(2)]
            groups = tuple(association_columns(2))
            association = PublishedAssociation(relation(made[ASSOCIATION]), groups, tuple(parts))
            seen.append(looseness(engine, association, [NAMES]))
            # Not every second value differs, so only what is looked for in the first one is bounded.
            assert seen[-1].unmatched == (0, 0)
    assert theirs == ours
    assert seen[0] == seen[1]
    size = one.sizes[0] * one.sizes[1]
    count = most_blocks([first for first, _ in one.values], size)
    assert ours["possible"] == [f"({count},)"]
    assert len(ours[ASSOCIATION]) == count * size
    (looked_for,) = (pair for pair in seen[0].pairs if pair.other == 0)
    assert not looked_for.alike_in_linked
    assert not looked_for.repeated
    assert looked_for.k == (size if count else None)
    assert seen[0].sizes == (one.sizes if count else (None, None))
