"""EXPORT through the statement: what is refused, and what the files hold."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

import sqlanon
from sqlanon import CatalogError, EngineError, PrivacyViolation, SqlanonError, UserError
from sqlanon.catalog.releases import seal
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.formats import csv as csv_format
from sqlanon.export.formats import duckdb as duckdb_format
from sqlanon.export.formats import parquet as parquet_format

FORMATS = ("parquet", "csv", "duckdb")

SETUP = """
CREATE TABLE people AS
SELECT 'person ' || i AS name, 20 + i % 4 * 10 AS age, ['F', 'M'][1 + i % 2] AS sex, i / 8 AS score,
       CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a "b", c' WHEN 3 THEN 'two' || chr(10) || 'lines'
                  ELSE 'ü' END AS note
FROM range(40) AS t(i)
UNION ALL SELECT 'the only one', 99, 'F', 0.5, 'alone';
CREATE HIERARCHY decades AS INTERVALS (20, 40);
CREATE POLICY p ON people (
    name IDENTIFIER, age QUASI IDENTIFIER USING decades, sex QUASI IDENTIFIER, score INSENSITIVE, note SENSITIVE
) REQUIRE k_anonymity(k => 5);
CREATE ANONYMIZED TABLE release AS POLICY p METHOD generalization(suppression => 0.05);
"""


@pytest.fixture(scope="module")
def people() -> Any:
    """For tests that only read."""
    connection = sqlanon.connect()
    connection.sql(SETUP)
    return connection


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "people.duckdb"
    with sqlanon.connect(path) as connection:
        connection.sql(SETUP)
    return path


@pytest.fixture
def own(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """For tests that change the database; it does not lie in the test's own folder."""
    copied = shutil.copy(database, tmp_path_factory.mktemp("copy") / "people.duckdb")
    with sqlanon.connect(copied) as connection:
        yield connection


def export(connection: Any, path: Path | str, format_: str = "parquet", *, replace: bool = False) -> tuple[Any, ...]:
    quoted = str(path).replace("'", "''")
    said = ", REPLACE true" if replace else ""
    rows = connection.sql(f"EXPORT release TO '{quoted}' (FORMAT {format_}{said})").fetchall()
    [(*answer, warning)] = rows
    assert warning is None
    return tuple(answer)


def released(connection: Any) -> list[tuple[Any, ...]]:
    return list(connection.execute("SELECT * FROM release").fetchall())


def stated(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "certificate.json").read_text(encoding="utf-8")))


def nothing_left(folder: Path) -> bool:
    return not list(folder.iterdir())


def test_parquet_holds_the_rows_in_their_order_and_the_certificate(people: Any, tmp_path: Path) -> None:
    answer = export(people, tmp_path / "out")
    assert answer == (
        "main.release",
        "parquet",
        f"{tmp_path}/out/release.parquet",
        40,
        f"{tmp_path}/out/certificate.json",
    )
    table = pyarrow.parquet.read_table(tmp_path / "out" / "release.parquet")
    assert [tuple(row.values()) for row in table.to_pylist()] == released(people)
    inside = json.loads(table.schema.metadata[b"sqlanon_certificate"])
    beside = stated(tmp_path / "out")
    assert "files" not in inside
    assert {**inside, "files": beside["files"]} == beside


def test_csv_tells_null_from_empty_text(people: Any, tmp_path: Path) -> None:
    export(people, tmp_path / "out", "csv")
    text = (tmp_path / "out" / "release.csv").read_text(encoding="utf-8")
    header, *records = csv.reader(text.splitlines(keepends=True))
    assert header == ["age", "sex", "score", "note"]
    as_text = people.execute("SELECT COLUMNS(*)::VARCHAR FROM release").fetchall()
    assert [tuple(row) for row in records] == [tuple(value or "" for value in row) for row in as_text]
    notes = [row[3] for row in released(people)]
    ends = Counter(line.rpartition(",")[2] for line in text.splitlines()[1:])
    assert ends[""] == notes.count(None) == 8
    assert ends['""'] == notes.count("") == 8


def test_duckdb_file_holds_the_release_the_certificate_and_nothing_else(people: Any, tmp_path: Path) -> None:
    export(people, tmp_path / "out", "duckdb")
    with duckdb.connect(str(tmp_path / "out" / "release.duckdb"), read_only=True) as file:
        assert sorted(file.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()) == [
            ("main", "certificate"),
            ("main", "release"),
        ]
        assert file.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]
        assert file.execute("FROM release").fetchall() == released(people)
        [(inside,)] = file.execute("SELECT json FROM certificate").fetchall()
    beside = stated(tmp_path / "out")
    assert {**json.loads(inside), "files": beside["files"]} == beside
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "certificate.json",
        "certificate.md",
        "release.duckdb",
    ]
    attached = people.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall()
    assert attached == [("memory",)]


@pytest.mark.parametrize("format_", FORMATS)
def test_certificate_states_what_was_required_and_achieved(people: Any, tmp_path: Path, format_: str) -> None:
    _, _, path, _, certificate = export(people, tmp_path / "out", format_)
    said = json.loads(Path(certificate).read_text(encoding="utf-8"))
    classes = Counter((age, sex) for age, sex, *_ in released(people))
    [requirement] = said["requirements"]
    assert requirement["model"] == "k_anonymity"
    assert requirement["required"] == 5
    assert requirement["achieved"] == min(classes.values())
    assert requirement["satisfied"] is True
    assert requirement["recomputed_from"] == "exported file"
    assert "Samarati" in requirement["paper"]
    assert said["rows"] == {"source": 41, "released": 40, "suppressed": 1}
    assert [(level["attribute"], level["height"]) for level in said["levels"]] == [("age", 3), ("sex", 1)]
    [[loss, fingerprint]] = people.execute("SELECT loss, policy_fingerprint FROM anon.release").fetchall()
    assert said["loss"]["achieved"] == pytest.approx(loss)
    assert said["policy"]["fingerprint_sha256"] == fingerprint
    assert said["versions"]["exported_with"] == {
        "engine": f"DuckDB {duckdb.__version__}",
        "sqlanon": sqlanon.__version__,
    }
    [file] = said["files"]
    content = Path(path).read_bytes()
    assert file == {
        "name": Path(path).name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert file["sha256"] in markdown
    assert "What it does not promise" in markdown


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_path_with_the_format_s_suffix_is_the_file(people: Any, tmp_path: Path, format_: str) -> None:
    target = tmp_path / f"here.{format_}"
    _, _, path, _, certificate = export(people, target, format_)
    assert path == str(target)
    assert certificate == f"{target}.certificate.json"
    assert {file.name for file in tmp_path.iterdir()} == {
        f"here.{format_}",
        f"here.{format_}.certificate.json",
        f"here.{format_}.certificate.md",
    }
    with pytest.raises(UserError, match="exists already"):
        export(people, target, format_)
    before = target.read_bytes()
    export(people, target, format_, replace=True)
    assert len(target.read_bytes()) == pytest.approx(len(before), rel=0.1)


def test_paths_are_answered_as_given(people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, _, path, _, certificate = export(people, "new/deep/out/")
    assert (path, certificate) == ("new/deep/out/release.parquet", "new/deep/out/certificate.json")
    assert Path(path).is_file()


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", ['it\'s "here"; DROP TABLE größe ☂', "a[b]*{c,d} per%cent", "year=2026"])
def test_hostile_paths(people: Any, tmp_path: Path, name: str, format_: str) -> None:
    _, _, path, rows, certificate = export(people, tmp_path / name / name, format_)
    assert rows == 40
    assert Path(path).parent == tmp_path / name / name
    assert json.loads(Path(certificate).read_text(encoding="utf-8"))["rows"]["released"] == 40


@pytest.mark.parametrize("name", ["what?", "back\\slash"])
def test_paths_that_duckdb_misreads(people: Any, tmp_path: Path, name: str) -> None:
    export(people, tmp_path / name)
    with pytest.raises(UserError, match="question mark or a backslash"):
        export(people, tmp_path / name / "db", "duckdb")
    assert not (tmp_path / name / "db").exists()


def test_refuses_a_live_view(own: Any, tmp_path: Path) -> None:
    own.sql("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization(suppression => 0.05)")
    with pytest.raises(UserError, match="live view") as refused:
        own.sql(f"EXPORT live TO '{tmp_path / 'out'}'")
    assert "not frozen" in str(refused.value)
    assert "CREATE ANONYMIZED TABLE" in str(refused.value.hint)
    assert not (tmp_path / "out").exists()


def test_refuses_an_unknown_format(people: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="xlsx") as refused:
        export(people, tmp_path / "out", "xlsx")
    assert all(name in str(refused.value.hint) for name in FORMATS)


def test_refuses_another_format_s_suffix(people: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="csv file, but the format is parquet"):
        export(people, tmp_path / "out.csv")


@pytest.mark.parametrize("path", ["s3://bucket/out", "", "  "])
def test_refuses_a_path_that_is_no_local_folder(people: Any, path: str) -> None:
    with pytest.raises(UserError):
        export(people, path)


def test_refuses_a_target_that_exists(people: Any, tmp_path: Path) -> None:
    export(people, tmp_path / "out")
    before = (tmp_path / "out" / "certificate.json").read_bytes()
    with pytest.raises(UserError, match="exists already"):
        export(people, tmp_path / "out")
    assert (tmp_path / "out" / "certificate.json").read_bytes() == before


def test_an_empty_folder_may_be_there(people: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export(people, tmp_path / "out")
    assert (tmp_path / "out" / "release.parquet").is_file()


def test_replaces_a_former_export(people: Any, tmp_path: Path) -> None:
    export(people, tmp_path / "out")
    export(people, tmp_path / "out", "csv", replace=True)
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {"release.csv", "certificate.json", "certificate.md"}
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_replace_spares_what_is_not_an_export(people: Any, tmp_path: Path) -> None:
    export(people, tmp_path / "out")
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match=r"out is taken: thesis\.txt does not belong to an earlier export"):
        export(people, tmp_path / "out", replace=True)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "certificate.json").write_text('{"format": "something else", "files": []}')
    with pytest.raises(UserError, match=r"certificate\.json is not a certificate"):
        export(people, tmp_path / "other", replace=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="not a folder"):
        export(people, tmp_path / "file", replace=True)
    (tmp_path / "x.csv.certificate.json").write_text("{}")
    with pytest.raises(UserError, match=r"x\.csv\.certificate\.json is not a certificate"):
        export(people, tmp_path / "x.csv", "csv", replace=True)


def test_refuses_links_and_the_current_folder(people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(UserError, match="symbolic link"):
        export(people, tmp_path / "link")
    monkeypatch.chdir(tmp_path / "real")
    with pytest.raises(UserError, match="current folder"):
        export(people, ".")


def test_refuses_inside_a_transaction(own: Any, tmp_path: Path) -> None:
    own.sql("BEGIN")
    with pytest.raises(UserError, match="transaction"):
        export(own, tmp_path / "out")
    own.sql("ROLLBACK")
    export(own, tmp_path / "out")


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE release SET note = 'changed' WHERE note = 'ü'",
        "DELETE FROM release",
        "INSERT INTO release SELECT * FROM release",
        "UPDATE release SET age = 77 WHERE rowid = 0",
        "ALTER TABLE release ADD COLUMN name VARCHAR",
        "ALTER TABLE release RENAME COLUMN note TO remark",
        "ALTER TABLE release ALTER note TYPE ENUM('', 'a \"b\", c', 'two\nlines', 'ü', 'withheld')",
        "CREATE OR REPLACE TABLE release AS SELECT age, sex, score, name AS note FROM people",
        "DROP TABLE release",
    ],
)
@pytest.mark.parametrize("format_", ["parquet", "duckdb"])
def test_refuses_a_snapshot_that_was_changed(own: Any, tmp_path: Path, change: str, format_: str) -> None:
    own.sql(change)
    with pytest.raises(PrivacyViolation) as refused:
        export(own, tmp_path / "out", format_)
    assert "person" not in str(refused.value)
    assert nothing_left(tmp_path)


def test_refuses_a_breach_that_the_catalog_was_made_to_allow(own: Any, tmp_path: Path) -> None:
    own.sql("UPDATE release SET sex = 'X' WHERE rowid = 0")
    own.sql(
        "UPDATE anon.release SET content_fingerprint = "
        "(SELECT concat_ws(':', count(*), bit_xor(hash(release)), sum(hash(release)::HUGEINT)) FROM release)"
    )
    with pytest.raises(CatalogError, match="were changed after"):
        export(own, tmp_path / "out")
    # Whoever means to can go on.
    engine = DuckDBEngine(own.duckdb)
    seal(engine, engine.rows("SELECT release_id FROM anon.release")[0][0])
    with pytest.raises(PrivacyViolation, match=r"does not meet k_anonymity\(k => 5\): it reaches 1"):
        export(own, tmp_path / "out")
    assert nothing_left(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE anon.release SET policy_json = replace(policy_json, '\"k\":5', '\"k\":2')",
        "UPDATE anon.release SET suppressed_rows = 0",
        "UPDATE anon.release SET policy_json = '{}'",
    ],
)
def test_refuses_a_catalog_that_contradicts_itself(own: Any, tmp_path: Path, change: str) -> None:
    own.sql(change)
    with pytest.raises(CatalogError):
        export(own, tmp_path / "out")
    assert nothing_left(tmp_path)


def test_a_file_that_differs_is_never_put_in_place(own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = csv_format.write

    def meddled(engine: Any, file: Any, rows: Any, certificate: str) -> None:
        write(engine, file, rows, certificate)
        text = file.path.read_text(encoding="utf-8")
        file.path.write_text(text.replace("ü", "u", 1), encoding="utf-8")

    monkeypatch.setattr(csv_format, "write", meddled)
    with pytest.raises(SqlanonError, match="other rows"):
        export(own, tmp_path / "deep" / "out", "csv")
    assert nothing_left(tmp_path)


def test_a_file_that_breaks_the_requirement_is_never_put_in_place(
    own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = csv_format.write

    def meddled(engine: Any, file: Any, rows: Any, certificate: str) -> None:
        write(engine, file, rows, certificate)
        head, first, rest = file.path.read_text(encoding="utf-8").split("\n", 2)
        file.path.write_text(f"{head}\nunique{first}\n{rest}", encoding="utf-8")

    monkeypatch.setattr(csv_format, "write", meddled)
    with pytest.raises(PrivacyViolation, match="would violate"):
        export(own, tmp_path / "out", "csv")
    assert nothing_left(tmp_path)


def test_anything_else_in_a_duckdb_file_is_refused(own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = duckdb_format.write

    def meddled(engine: Any, file: Any, rows: Any, certificate: str) -> None:
        write(engine, file, rows, certificate)
        with duckdb.connect(str(file.path)) as other:
            other.execute("CREATE TABLE more AS SELECT 1")

    monkeypatch.setattr(duckdb_format, "write", meddled)
    with pytest.raises(SqlanonError, match="contains more than the release"):
        export(own, tmp_path / "out", "duckdb")
    assert nothing_left(tmp_path)


def test_a_file_without_its_certificate_is_never_put_in_place(
    own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = parquet_format.certificate
    monkeypatch.setattr(parquet_format, "certificate", lambda *given: certificate(*given)[1:])
    with pytest.raises(SqlanonError, match="another certificate"):
        export(own, tmp_path / "out")
    assert nothing_left(tmp_path)


def test_a_disk_error_leaves_nothing(own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(EngineError, match="No space left"):
        export(own, tmp_path / "new" / "out")
    assert nothing_left(tmp_path)


@pytest.mark.parametrize("parent", ["/proc/self/nowhere", "/dev/null"])
def test_a_folder_that_cannot_be_made(people: Any, parent: str) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        export(people, f"{parent}/out")


def test_respondents_are_counted_in_the_snapshot(tmp_path: Path) -> None:
    connection = sqlanon.connect()
    connection.sql("""
        CREATE TABLE visits AS
        SELECT i % 12 AS patient, ['a', 'b'][1 + i % 2] AS ward, i AS bill FROM range(36) AS t(i);
        CREATE POLICY v ON visits (patient ENTITY PSEUDONYM, ward QUASI IDENTIFIER, bill SENSITIVE)
            REQUIRE k_anonymity(k => 6);
        CREATE ANONYMIZED TABLE release AS POLICY v METHOD generalization;
    """)
    export(connection, tmp_path / "out", "csv")
    [requirement] = stated(tmp_path / "out")["requirements"]
    assert requirement["achieved"] == 6
    assert requirement["recomputed_from"].startswith("snapshot")
    markdown = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "Respondents were counted" in markdown
    assert "A pseudonym hides a name" in markdown
    connection.sql("UPDATE release SET bill = bill + 1")
    with pytest.raises(PrivacyViolation):
        export(connection, tmp_path / "again", "csv")


def test_a_read_only_database_can_be_exported(database: Path, tmp_path: Path) -> None:
    with sqlanon.connect(database, read_only=True) as connection:
        for format_ in FORMATS:
            [answer] = connection.sql(f"EXPORT release TO '{tmp_path}/{format_}' (FORMAT {format_})").fetchall()
            assert answer[3] == 40
            assert "nothing remembers this export" in answer[5]


def test_hostile_names(tmp_path: Path) -> None:
    name = "a/b \"c\" 'd' .. certificate ☂ " + "x" * 170
    quoted = '"' + name.replace('"', '""') + '"'
    connection = sqlanon.connect()
    connection.sql(f"""
        CREATE TABLE t AS SELECT i % 2 AS {quoted}, 'v' || i % 3 AS "order by,1" FROM range(20) AS t(i);
        CREATE POLICY {quoted} ON t ({quoted} QUASI IDENTIFIER, "order by,1" SENSITIVE) REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED TABLE {quoted} AS POLICY {quoted} METHOD generalization;
    """)
    for format_ in FORMATS:
        [row] = connection.sql(f"EXPORT {quoted} TO '{tmp_path / format_}' (FORMAT {format_})").fetchall()
        assert Path(row[2]).parent == tmp_path / format_
        said = stated(tmp_path / format_)
        assert said["release"] == name
        assert [column["name"] for column in said["columns"]] == [name, "order by,1"]
    table = pyarrow.parquet.read_table(next((tmp_path / "parquet").glob("*.parquet")))
    assert table.column_names == [name, "order by,1"]
    with next((tmp_path / "csv").glob("*.csv")).open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == [name, "order by,1"]


def test_a_release_named_certificate_needs_another_format(tmp_path: Path) -> None:
    connection = sqlanon.connect()
    connection.sql(
        SETUP + "CREATE ANONYMIZED TABLE Certificate AS POLICY p METHOD generalization(suppression => 0.05);"
    )
    with pytest.raises(UserError, match="certificate"):
        connection.sql(f"EXPORT Certificate TO '{tmp_path / 'out'}' (FORMAT duckdb)")
    connection.sql(f"EXPORT Certificate TO '{tmp_path / 'out'}' (FORMAT parquet)")
    assert (tmp_path / "out" / "Certificate.parquet").is_file()
