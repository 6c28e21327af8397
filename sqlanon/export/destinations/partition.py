"""PARTITION_BY: files for each combination of values of some columns, in folders that are named after these."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold, listed, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError, about
from sqlanon.export.snapshot import ReleasedTable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation

# Each is a folder, and a line of the certificate.
MOST_PARTS = 10_000


def published_partition(
    engine: Engine, tables: Sequence[ReleasedTable], partition: Sequence[str] | None
) -> tuple[str, ...] | None:
    """The columns as they are published: the names of the folders tell values of theirs, and nothing else.

    Raises UserError unless there is one table, which has these columns, and some combinations of values but not many.
    """
    if partition is None:
        return None
    with about("partition"):
        if len(tables) > 1:
            raise UserError(
                f"PARTITION_BY is for a release of one table, and this one has {len(tables)}",
                hint="leave it out: each table has a file of its own",
            )
        names = {fold(name): name for name, _ in tables[0].columns}
        for name in partition:
            if fold(name) not in names:
                hint = nearest(name, list(names.values())) or f"it publishes {listed(list(names.values()))}"
                raise UserError(f"{tables[0].name} publishes no column {name}", hint=hint)
        published = tuple(names[fold(name)] for name in partition)
        if len(set(published)) < len(published):
            raise UserError("PARTITION_BY names a column twice", hint="name each once")
        values = exp.select(*map(column, published)).distinct().from_(relation(tables[0].name))
        count = engine.rows(exp.select(f.count()).from_(values.subquery("parts")))[0][0]
        if not count:
            raise UserError(f"{tables[0].name} has no row, so there would be no file", hint="leave PARTITION_BY out")
        if count > MOST_PARTS:
            raise UserError(
                f"{listed(partition)} have {count} combinations of values, and each would be a folder",
                hint=f"partition by columns of at most {MOST_PARTS:,} values",
            )
    return published
