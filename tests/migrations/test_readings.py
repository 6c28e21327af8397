"""How columns are read: inferred for releases and certificates of before as the methods record it now."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

import sqlanon
from sqlanon.catalog import migrations
from sqlanon.domain.policy import Policy
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError
from sqlanon.methods.former_certificates import upgraded
from sqlanon.session import Connection
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import CreatePolicy

SOURCE = """
CREATE TABLE visits AS SELECT 'v' || i AS visit, 20 + i % 30 AS "Age", (4100 + i % 7)::VARCHAR AS zip,
    ['flu', 'cold', 'gout', 'acne'][1 + i % 4] AS "The ill""ness", i % 3 AS ward, 'p' || i AS patient
FROM range(96) AS t(i);
CREATE HIERARCHY zips AS PREFIXES (3, 2);
CREATE HIERARCHY ages AS INTERVALS (10, 20);
CREATE POLICY one ON visits (visit IDENTIFIER, patient IDENTIFIER PSEUDONYM, "AGE" QUASI IDENTIFIER USING ages,
    zip QUASI IDENTIFIER USING zips, "The ill""ness" SENSITIVE, ward INSENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY two ON visits (visit IDENTIFIER, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, ward SENSITIVE,
    "The ill""ness" SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY apart ON visits (age QUASI IDENTIFIER, zip INSENSITIVE, "The ill""ness" SENSITIVE)
    CONFIDENTIAL (zip, "The ill""ness");
"""
CALLS = (
    ("one", "generalization"),
    ("one", "generalization(suppression => 0.5, recoding => 'local')"),
    ("one", "mondrian"),
    ("one", "mondrian(bounds => true)"),
    ("one", "mondrian(publish => 'ancestor')"),
    ("two", "mondrian(publish => 'ancestor', bounds => true)"),
    ("one", "mondrian(publish => 'centroid', bounds => true)"),
    ("one", "mondrian(publish => 'none')"),
    ("one", "anatomy(l => 2)"),
    ("two", "ANATOMY(l => 2)"),
    ("apart", "fragments"),
    ("apart", "loose(k => 4, suppression => 0.5)"),
)
READINGS = """SELECT object_name, fragment, attribute, reading, level FROM anon.release_attribute
    JOIN anon.release USING (release_id) ORDER BY ALL"""


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect()
    connection.execute(SOURCE)
    for number, (policy, call) in enumerate(CALLS):
        connection.execute(f"CREATE ANONYMIZED TABLE r{number} AS POLICY {policy} METHOD {call}")
    return connection


def earlier(connection: Connection) -> None:
    """Brings the catalog back to what the version before wrote."""
    text = next(step.text for step in migrations.known_migrations() if step.version == 4)
    sealed = text[text.index("UPDATE anon.release SET digest") :]
    streams = ("stream", "stream_batch", "stream_member")
    of_series = ("", "_requirement", "_release", "_member", "_class", "_value")
    for table in (*(f"series{part}" for part in of_series), *streams, "job"):
        connection.duckdb.execute(f"DROP TABLE anon.{table}")
    connection.duckdb.execute("DROP TABLE anon.policy_related_table")
    connection.duckdb.execute("ALTER TABLE anon.policy_attribute DROP COLUMN related_table")
    connection.duckdb.execute("DROP TABLE anon.candidate")
    connection.duckdb.execute("DROP TABLE anon.release_figure")
    for column in ("pivoted", "joined", "bound", "against_bound"):
        connection.duckdb.execute(f"ALTER TABLE anon.policy DROP COLUMN {column}")
    connection.duckdb.execute("ALTER TABLE anon.query_error RENAME COLUMN spread TO stderr")
    connection.duckdb.execute("ALTER TABLE anon.release_attribute DROP COLUMN reading")
    connection.duckdb.execute(sealed)
    connection.duckdb.execute("DELETE FROM anon.schema_version WHERE version > 4")


@pytest.mark.long
def test_a_migration_infers_what_methods_record(con: Connection) -> None:
    def recorded() -> list[tuple[object, ...]]:
        return con.duckdb.execute(READINGS).fetchall()

    def digests() -> list[tuple[object, ...]]:
        return con.duckdb.execute("SELECT release_id, digest FROM anon.release ORDER BY ALL").fetchall()

    before, sealed = recorded(), digests()
    assert {reading for *_, reading, _ in before} == {
        *("exact", "label", "range", "centroid", "lower_bound", "upper_bound"),
        *("token", "bucket", "bucket_value", "count", "group", "link"),
    }
    earlier(con)
    assert digests() != sealed
    con.duckdb.execute("UPDATE anon.release SET released_rows = 95 WHERE object_name = 'r2'")
    migrations.migrate(DuckDBEngine(con.duckdb))
    assert recorded() == before
    # What was changed by hand is not sealed by the migration.
    with pytest.raises(CatalogError, match="r2: its rows in the catalog are not those"):
        con.execute("CHECK r2")
    con.duckdb.execute("UPDATE anon.release SET released_rows = 96 WHERE object_name = 'r2'")
    # What regions lost has a name of its own since.
    others = "object_name <> 'r2' AND loss_name = 'granularity_loss'"
    query = f"SELECT release_id, digest FROM anon.release WHERE {others} ORDER BY ALL"
    assert set(con.duckdb.execute(query).fetchall()) <= set(sealed)
    for number in range(len(CALLS)):
        if number != 2:
            assert all(row[-1] for row in con.execute(f"CHECK r{number}").fetchall())


@pytest.mark.one_in(12)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_certificate_of_the_first_format_is_read_as_one_of_today(number: int, tmp_path: Path) -> None:
    policy_name, call = CALLS[number]
    con = sqlanon.connect()
    con.execute(SOURCE)
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY {policy_name} METHOD {call}")
    con.execute(f"EXPORT r TO '{tmp_path.as_posix()}/out/'")
    path = tmp_path / "out" / "certificate.json"
    stated = json.loads(path.read_text())
    policy = _policy(stated["policy"]["statement"])
    first = _of_the_first_format(stated)
    found = upgraded(first, policy)
    if "recoding => 'local'" in call:
        # The first format had the levels of the first round alone: labels may be at any.
        quasi = [column for column in _columns(found) if column["name"] in ("Age", "zip")]
        assert [(column["reading"], "levels" in column) for column in quasi] == [("label", False)] * 2
    else:
        assert _columns(found) == _columns(stated)
    query = 'SELECT count(*) FROM visits WHERE "Age" >= 40'
    expected = con.execute(f"ESTIMATE {query} FROM RELEASE '{path.as_posix()}'").fetchall()
    path.write_text(json.dumps(first))
    assert con.execute(f"ESTIMATE {query} FROM RELEASE '{path.as_posix()}'").fetchall() == expected


def _policy(text: str) -> Policy:
    (statement,) = parse_script(text)
    assert isinstance(statement, CreatePolicy)
    return statement.policy


def _columns(stated: dict) -> list[dict]:
    return [column for table in stated.get("tables", [stated]) for column in table["columns"]]


def _of_the_first_format(stated: dict) -> dict:
    first = copy.deepcopy(stated)
    first["format_version"] = 1
    first["method"] = {key: first["method"][key] for key in ("name", "arguments")}
    for column in _columns(first):
        for added in ("reading", "levels", "source"):
            column.pop(added, None)
    return first
