"""Values that too many of some rows have, and the blocks whose rows would make up for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.fragmentation.association import left_out_sql
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation


@dataclass(frozen=True)
class Lacking:
    """The values that too many of some rows have: their table, how many there are, and what one lacks at most."""

    table: str
    values: int
    most: int


def lacking(engine: Engine, rows: str, indexes: Sequence[int], k: int, scratch: Scratch) -> Lacking:
    """The values of these keys that more than one in k of the rows have."""
    table = scratch.table("lacking", left_out_sql.excess(rows, indexes, k, _count(engine, rows)))
    values, most = engine.rows(exp.select(f.count(), f.max(column("lack"))).from_(relation(table)))[0]
    return Lacking(table, int(values), int(most or 0))


def preferred(
    keyed: str, lack: Lacking, placed: str, indexes: Sequence[int], draw: str, scratch: Scratch
) -> tuple[str, str]:
    """block, number: the blocks of `placed`, those first whose rows suit best; and which of them hold which values."""
    holding = scratch.table("holding", left_out_sql.holding(placed, keyed, lack.table, indexes))
    return scratch.table("preferred", left_out_sql.preferred(placed, holding, draw)), holding


def _count(engine: Engine, table: str) -> int:
    return int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])
