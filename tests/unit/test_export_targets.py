"""Exports as Arrow IPC, SQLite and partitioned Parquet, with a dictionary: what is in them, and what CHECK says."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.dataset
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import PrivacyViolation, UserError
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.errors import EngineError
from sqlanon.export.destinations import files

# Values of which some are hard to have in the name of a folder.
WARDS = (
    "NULL",
    "''",
    "'__HIVE_DEFAULT_PARTITION__'",
    "'a/b\\c?'",
    "'..'",
    "'941** [x]'",
    "'Ä=%41'",
    "'NULL'",
    "'it''s \"'",
)
WARD = '"the ""ward"", select"'
MADE = f"""
    CREATE TABLE people AS
    SELECT i AS id, (20 + i % 40)::UTINYINT AS age, [{", ".join(WARDS)}][1 + i % {len(WARDS)}] AS {WARD},
        ['Flu', 'Cold', NULL][1 + i // 9 % 3] AS ill, 1.5 * (i % 2) AS dose, i % 2 = 0 AS smokes
    FROM range({len(WARDS) * 60}) AS r(i);
    CREATE HIERARCHY tens AS INTERVALS (20, 40);
    CREATE POLICY p ON people (id IDENTIFIER, age QUASI IDENTIFIER USING tens MIN LEVEL 1,
        {WARD} QUASI IDENTIFIER MAX LEVEL 0,
        ill SENSITIVE, dose INSENSITIVE, smokes INSENSITIVE)
    REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    CREATE POLICY q ON people (age QUASI IDENTIFIER, {WARD} QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE l_diversity(l => 2);
    CREATE ANONYMIZED TABLE a AS POLICY q METHOD anatomy(l => 2);
"""


@pytest.fixture(scope="module")
def con() -> Any:
    with sqlanon.connect() as connection:
        connection.execute(MADE)
        yield connection


def known_by(con: sqlanon.Connection, path: Path) -> dict[str, set[Any]]:
    answer = con.sql(f"CHECK '{path}'").df()
    return {name: set(rows["known_by"]) for name, rows in answer.groupby("question")}


def rows_of(con: sqlanon.Connection, query: str) -> list[str]:
    return sorted(map(repr, con.sql(f"SELECT COLUMNS(*)::VARCHAR FROM {query}").fetchall()))


@pytest.mark.long
@pytest.mark.parametrize("format_", ["arrow", "sqlite"])
def test_the_receiver_checks_them(con: sqlanon.Connection, tmp_path: Path, format_: str) -> None:
    """Tables of several files, too; and a changed byte is noticed."""
    con.sql(f"EXPORT r TO '{tmp_path}/r' (FORMAT {format_}); EXPORT a TO '{tmp_path}/x/a' (FORMAT {format_})")
    con.sql(f"EXPORT r TO '{tmp_path}/one.{format_}'; EXPORT r TO '{tmp_path}/one.{format_}' (REPLACE true)")
    for path in (tmp_path / "r", tmp_path / "x" / "a", tmp_path / f"one.{format_}"):
        assert known_by(con, path)["distinct_l_diversity"] == {"recomputed from the files"}
    assert con.sql(f"ATTACK '{tmp_path}/r' WITH homogeneity").fetchall()
    # A file alone has its certificate within, which names no hash.
    alone = tmp_path / f"alone.{format_}"
    alone.write_bytes((tmp_path / f"one.{format_}").read_bytes())
    assert con.sql(f"CHECK '{alone}'").fetchall()[0][5] is None
    content = alone.read_bytes().replace(b"Cold", b"Mild")
    (tmp_path / f"one.{format_}").write_bytes(content)
    with pytest.raises(PrivacyViolation, match="is not the file"):
        con.sql(f"CHECK '{tmp_path}/one.{format_}'")
    with pytest.raises(UserError, match=r"is taken: .* was changed since"):
        con.sql(f"EXPORT r TO '{tmp_path}/one.{format_}' (REPLACE true)")
    asked = "ESTIMATE SELECT count(*) FROM people FROM RELEASE"
    assert con.sql(f"{asked} '{tmp_path}/r'").fetchall() == con.sql(f"{asked} r").fetchall()


@pytest.mark.long
def test_sqlite_has_the_release_and_its_certificate(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/r.sqlite'")
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as file:
        assert sorted(file.execute("SELECT name FROM sqlite_master")) == [("certificate",), ("r",)]
        assert json.loads(file.execute("SELECT json FROM certificate").fetchone()[0])["release"] == "r"
        found = sorted(map(repr, file.execute("SELECT * FROM r")))
    wanted = con.sql(f"SELECT age, {WARD}, ill, dose::VARCHAR, smokes::VARCHAR FROM r").fetchall()
    assert found == sorted(map(repr, wanted))
    con.sql(
        "CREATE ANONYMIZED TABLE sqlite_r AS POLICY p "
        "METHOD generalization; CREATE ANONYMIZED TABLE Certificate AS POLICY p"
    )
    for name in ("sqlite_r", "Certificate"):
        with pytest.raises(UserError, match="cannot hold a release named"):
            con.sql(f"EXPORT {name} TO '{tmp_path}/other.sqlite'")


def test_arrow_is_read_by_arrow(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/r.arrow'")
    table = pyarrow.ipc.open_file(tmp_path / "r.arrow").read_all()
    assert json.loads(table.schema.metadata[b"sqlanon_certificate"])["release"] == "r"
    con.register("table_of_arrow", table)
    assert rows_of(con, "table_of_arrow") == rows_of(con, "r")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("by", [f"{WARD}", f"{WARD}, AGE", "ill"])
def test_a_partition_is_the_release(con: sqlanon.Connection, tmp_path: Path, by: str) -> None:
    """Whoever reads it, by the folders' names or not; and each folder has the rows of its values alone."""
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT parquet, PARTITION_BY ({by}))")
    files = sorted((tmp_path / "out" / "r").rglob("*.parquet"))
    assert len(files) == con.sql(f"SELECT count(*) FROM (SELECT DISTINCT {by} FROM r)").fetchall()[0][0]
    for hive in ("true", "false"):
        read = f"read_parquet('{tmp_path}/out/r/**/*.parquet', hive_partitioning = {hive}, hive_types_autocast = false)"
        assert rows_of(con, f"(SELECT age, {WARD}, ill, dose, smokes FROM {read})") == rows_of(con, "r")
    for file in files:
        [(parts,)] = con.sql(f"SELECT count(*) FROM (SELECT DISTINCT {by} FROM read_parquet('{file}'))").fetchall()
        assert parts == 1
    assert pyarrow.dataset.dataset(tmp_path / "out" / "r").count_rows() == len(rows_of(con, "r"))
    assert known_by(con, tmp_path / "out")["k_anonymity"] == {"recomputed from the files"}
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    assert {(tmp_path / "out" / file["name"]) for file in stated["files"]} == set(files)
    # An export of another shape takes its place, and is replaced again.
    con.sql(f"EXPORT a TO '{tmp_path}/out' (REPLACE true)")
    con.sql(f"EXPORT r TO '{tmp_path}/out' (REPLACE true, PARTITION_BY (ill))")
    estimated = con.sql(f"ESTIMATE SELECT count(*) FROM people WHERE ill = 'Flu' FROM RELEASE '{tmp_path}/out'")
    assert estimated.fetchall()[0][0] == con.sql("SELECT count(*) FROM people WHERE ill = 'Flu'").fetchall()[0][0]


def test_what_is_put_into_a_partition_is_noticed(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/out' (PARTITION_BY (ill))")
    file = next((tmp_path / "out" / "r").rglob("*.parquet"))
    with pytest.raises(UserError, match="is one of several files"):
        con.sql(f"CHECK '{file}'")
    other = file.with_name("more.parquet")
    other.write_bytes(file.read_bytes())
    with pytest.raises(PrivacyViolation, match="has other files than"):
        con.sql(f"CHECK '{tmp_path}/out'")
    with pytest.raises(UserError, match=r"more\.parquet does not belong to an earlier export"):
        con.sql(f"EXPORT r TO '{tmp_path}/out' (REPLACE true)")
    other.unlink()
    certificate = tmp_path / "out" / "certificate.json"
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    for name in ("r/../../x.parquet", "/r/ill=Flu/x.parquet", "../out/r/x.parquet"):
        stated["files"][0]["name"] = name
        certificate.write_text(json.dumps(stated), encoding="utf-8")
        with pytest.raises(UserError, match="not beside it"):
            con.sql(f"CHECK '{tmp_path}/out'")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("PARTITION_BY (id)", "publishes no column id"),
        ("PARTITION_BY (ill, ILL)", "names a column twice"),
        ("FORMAT csv, PARTITION_BY (ill)", "format csv has no partitions"),
        ("FORMAT arrow, PARTITION_BY (ill)", "format arrow has no partitions"),
    ],
)
def test_what_is_no_partition(con: sqlanon.Connection, tmp_path: Path, options: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        con.sql(f"EXPORT r TO '{tmp_path}/out' ({options})")
    assert raised.value.position is not None
    assert list(tmp_path.iterdir()) == []


def test_partitions_have_bounds(con: sqlanon.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_PARTS", 2)
    with pytest.raises(UserError, match="have 3 combinations of values"):
        con.sql(f"EXPORT r TO '{tmp_path}/out' (PARTITION_BY (ill))")
    with pytest.raises(UserError, match="this one has 2"):
        con.sql(f"EXPORT a TO '{tmp_path}/out' (PARTITION_BY (ill))")
    with pytest.raises(UserError, match="names one file"):
        con.sql(f"EXPORT r TO '{tmp_path}/out.parquet' (PARTITION_BY (ill))")


def read_dictionary(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_dictionary_says_what_each_column_is(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT csv, DICTIONARY true); EXPORT a TO '{tmp_path}/a' (DICTIONARY)")
    rows = read_dictionary(tmp_path / "out" / "dictionary.csv")
    assert [row["column"] for row in rows] == ["age", 'the "ward", select', "ill", "dose", "smokes"]
    assert [row["role"] for row in rows] == ["quasi identifier"] * 2 + ["sensitive"] + ["insensitive"] * 2
    assert (rows[0]["hierarchy"], rows[0]["height"]) == ("tens", "3")
    [(level,)] = con.sql(
        "SELECT DISTINCT level FROM anon.release_attribute WHERE attribute = 'age' AND level > 0"
    ).fetchall()
    assert rows[0]["level"] == str(level)
    assert rows[0]["a label means"].startswith("[20,30) is any value from 20 to below 30")
    assert {row["table"] for row in read_dictionary(tmp_path / "a" / "dictionary.csv")} == {"a_qi", "a_sensitive"}
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    assert stated["dictionary"]["name"] == "dictionary.csv"
    # What is not published, and what the hierarchy would list, is not in it.
    text = (tmp_path / "out" / "dictionary.csv").read_text(encoding="utf-8")
    assert "id" not in {row["column"] for row in rows}
    assert "Flu" not in text


def test_the_dictionary_says_that_a_range_of_texts_is_alphabetical(tmp_path: Path) -> None:
    """[Neoplasms, Respiratory] reads as one or the other, and has Nervous in it, too."""
    with sqlanon.connect() as con:
        con.execute("""
            CREATE TABLE t AS SELECT i AS age, ['Neoplasms', 'Nervous', 'Respiratory'][1 + i % 3] AS chapter
            FROM range(12) AS t(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, chapter QUASI IDENTIFIER) REQUIRE k_anonymity(k => 12);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian""")
        con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT csv, DICTIONARY true)")
        assert con.execute("SELECT DISTINCT chapter FROM r").fetchall() == [("[Neoplasms, Respiratory]",)]
    said = {row["column"]: row["a label means"] for row in read_dictionary(tmp_path / "out" / "dictionary.csv")}
    assert said["age"] == ""
    assert said["chapter"].startswith("[a, c] is an alphabetical range: any text from a to c, such as b")


def test_a_dictionary_goes_with_its_export(con: sqlanon.Connection, tmp_path: Path) -> None:
    """It is replaced with it, removed where the new one has none, and nobody else's file is."""
    path, beside = tmp_path / "r.csv", tmp_path / "r.csv.dictionary.csv"
    con.sql(f"EXPORT r TO '{path}' (DICTIONARY true); EXPORT r TO '{path}' (DICTIONARY true, REPLACE true)")
    assert beside.exists()
    con.sql(f"EXPORT r TO '{path}' (REPLACE true)")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "r.csv",
        "r.csv.certificate.json",
        "r.csv.certificate.md",
    ]
    beside.write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"r\.csv\.dictionary\.csv has no certificate of an export"):
        con.sql(f"EXPORT r TO '{path}' (REPLACE true)")
    assert beside.read_text(encoding="utf-8") == "mine"


def test_a_changed_dictionary_is_noticed(con: sqlanon.Connection, tmp_path: Path) -> None:
    con.sql(f"EXPORT r TO '{tmp_path}/out' (DICTIONARY true)")
    with (tmp_path / "out" / "dictionary.csv").open("a", encoding="utf-8") as file:
        file.write("r,more,,,,,,,\n")
    with pytest.raises(PrivacyViolation, match=r"dictionary\.csv is not the file that"):
        con.sql(f"CHECK '{tmp_path}/out'")


@pytest.mark.long
def test_the_command_has_the_options(tmp_path: Path) -> None:
    database = tmp_path / "x.duckdb"
    with sqlanon.connect(database) as connection:
        connection.execute(MADE)
    command = ["export", "r", str(tmp_path / "out"), "-d", str(database), "--partition-by", "ill", "--dictionary"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "dictionary.csv").exists()
    assert (tmp_path / "out" / "r" / "ill=Flu").is_dir()
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "out")]).exit_code == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("postgresql://u:s3cret%@h/db?schema=x", "has a password in it"),
        ("postgresql://h/db?schema=x&password=s3cret", "has a password in it"),
        ("postgresql://h/db?schema=x&sslpassword=s3cret", "has a password in it"),
        ("mysql://u:s3cret@h/db", "cannot be used as the path of a file"),
        ("postgresql://h/db?schema=public", "is reserved and cannot hold an export"),
        ("postgresql://h/db?schema=pg_temp", "is reserved and cannot hold an export"),
        ("postgresql://h/db?schema=" + "ü" * 40, "longer name"),
        ("postgresql://h/db?schema=x&schema=y", "or several"),
    ],
)
def test_no_password_is_in_a_url_or_shown(con: sqlanon.Connection, path: str, said: str) -> None:
    for statement in (f"EXPORT r TO '{path}'", f"CHECK '{path}'", f"ATTACK '{path}' WITH homogeneity"):
        with pytest.raises(UserError, match=said if statement.startswith("EXPORT") else ".") as raised:
            con.sql(statement)
        assert "s3cret" not in str(raised.value)
    done = CliRunner().invoke(app, ["verify", path])
    assert done.exit_code == 2
    assert "s3cret" not in done.output + done.stderr


@pytest.mark.parametrize("source", ["postgresql://u:s3cret@h/db", "host=h user=u password=s3cret"])
def test_no_policy_keeps_a_password(con: sqlanon.Connection, source: str) -> None:
    roles = "(a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"
    with pytest.raises(sqlanon.PolicyError, match="has a password in it") as raised:
        con.sql(f"CREATE POLICY w ON (FROM postgres_query('{source}', 'x')) {roles}")
    assert "s3cret" not in str(raised.value)
    # A column may be called so.
    con.sql("CREATE TABLE logins AS SELECT 'a' AS password, 1 AS a FROM range(4)")
    con.sql(f"CREATE POLICY w ON (FROM logins WHERE password = 'a') {roles}; DROP POLICY w; DROP TABLE logins")


def test_a_failed_export_leaves_the_connection_free(
    con: sqlanon.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a stream, too."""

    def ended(self: AdbcConnection, table: str, stream: Any) -> None:
        stream.read_next_batch()
        raise EngineError("no room")

    monkeypatch.setattr(AdbcConnection, "ingest", ended)
    with pytest.raises(EngineError, match="no room"):
        con.sql(f"EXPORT r TO '{tmp_path}/r.sqlite'")
    assert con.sql("SELECT count(*) FROM people").fetchall() == [(len(WARDS) * 60,)]
    assert list(tmp_path.iterdir()) == []
