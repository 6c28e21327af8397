"""The tables by which a release finds the regions of rows: temporary for a snapshot, kept beside a live view."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build.ddl import create_table
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.release.region_rows import Placed


def kept_names(placed: Placed, release_id: str) -> Placed:
    """The regions' tables under the names that those of a live view have in the catalog's schema."""

    def named(kind: str) -> QualifiedName:
        return QualifiedName(("anon", f"{kind}_{release_id}"))

    ranks = tuple(named(f"rank_{index}") if table else None for index, table in enumerate(placed.ranks))
    return replace(placed, regions=named("region"), region_map=named("place"), ranks=ranks)


def region_tables(placed: Placed) -> list[QualifiedName]:
    """The tables that a release reads to find the regions of its rows."""
    return [placed.regions, placed.region_map, *(table for table in placed.ranks if table)]


def keep_regions(engine: Engine, placed: Placed, release_id: str) -> Placed:
    """Copies what a live view reads of the regions beside it, and returns the names of the copies."""
    copies = kept_names(placed, release_id)
    for table, copy in zip(region_tables(placed), region_tables(copies), strict=True):
        columns = [column("value"), column(rank_name(0))] if table in placed.ranks else [exp.Star()]
        engine.run(create_table(copy, exp.select(*columns).from_(relation(table))))
    return copies
