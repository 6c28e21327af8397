"""What is in exports as databases and Arrow, and what is refused: logs beside them, more in them, odd bytes."""

from __future__ import annotations

import csv
import math
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow
import pytest

import sqlanon
from sqlanon import DataError, PrivacyViolation, UserError

MADE = """
    CREATE TABLE people AS SELECT i % 3 AS age, ['Flu', 'Cold'][1 + i % 2] AS ill, i / 2 AS dose FROM range(60) AS r(i);
    CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE, dose INSENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
"""
MADE_OF_PEOPLE = """
    CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
"""
CHANGE = "UPDATE r SET ill = 'Mumps' WHERE ill = 'Flu'"
LOGS = ("-wal", "-journal", "-shm", ".wal")


@pytest.fixture(scope="module")
def con() -> Iterator[sqlanon.Connection]:
    with sqlanon.connect() as connection:
        connection.execute(MADE)
        yield connection


def sqlite_log(export: Path) -> Path:
    """Puts a log of SQLite's beside the export, made of a copy of it."""
    copy, log = export.with_name("copy.sqlite"), export.with_name(export.name + "-wal")
    shutil.copy(export, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = wal")
        database.execute(CHANGE)
        shutil.copy(f"{copy}-wal", log)
    copy.unlink()
    return log


def duckdb_log(export: Path) -> Path:
    copy, log = export.with_name("copy.duckdb"), export.with_name(export.name + ".wal")
    shutil.copy(export, copy)
    with closing(duckdb.connect(str(copy))) as database:
        database.execute("PRAGMA disable_checkpoint_on_shutdown")
        database.execute(CHANGE)
        shutil.copy(f"{copy}.wal", log)
    for path in export.parent.glob("copy.*"):
        path.unlink()
    return log


def ills(path: Path) -> set[str]:
    if path.suffix == ".duckdb":
        with closing(duckdb.connect(str(path), read_only=True)) as opened:
            return {ill for (ill,) in opened.execute("SELECT ill FROM r").fetchall()}
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        return {ill for (ill,) in database.execute("SELECT ill FROM r")}


@pytest.mark.parametrize(("format_", "log_of"), [("sqlite", sqlite_log), ("duckdb", duckdb_log)])
def test_a_log_beside_an_export_is_refused(con: sqlanon.Connection, tmp_path: Path, format_: str, log_of: Any) -> None:
    """Whoever opens the database sees what the log says, and not the rows that were certified."""
    out, file = tmp_path / "out", tmp_path / "out" / f"r.{format_}"
    con.sql(f"EXPORT r TO '{out}' (FORMAT {format_})")
    link = tmp_path / f"link.{format_}"
    link.symlink_to(file)
    log = log_of(file)
    names = sorted(path.name for path in out.iterdir())
    for statement in (f"CHECK '{out}'", f"CHECK '{link}'", f"ATTACK '{out}' WITH homogeneity"):
        with pytest.raises(PrivacyViolation, match=f"{log.name} is a log beside"):
            con.sql(statement)
    with pytest.raises(UserError, match="does not belong to an earlier export"):
        con.sql(f"EXPORT r TO '{out}' (FORMAT {format_}, REPLACE true)")
    assert sorted(path.name for path in out.iterdir()) == names
    assert "Mumps" in ills(file)


def test_a_check_leaves_nothing_behind(con: sqlanon.Connection, tmp_path: Path) -> None:
    """Of a database that others are to open with a log, too."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT sqlite)")
    file = tmp_path / "r.sqlite"
    shutil.copy(tmp_path / "out" / "r.sqlite", file)
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = wal")
    assert con.sql(f"CHECK '{file}'").fetchall()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "r.sqlite"}


@pytest.mark.parametrize("target", ["x.sqlite", "x.duckdb", "x.parquet"])
@pytest.mark.parametrize("log", LOGS)
def test_no_export_is_put_beside_a_left_log(con: sqlanon.Connection, tmp_path: Path, target: str, log: str) -> None:
    (tmp_path / (target + log)).write_bytes(b"left")
    with pytest.raises(UserError, match=f"{target}{log} is the log of a database"):
        con.sql(f"EXPORT r TO '{tmp_path}/{target}'")
    assert [path.name for path in tmp_path.iterdir()] == [target + log]


@pytest.mark.long
def test_an_export_does_not_become_the_database_of_a_journal(con: sqlanon.Connection, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA cache_size = 2")
        other.execute("CREATE TABLE secret (name)")
        other.executemany("INSERT INTO secret VALUES (?)", [(f"somebody {number}",) for number in range(3000)])
        other.execute("BEGIN")
        other.execute("UPDATE secret SET name = 'x' || name")
        shutil.copy(f"{path}-journal", tmp_path / "journal")
        other.execute("ROLLBACK")
    path.unlink()
    shutil.move(tmp_path / "journal", f"{path}-journal")
    with pytest.raises(UserError, match="is the log of a database"):
        con.sql(f"EXPORT r TO '{path}'")
    assert not path.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("format_", "change"),
    [
        ("sqlite", "ALTER TABLE r ADD COLUMN name text"),
        ("sqlite", "ALTER TABLE r ADD COLUMN name text AS (1)"),
        ("sqlite", "ALTER TABLE certificate ADD COLUMN name text"),
        ("sqlite", "CREATE TABLE more (name)"),
        ("sqlite", "CREATE VIEW more AS SELECT 1 AS name"),
        ("sqlite", "CREATE TRIGGER more AFTER INSERT ON r BEGIN SELECT 1; END"),
        ("sqlite", "INSERT INTO certificate SELECT * FROM certificate"),
        ("duckdb", "ALTER TABLE r ADD COLUMN name text"),
        ("duckdb", "ALTER TABLE certificate ADD COLUMN name text"),
        ("duckdb", "CREATE TABLE more (name text)"),
        ("duckdb", "CREATE VIEW more AS SELECT 1 AS name"),
        ("duckdb", "INSERT INTO certificate SELECT * FROM certificate"),
    ],
)
def test_a_database_with_more_in_it_is_no_export(
    con: sqlanon.Connection, tmp_path: Path, format_: str, change: str
) -> None:
    """It is neither accepted nor replaced."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT {format_})")
    file = tmp_path / f"alone.{format_}"
    shutil.move(tmp_path / "out" / f"r.{format_}", file)
    assert con.sql(f"CHECK '{file}'").fetchall()
    with closing(sqlite3.connect(file) if format_ == "sqlite" else duckdb.connect(str(file))) as database:
        database.execute(change)
        database.commit()
    content = file.read_bytes()
    with pytest.raises(PrivacyViolation, match="contains more than"):
        con.sql(f"CHECK '{file}'")
    with pytest.raises(UserError, match="nothing but an earlier export is replaced"):
        con.sql(f"EXPORT r TO '{file}' (REPLACE true)")
    assert file.read_bytes() == content


@pytest.mark.parametrize("value", ["'somebody'", "x'00'", "'1.5 somebody'"])
def test_values_of_other_types_are_noticed(con: sqlanon.Connection, tmp_path: Path, value: str) -> None:
    """A column of SQLite's takes any: read as a number, a text would be 0."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT sqlite)")
    file = tmp_path / "alone.sqlite"
    shutil.move(tmp_path / "out" / "r.sqlite", file)
    with closing(sqlite3.connect(file)) as database:
        database.execute(f"UPDATE r SET dose = {value} WHERE dose = 0.5")
        database.commit()
    with pytest.raises(PrivacyViolation, match="values of other types"):
        con.sql(f"CHECK '{file}'")


CHECKED = """
import sys, sqlanon
try:
    sqlanon.connect().sql(f"CHECK '{sys.argv[1]}'")
except sqlanon.PrivacyViolation as error:
    print(error)
"""


@pytest.mark.long
def test_arrow_that_points_nowhere_is_not_read(con: sqlanon.Connection, tmp_path: Path) -> None:
    """In a process of its own, which it would end."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT arrow)")
    exported = (tmp_path / "out" / "r.arrow").read_bytes()
    with pyarrow.ipc.open_file(pyarrow.BufferReader(exported)) as file:
        offsets = file.get_batch(0).column("ill").buffers()[1].to_pybytes()[: 61 * 4]
    at = exported.index(offsets) + 30 * 4
    wrong = (900_000_000).to_bytes(4, "little") + (1_900_000_000).to_bytes(4, "little")
    assert "alone.arrow cannot be read" in said_of(tmp_path, exported[:at] + wrong + exported[at + len(wrong) :])


def said_of(folder: Path, content: bytes) -> str:
    path = folder / "alone.arrow"
    path.write_bytes(content)
    command = [sys.executable, "-c", CHECKED, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.long
@pytest.mark.parametrize("nested", [False, True])
def test_arrow_whose_values_are_not_what_they_are_called(con: sqlanon.Connection, tmp_path: Path, nested: bool) -> None:
    """DuckDB reads 16 bytes of each value where a type is called its HUGEINT."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT arrow)")
    table = pyarrow.ipc.open_file(tmp_path / "out" / "r.arrow").read_all()
    name = {"ARROW:extension:name": "arrow.opaque"}
    name["ARROW:extension:metadata"] = '{"type_name": "hugeint", "vendor_name": "DuckDB"}'
    field = pyarrow.field("dose", pyarrow.null(), metadata=name)
    kind = pyarrow.struct([field]) if nested else field.type
    column = pyarrow.nulls(table.num_rows, kind)
    changed = table.set_column(2, pyarrow.field("dose", kind) if nested else field, column)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, changed.schema) as writer:
        writer.write_table(changed)
    assert "has types that no export writes" in said_of(tmp_path, sink.getvalue().to_pybytes())


def test_arrow_is_written_with_plain_types(tmp_path: Path) -> None:
    with sqlanon.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age, uuid() AS ill FROM range(60); " + MADE_OF_PEOPLE)
        connection.sql("SET arrow_lossless_conversion = true")
        with pytest.raises(UserError, match="this session has arrow_lossless_conversion"):
            connection.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT arrow)")
        connection.sql("RESET arrow_lossless_conversion")
        connection.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT arrow)")


def test_sqlite_has_no_nan(con: sqlanon.Connection, tmp_path: Path) -> None:
    """What is infinite stays, and -0.0 becomes 0.0."""
    con.sql("CREATE TABLE odd AS SELECT 1 AS a, unnest(['nan', '-0.0', 'inf', '-inf'])::DOUBLE AS b, 'x' AS c")
    con.sql("CREATE POLICY o ON odd (a QUASI IDENTIFIER, b INSENSITIVE) REQUIRE k_anonymity(k => 3)")
    con.sql("CREATE ANONYMIZED TABLE odd_r AS POLICY o METHOD generalization")
    with pytest.raises(DataError, match="the column b has NaN"):
        con.sql(f"EXPORT odd_r TO '{tmp_path}/odd.sqlite'")
    assert list(tmp_path.iterdir()) == []
    con.sql(
        "DELETE FROM odd WHERE isnan(b); CREATE OR REPLACE ANONYMIZED TABLE odd_r AS POLICY o METHOD generalization"
    )
    con.sql(f"EXPORT odd_r TO '{tmp_path}/odd.sqlite'; CHECK '{tmp_path}/odd.sqlite'")
    with closing(sqlite3.connect(tmp_path / "odd.sqlite")) as database:
        values = sorted(value for (value,) in database.execute("SELECT b FROM odd_r"))
    assert values == [-math.inf, 0.0, math.inf]
    assert math.copysign(1, values[1]) == 1


def test_a_dictionary_that_the_certificate_names_is_there(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/out' (DICTIONARY true)")
    (tmp_path / "out" / "dictionary.csv").unlink()
    with pytest.raises(UserError, match=r"there is no file .*dictionary\.csv"):
        con.sql(f"CHECK '{tmp_path}/out'")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format_", ["arrow", "sqlite", "csv", "parquet"])
def test_moments_are_in_utc(con: sqlanon.Connection, tmp_path: Path, format_: str) -> None:
    """Nothing in the files says in which time zone they were written, and the session keeps its own."""
    con.sql("CREATE OR REPLACE TABLE zoned AS SELECT i % 2 AS a, to_timestamp(i % 2 * 86400) AS ts FROM range(20) r(i)")
    con.sql("CREATE OR REPLACE POLICY z ON zoned (a QUASI IDENTIFIER, ts INSENSITIVE) REQUIRE k_anonymity(k => 3)")
    con.sql("CREATE OR REPLACE ANONYMIZED TABLE zoned_r AS POLICY z METHOD generalization")
    former = con.sql("SELECT current_setting('TimeZone')").fetchall()[0][0]
    con.sql("SET TimeZone = 'Asia/Tokyo'")
    try:
        by = ", PARTITION_BY (ts)" if format_ == "parquet" else ""
        con.sql(f"EXPORT zoned_r TO '{tmp_path}/out' (FORMAT {format_}{by})")
        assert con.sql("SELECT current_setting('TimeZone')").fetchall() == [("Asia/Tokyo",)]
        assert {satisfied for *_, satisfied, _ in con.sql(f"CHECK '{tmp_path}/out'").fetchall()} == {True}
    finally:
        con.sql(f"SET TimeZone = '{former}'")
    moments = {"1970-01-01 00:00:00+00", "1970-01-02 00:00:00+00"}
    file = tmp_path / "out" / f"zoned_r.{format_}"
    if format_ == "arrow":
        assert str(pyarrow.ipc.open_file(file).schema.field("ts").type) == "timestamp[us, tz=UTC]"
    elif format_ == "sqlite":
        with closing(sqlite3.connect(file)) as database:
            assert {ts for (ts,) in database.execute("SELECT ts FROM zoned_r")} == moments
    elif format_ == "csv":
        with file.open(encoding="utf-8", newline="") as text:
            assert {row["ts"] for row in csv.DictReader(text)} == moments
    else:
        folders = {unquote(folder.name).removeprefix("ts=") for folder in (tmp_path / "out" / "zoned_r").iterdir()}
        assert folders == moments
