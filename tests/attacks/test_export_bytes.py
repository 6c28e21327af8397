"""Searching the bytes of an export for what the release withholds.

The attacker has the exported files and looks for values that no released row shows:
those of suppressed rows, of identifiers and unpublished columns, of values that were
generalized, of an ENUM's dictionary, of a hierarchy's rows, and in the policy's query.
The same search of a naive export finds them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.export.formats import parquet

FORMATS = ("parquet", "csv", "duckdb")

# Each is a prefix of the values that must not leave the house.
WITHHELD = {
    "an identifier": "ZZIDENT",
    "a pseudonymized identifier": "ZZTOKEN",
    "an unpublished column": "ZZHIDDEN",
    "a suppressed row": "ZZSUPPRESSED",
    "a generalized value": "ZZEXACT",
    "a dictionary": "ZZENUM",
    "a hierarchy": "ZZNODE",
    "the query": "ZZQUERY",
    "where the key is": "ZZVARIABLE",
}
PUBLISHED = "QQSHOWN"

SOURCE = """
CREATE TYPE illness AS ENUM ('ZZENUM never', 'QQSHOWN flu', 'QQSHOWN cold', 'ZZSUPPRESSED rare');
CREATE TABLE people AS
SELECT 'ZZIDENT' || i AS ssn, 'ZZTOKEN' || i AS card, 'ZZHIDDEN' || md5(i::VARCHAR) AS remark,
       'ZZEXACT' || i % 40 AS place, ['QQSHOWN north', 'QQSHOWN south'][1 + i % 2] AS region,
       (['QQSHOWN flu', 'QQSHOWN cold'][1 + i % 2])::illness AS disease, [('QQSHOWN cold')::illness] AS earlier
FROM range(20000) AS t(i)
UNION ALL
SELECT 'ZZIDENT one', 'ZZTOKEN one', 'ZZHIDDEN one', 'ZZEXACT 0', 'ZZSUPPRESSED west',
       'ZZSUPPRESSED rare'::illness, ['ZZSUPPRESSED rare'::illness];
CREATE TABLE tree AS
SELECT DISTINCT place, CASE WHEN place < 'ZZEXACT2' THEN 'QQSHOWN low' ELSE 'QQSHOWN high' END AS half FROM people
UNION ALL SELECT 'ZZNODE nowhere', 'ZZNODE void';
"""
RELEASE = """
CREATE HIERARCHY halves AS LEVELS (SELECT * FROM tree WHERE place <> 'ZZNODE other');
CREATE POLICY p ON (SELECT * FROM people WHERE ssn <> 'ZZQUERY somebody') (
    ssn IDENTIFIER, card IDENTIFIER PSEUDONYM KEY 'ZZVARIABLE_KEY', place QUASI IDENTIFIER USING halves MIN LEVEL 1,
    region QUASI IDENTIFIER, disease SENSITIVE, earlier INSENSITIVE
) REQUIRE k_anonymity(k => 10);
CREATE ANONYMIZED TABLE release AS POLICY p METHOD generalization(suppression => 0.001);
"""


def found(*files: Path) -> set[str]:
    """What of WITHHELD stands in the bytes of files."""
    content = b"".join(file.read_bytes() for file in files)
    return {what for what, value in WITHHELD.items() if value.encode() in content}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("hospital") / "hospital.duckdb"
    connection = sqlanon.connect(path)
    connection.sql(SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZZVARIABLE_KEY", "a key of more than sixteen bytes")
        connection.sql(RELEASE)
    return connection


@pytest.mark.one_in(2)
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_withheld_is_in_the_bytes(
    database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, compressed: bool
) -> None:
    if not compressed:
        monkeypatch.setattr(parquet, "COMPRESSION", "uncompressed")
        database.execute("SET force_compression = 'uncompressed'")
    try:
        database.sql(f"EXPORT release TO '{tmp_path / 'out'}' (FORMAT {format_})")
    finally:
        database.execute("SET force_compression = 'auto'")
    files = sorted((tmp_path / "out").iterdir())
    assert [file.suffix for file in files] == [".json", ".md", f".{format_}"]
    assert found(*files) == set()
    if format_ == "csv" or not compressed:
        # The search can find what is there.
        assert PUBLISHED.encode() in files[-1].read_bytes()
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_certificates_name_no_machine(database: Any, tmp_path: Path) -> None:
    database.sql(f"EXPORT release TO '{tmp_path / 'out'}'")
    for name in ("certificate.json", "certificate.md"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "/" not in text.replace("(n - 1) / (N - 1)", "")
        assert "hospital" not in text


def test_the_file_s_types_have_no_dictionary(database: Any, tmp_path: Path) -> None:
    source = dict(database.execute("SELECT column_name, column_type FROM (DESCRIBE people)").fetchall())
    assert "ZZENUM" in source["disease"]
    assert "ZZENUM" in source["earlier"]
    database.sql(f"EXPORT release TO '{tmp_path / 'out'}' (FORMAT duckdb)")
    with duckdb.connect(str(tmp_path / "out" / "release.duckdb"), read_only=True) as file:
        types = dict(file.execute("SELECT column_name, data_type FROM duckdb_columns() WHERE NOT internal").fetchall())
        assert types["disease"] == "VARCHAR"
        assert types["earlier"] == "VARCHAR[]"
        assert file.execute("SELECT count(*) FROM duckdb_types() WHERE NOT internal").fetchall() == [(0,)]


def test_a_naive_export_has_it(database: Any, tmp_path: Path) -> None:
    """The attack works: on the source's own file after the source was dropped, and on a file that keeps ENUMs."""
    kept = "AS SELECT disease FROM people WHERE disease <> 'ZZSUPPRESSED rare'"
    with duckdb.connect(str(tmp_path / "dropped.duckdb")) as naive:
        naive.execute(f"{SOURCE} CREATE TABLE r {kept}; CHECKPOINT")
        naive.execute("DROP TABLE people; DROP TABLE tree; CHECKPOINT; VACUUM")
    assert {"an identifier", "an unpublished column"} <= found(tmp_path / "dropped.duckdb")
    with duckdb.connect(str(tmp_path / "in.duckdb")) as naive:
        naive.execute(SOURCE)
        naive.execute(f"ATTACH '{tmp_path / 'enums.duckdb'}' AS enums")
        naive.execute(f"CREATE TABLE enums.r {kept}; DETACH enums")
    assert found(tmp_path / "enums.duckdb") == {"a dictionary", "a suppressed row"}
