"""The groups of a loose association on an engine that keeps the rows in many parts, where no table has an order.

The blocks are numbered in each fragment in the order of a draw, and the rows of a block in that of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import Grid, draws, group_columns, row_index, value_name
from sqlanon.methods.shared.numbered_draws import beginning
from sqlanon.sql.build.expressions import big, is_not_null, is_null, same, union_all
from sqlanon.sql.build.names import alias, column, literal, relation


@dataclass(frozen=True)
class Round:
    """Rows that were dealt out at once: the relation of `drawn_rows_sql.dealt_rows`, with so many blocks.

    Their numbers go on behind `offset`. Those in the table `again` were dealt again, and all rows in none.
    """

    dealt_rows: str
    again: str | None
    blocks: int
    offset: int


def in_no_block(keyed: str) -> exp.Select:
    """row, cell, block: no row has a block."""
    query = exp.select(column("row"), column("cell"), alias(big(literal(0)), "block")).from_(relation(keyed))
    return query.where(exp.false(), copy=False)


def in_blocks(rounds: Sequence[Round]) -> exp.Query:
    """row, cell, block: the rows that have a block, without those that were dealt again."""
    parts: list[exp.Query] = []
    for each in rounds:
        block = column("block", "dealt") + literal(each.offset)
        query = exp.select(column("row", "dealt"), column("cell", "dealt"), alias(big(block), "block"))
        query.from_(relation(each.dealt_rows, as_="dealt"), copy=False)
        query = query.where(is_not_null(column("block", "dealt")), copy=False)
        if each.again is not None:
            on = same("block", "dealt", "again")
            query.join(relation(each.again, as_="again"), on=on, join_type="LEFT", copy=False)
            query = query.where(is_null(column("block", "again")), copy=False)
        parts.append(query)
    return union_all(parts)


def moved_rows(dealt_rows: str, placed: str, offset: int) -> exp.Select:
    """row, cell, block: the rows of the table `placed`, whose blocks are numbered from `offset` on."""
    block = column("block", "placed") + literal(offset)
    query = exp.select(column("row", "dealt"), column("cell", "dealt"), alias(big(block), "block"))
    query.from_(relation(dealt_rows, as_="dealt"), copy=False)
    return query.join(relation(placed, as_="placed"), on=same("row", "dealt", "placed"), copy=False)


def drawn_blocks(in_blocks: str, fragments: int, draw: str) -> exp.Select:
    """block, draw_0, ...: each block with a draw for each fragment."""
    blocks = exp.select(column("block")).distinct(copy=False).from_(relation(in_blocks))
    query = exp.select(column("block"), *(alias(draws(draw), draw_name(index)) for index in range(fragments)))
    return query.from_(blocks.subquery("occurring"), copy=False)


def block_numbers(drawn_blocks: str, befores: Sequence[str]) -> exp.Select:
    """block, number_0, ...: each block's number in each fragment, from 0, in the order of the draws for that one.

    `befores` has for each fragment the table that `numbers_before` makes of its draws.
    """
    counted = exp.select(column("block"))
    query = exp.select(column("block", "counted")).from_(counted.subquery("counted", copy=False), copy=False)
    for index, table in enumerate(befores):
        draw = column(draw_name(index))
        number = row_index([beginning(draw)], [draw])
        counted.select(
            alias(beginning(draw.copy()), f"beginning_{index}"), alias(number, f"number_{index}"), copy=False
        )
        whole = column("before", table) + column(f"number_{index}", "counted")
        query.select(alias(big(whole), f"number_{index}"), copy=False)
        on = column(f"beginning_{index}", "counted").eq(column("beginning", table))
        query.join(relation(table), on=on, copy=False)
    counted.from_(relation(drawn_blocks), copy=False)
    return query


def grouped_rows(rows: str, in_blocks: str, numbers: str, values: int, laid: Grid) -> exp.Select:
    """value_0, ..., group_0, ...: the rows that have a block, with their group in each fragment.

    The rows of a block are numbered by the draws that nothing else depends on: those by which blocks were filled would
    tell of a row's key.
    """
    cell = row_index([column("block")], [column("cell"), column("row")])
    placed = exp.select(column("row"), column("block"), alias(cell, "number")).from_(relation(in_blocks))
    query = exp.select(*(column(value_name(index), "drawn") for index in range(values)))
    of_fragments = [column(f"number_{index}", "block") for index in range(len(laid.slopes))]
    query.select(*group_columns(column("number", "placed"), of_fragments, laid, 0), copy=False)
    query.from_(placed.subquery("placed"), copy=False)
    query.join(relation(numbers, as_="block"), on=same("block", "placed", "block"), copy=False)
    return query.join(relation(rows, as_="drawn"), on=same("row", "placed", "drawn"), copy=False)


def draw_name(fragment: int) -> str:
    """The column with the draws of blocks for a fragment."""
    return f"draw_{fragment}"
