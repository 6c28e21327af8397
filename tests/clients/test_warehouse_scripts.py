"""A script for PostgreSQL makes the rows there that the release has in DuckDB, and publishes nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlglot import exp

from tests.support.warehouses import COLUMNS, MODELS, RELEASE, TABLE, Column, as_texts, insert, made, random_rows, released, script

SOURCE, TARGET = ("cli nic", TABLE), ("public", "re\"lease")


def load(con: psycopg.Connection[Any], rows: Sequence[tuple[Any, ...]], columns: Sequence[Column] = COLUMNS) -> None:
    table = sql.Identifier(*SOURCE)
    kinds = [exp.DataType.build(column.kind, dialect="duckdb").sql(dialect="postgres") for column in columns]
    parts = [sql.SQL("{} " + kind).format(sql.Identifier(c.name)) for c, kind in zip(columns, kinds, strict=True)]
    con.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SOURCE[0])))
    con.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
    con.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(parts)))
    places = sql.SQL(", ").join([sql.Placeholder()] * len(columns))
    with con.cursor() as cursor:
        cursor.executemany(sql.SQL("INSERT INTO {} VALUES ({})").format(table, places), rows)


def published(con: psycopg.Connection[Any]) -> Counter[tuple[Any, ...]]:
    cursor = con.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(*TARGET)))
    names = [sql.SQL("{}::text").format(sql.Identifier(part.name)) for part in cursor.description or ()]
    query = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(names), sql.Identifier(*TARGET))
    return as_texts(con.execute(query).fetchall())


def is_there(con: psycopg.Connection[Any]) -> bool:
    found = con.execute("SELECT 1 FROM information_schema.tables WHERE table_name = %s", [TARGET[1]]).fetchall()
    return bool(found)


@pytest.mark.parametrize("seed, model", enumerate(MODELS))
def test_rows_are_those_of_duckdb(postgres: str, seed: int, model: str) -> None:
    columns = COLUMNS
    if "hierarchical" in model:
        columns = tuple(Column(c.name, c.kind, c.role + " USING seen", c.values) if c.role == "SENSITIVE" else c for c in COLUMNS)
    rows = random_rows(seed, 80, columns)
    con = made(rows, model, columns)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    later = random_rows(seed + 100, 40, columns, later=True)
    with psycopg.connect(postgres, autocommit=True) as there:
        for grown in (rows, rows[::2], [*rows, *later], []):
            load(there, grown, columns)
            there.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(*TARGET)))
            there.execute(text)  # type: ignore[call-overload]
            con.duckdb.execute(f'DELETE FROM "{TABLE.replace(chr(34), chr(34) * 2)}"')
            insert(con, grown)
            assert published(there) == released(con)
