"""Tables of buckets laid out by hand, as a release has them, and their membership figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.assess.figures.class_figures import membership_figures
from sqlanon.domain.release import Reading
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.existing.estimable import RecordedColumn, RecordedTable
from sqlanon.release.existing.membership import matching_of
from sqlanon.sql.build.names import relation
from tests.oracles.membership import Column
from tests.support.names import quoted

__all__ = ["Buckets", "Row", "measured"]

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Buckets:
    """Rows of a source, and how a release has them: in these buckets, columns of these attributes.

    `rows` has the positions in `source` of each bucket's rows, `columns` the positions of each column's attributes.
    """

    names: Sequence[str]
    source: Sequence[Row]
    columns: Sequence[Sequence[int]]
    rows: Sequence[Sequence[int]]
    types: Sequence[str] = ()

    def connected(self) -> duckdb.DuckDBPyConnection:
        """A database with the source `t` and a table of each column, `r_1` and so on, a bucket's rows in any order."""
        con = duckdb.connect(config={"threads": "1"})
        kinds = self.types or ["VARCHAR"] * len(self.names)
        typed = [f"{quoted(name)} {kind}" for name, kind in zip(self.names, kinds, strict=True)]
        con.execute(f"CREATE TABLE t ({', '.join(typed)})")
        for row in self.source:
            con.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", list(row))
        for number, attributes in enumerate(self.columns, start=1):
            con.execute(f"CREATE TABLE r_{number} (bucket BIGINT, {', '.join(typed[a] for a in attributes)})")
            for bucket, rows in enumerate(self.rows):
                for row in sorted(rows, key=lambda row: repr([self.source[row][a] for a in attributes])):
                    values = [bucket, *(self.source[row][a] for a in attributes)]
                    con.execute(f"INSERT INTO r_{number} VALUES ({', '.join('?' * len(values))})", values)
        return con

    def tables(self) -> list[RecordedTable]:
        return [
            RecordedTable(
                [
                    RecordedColumn("bucket", Reading.BUCKET, "bucket"),
                    *(RecordedColumn(self.names[a], Reading.BUCKET_VALUE, self.names[a]) for a in attributes),
                ],
                exp.select(exp.Star()).from_(relation(f"r_{number}")),
            )
            for number, attributes in enumerate(self.columns, start=1)
        ]

    def of_oracle(self) -> list[Column]:
        return [
            Column(
                attributes,
                {
                    bucket: [tuple(self.source[row][a] for a in attributes) for row in rows]
                    for bucket, rows in enumerate(self.rows)
                },
            )
            for attributes in self.columns
        ]

    def figures(self) -> dict[str, float | None]:
        """The figures that sqlanon reads off the tables."""
        with self.connected() as con:
            engine = DuckDBEngine(con)
            with engine.transaction(), TempTables(engine) as temp:
                return dict(membership_figures(engine, matching_of("r", self.tables()), "r", relation("t"), temp))


def measured(con: Any, release: str = "r") -> dict[str, float | None]:
    """The figures of a release as the statement answers them."""
    return {figure: value for _, figure, _, value in con.sql(f"MEASURE {release} WITH FIGURES (membership)").fetchall()}
