"""What each format holds of DuckDB's types and of any text."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.export.formats.base import ExportFile, export_format
from sqlanon.plugins import names
from sqlanon.release.existing.objects import fingerprint_of
from sqlanon.sql.build.names import column, relation
from tests.support.database import new_database
from tests.support.draws import draws

FORMATS = names("sqlanon.export.formats")

TYPED = {
    "n": "NULL::INTEGER",
    "truth": "i % 2 = 0",
    "tiny": "i::UTINYINT",
    "huge": "170141183460469231731687303715884105727::HUGEINT",
    "money": "(i * 1.25)::DECIMAL(38, 3)",
    "share": "i / 7",
    "float": "'-inf'::FLOAT",
    "day": "DATE '2020-02-29' + i::INTEGER",
    "clock": "TIME '23:59:59.999999'",
    "moment": "TIMESTAMP '1969-12-31 23:59:59.999999'",
    "second": "TIMESTAMP_S '2020-01-01 00:00:01'",
    "nano": "TIMESTAMP_NS '2020-01-01 00:00:00.000000001'",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00+05:30'",
    "span": "INTERVAL '1 month 2 days 3.000004 seconds'",
    "id": "'d2ed422a-d6bf-4623-a009-c79254669365'::UUID",
    "bytes": "'\\x00\\xFFa'::BLOB",
    "bits": "'0101'::BIT",
    "document": """'{"a": [1, null]}'::JSON""",
    "list": "['a,b', 'c\"d', NULL]",
    "array": "[1, 2]::INTEGER[2]",
    "struct": "{'x': i, 'y z': [{'w': 'v'}]}",
    "map": "MAP {'k': i}",
    "either": "union_value(num := i)",
    "big": "123456789012345678901234567890::BIGNUM",
    "variant": "(i)::VARIANT",
}


def test_formats() -> None:
    assert FORMATS == ("arrow", "csv", "duckdb", "parquet", "sqlite")


def stored(connection: sqlanon.Connection) -> list[tuple[Any, ...]]:
    """The rows of the release as SQLite has them: whole numbers, DOUBLE, texts and bytes."""
    columns = connection.sql("DESCRIBE release").fetchall()
    as_it_is = ("TINYINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "VARCHAR", "BLOB")
    outputs = [
        f'"{name}"' if kind.removeprefix("U") in as_it_is else f'"{name}"::VARCHAR' for name, kind, *_ in columns
    ]
    return connection.execute(f"SELECT {', '.join(outputs)} FROM release").fetchall()


@pytest.mark.one_in(25)
@pytest.mark.parametrize("format_", FORMATS)
def test_every_type(tmp_path: Path, format_: str) -> None:
    connection = new_database()
    columns = ", ".join(f'{value} AS "{name}"' for name, value in TYPED.items())
    roles = ", ".join(f'"{name}" INSENSITIVE' for name in TYPED)
    connection.sql(f"""
        CREATE TABLE t AS SELECT i % 2 AS age, {columns} FROM range(8) AS r(i);
        CREATE POLICY p ON t (age QUASI IDENTIFIER, {roles}) REQUIRE k_anonymity(k => 4);
        CREATE ANONYMIZED TABLE release AS POLICY p METHOD generalization;
        EXPORT release TO '{tmp_path / "out"}' (FORMAT {format_});
    """)
    [path] = (tmp_path / "out").glob(f"release.{format_}")
    as_text = "SELECT COLUMNS(*)::VARCHAR FROM "
    if format_ == "arrow":
        batch = pyarrow.ipc.open_file(path).read_all()
        connection.register("batch", batch)
    if format_ == "sqlite":
        with closing(sqlite3.connect(path)) as file:
            assert sorted(map(repr, file.execute("SELECT * FROM release"))) == sorted(map(repr, stored(connection)))
        return
    expected = connection.execute(as_text + "release").fetchall()
    if format_ == "duckdb":
        connection.execute(f"ATTACH '{path}' AS exported (READ_ONLY)")
        found = connection.execute(as_text + "exported.release").fetchall()
    elif format_ == "arrow":
        found = connection.execute(as_text + "batch").fetchall()
    elif format_ == "parquet":
        found = connection.execute(as_text + f"'{path}'").fetchall()
    else:
        found = connection.execute(
            as_text + f"read_csv('{path}', all_varchar = true, header = true, allow_quoted_nulls = false)"
        ).fetchall()
    assert found == expected


@pytest.mark.one_in(5)
@pytest.mark.drawn
@settings(deadline=None, max_examples=draws(10, long=40))
@given(rows=st.lists(st.tuples(st.none() | st.text(), st.none() | st.text()), max_size=12), one=st.booleans())
@pytest.mark.parametrize("format_", FORMATS)
def test_any_text_reads_back(format_: str, rows: list[tuple[str | None, str | None]], one: bool) -> None:
    """NULL, the empty text, quotes, line breaks and NUL included; also in a table of one column."""
    kind = export_format(format_)
    engine: Any = DuckDBEngine(open_database(":memory:"))
    engine.run("CREATE TABLE t (a VARCHAR, b VARCHAR)")
    for row in rows:
        engine.run("INSERT INTO t VALUES (?, ?)", row)
    held = (("a", "VARCHAR"),) if one else (("a", "VARCHAR"), ("b", "VARCHAR"))
    query = exp.select(*(column(name) for name, _ in held)).from_(relation("t"))
    folder = Path(tempfile.mkdtemp())
    try:
        file = ExportFile(folder / "file", "t", held)
        kind.write(engine, file, query, "the certificate")
        reader = kind.reopen([file], {})
        try:
            assert fingerprint_of(reader, kind.read(file)) == fingerprint_of(engine, query)
            assert list(kind.certificate(reader, file)) == ["the certificate"] * kind.CARRIES_CERTIFICATE
            with pytest.raises(sqlanon.EngineError):
                reader.rows("SELECT * FROM read_text('/etc/passwd')")
            with pytest.raises(sqlanon.EngineError):
                reader.run("SET enable_external_access = true")
        finally:
            reader.connection.close()
    finally:
        engine.connection.close()
        shutil.rmtree(folder)
