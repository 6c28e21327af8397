"""ESTIMATE through the door: admitted for granted releases, and answered from a room as from an export."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.catalog import readers
from sqlanon.clients.serve import estimates, exports_main, keeper_main, workers
from sqlanon.clients.serve.gate import Admitted, admit
from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.room_reader import RoomReader
from sqlanon.errors import SqlanonError
from tests.support.database import template_file
from tests.support.methods import CALLS, EXAMPLE, SOURCE
from tests.support.methods import SETUP as METHODS

SETUP = """
CREATE TABLE patients AS
SELECT i AS name, i % 60 AS age, ['F', 'M'][1 + i % 2] AS sex, 'd' || (i // 3 % 4) AS disease,
    (i % 50)::DECIMAL(9, 2) AS bill
FROM range(240) AS t (i);
CREATE HIERARCHY ages AS INTERVALS (10, 30);
CREATE POLICY study ON patients (
    name IDENTIFIER, age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, disease SENSITIVE, bill SENSITIVE
) REQUIRE k_anonymity(k => 5);
CREATE POLICY split ON patients (name IDENTIFIER, age QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE l_diversity(l => 2);
CREATE ANONYMIZED TABLE hospital AS POLICY study METHOD generalization;
CREATE ANONYMIZED VIEW live AS POLICY study METHOD generalization;
CREATE ANONYMIZED TABLE dealt AS POLICY split METHOD anatomy(l => 2);
CREATE READER ana;
GRANT SELECT ON RELEASE hospital, live, dealt TO ana;
"""
RELEASES = {name: QualifiedName(("main", name)) for name in ("hospital", "live", "dealt")}
QUERIES = (
    "SELECT count(*) AS n FROM patients WHERE age < 15 AND disease = 'd1'",
    "SELECT sex, count(*) AS n FROM patients GROUP BY sex HAVING count(*) > 1",
    "SELECT disease, count(*) AS n FROM patients WHERE sex = 'F' GROUP BY disease",
)
# Releases with noise, and of people in several tables.
NOT_ESTIMATED = ("dp_histogram", "dp_synthetic", "multirelational")
TABLES = {QualifiedName(("main", "hospital")): ("age", "sex", "disease", "bill"), QualifiedName(("main", "places")): ()}
GRANTED = {RELEASES["hospital"]: (RELEASES["hospital"],)}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = os.umask(0o077)
    yield template_file(tmp_path_factory.mktemp("database") / "clinic.duckdb", SETUP)
    os.umask(before)


@pytest.fixture(scope="module")
def room(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = tmp_path_factory.mktemp("room") / "released.duckdb"
    with sqlanon.connect(str(database), read_only=True) as connection:
        access = readers.access(DuckDBEngine(connection.duckdb))
    keeper_main.fill(database, room, [granted for each in access for granted in each.releases], 5.0)
    return room


def answers_of(database: Path, release: str, query: str) -> list[tuple[Any, ...]]:
    """Returns the answer of ESTIMATE in the database in which the release was made."""
    with sqlanon.connect(str(database), read_only=True) as connection:
        return sorted(connection.execute(f"ESTIMATE {query} FROM RELEASE {release}").fetchall(), key=str)


def answered(room: Path, release: str, query: str) -> list[tuple[Any, ...]]:
    """Returns the answer of a worker, on a connection that is locked as a worker's."""
    reader = RoomReader(str(room), memory=1 << 30, threads=1)
    with closing(reader._connection):
        sql = estimates.estimate_query(reader, RELEASES[release], query)
        with reader.batches(sql, (), 1000) as batches:
            return sorted((tuple(row.values()) for row in batches.read_all().to_pylist()), key=str)


@pytest.mark.long
@pytest.mark.parametrize("release", ["hospital", "dealt"])
def test_a_room_answers_as_the_database(database: Path, room: Path, release: str) -> None:
    for query in QUERIES:
        assert answered(room, release, query) == answers_of(database, release, query)


@pytest.mark.long
def test_a_live_release_is_estimated_without_the_number_of_withheld_rows(database: Path, room: Path) -> None:
    assert answered(room, "live", QUERIES[0]) == answers_of(database, "live", QUERIES[0])
    certificates = room.with_name(f"{room.name}.certificates.json")
    assert certificates.stat().st_mode & 0o077 == 0
    listed = json.loads(certificates.read_text(encoding="utf-8"))
    [stated] = [each for each in listed if each["release"] == ["main", "live"]]
    assert stated["content"]["rows"] == {"source": None, "released": 240, "suppressed": 0}
    assert stated["is_live"]


@pytest.mark.long
@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb"])
def test_a_room_of_exports_answers_as_the_export(database: Path, tmp_path: Path, form: str) -> None:
    out, room = tmp_path / "out", tmp_path / "released.duckdb"
    with sqlanon.connect(str(database)) as connection:
        connection.execute(f"EXPORT hospital TO '{out}/' (FORMAT {form})")
    request = {"do": "verify", "paths": [str(out / "certificate.json")], "key": None}
    exports = exports_main._answer(request)["exports"]
    exports_main._answer({"do": "fill", "room": str(room), "exports": exports})
    for query in QUERIES:
        assert answered(room, "hospital", query) == answers_of(database, "hospital", query)


@pytest.mark.long
@pytest.mark.parametrize("method", [name for name in CALLS if name != EXAMPLE])
def test_a_release_by_any_method_is_estimated_as_its_export(method: str, tmp_path: Path) -> None:
    policy, call = CALLS[method]
    file, room, out = tmp_path / "house.duckdb", tmp_path / "released.duckdb", tmp_path / "out"
    query = f"""SELECT count(*) AS n FROM {SOURCE} WHERE "select" = 'z1' AND "é age" < 3"""
    template_file(file, METHODS)
    with sqlanon.connect(str(file)) as connection:
        connection.execute(f"CREATE ANONYMIZED TABLE hospital AS POLICY {policy} METHOD {call}")
        connection.execute("CREATE READER ana; GRANT SELECT ON RELEASE hospital TO ana")
        connection.execute(f"EXPORT hospital TO '{out}/' (FORMAT parquet)")
        expected = outcome(lambda: connection.execute(f"ESTIMATE {query} FROM RELEASE '{out}/'").fetchall())
        access = readers.access(DuckDBEngine(connection.duckdb))
    keeper_main.fill(file, room, [granted for each in access for granted in each.releases], 5.0)
    assert outcome(lambda: answered(room, "hospital", query)) == expected
    assert (expected == "refused") == (method in NOT_ESTIMATED)


def outcome(work: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]] | str:
    """Returns rows, or "refused": the messages of an export name its path."""
    try:
        return sorted(work(), key=str)
    except SqlanonError:
        return "refused"


@pytest.mark.long
def test_a_worker_answers_within_its_limits(database: Path, room: Path) -> None:
    admitted = Admitted(QUERIES[1], frozenset(), RELEASES["hospital"])
    with closing(workers.Pool(workers.Limits(seconds=20), 2)) as pool:
        rows = pool.lease(room, "ana").rows(admitted)
        table = [row for batch in rows for row in batch.to_pylist()]
        assert sorted((tuple(row.values()) for row in table), key=str) == answers_of(database, "hospital", QUERIES[1])
        schema, parameters = pool.lease(room, "ana").schema(admitted)
        assert (schema.names, parameters) == (["sex", "n", "n_spread", "n_low", "n_high", "uniform_columns"], 0)
        with pytest.raises(workers.Stopped, match="name: identifiers are not published"):
            pool.lease(room, "ana").rows(Admitted("SELECT max(name) FROM patients", frozenset(), RELEASES["hospital"]))


@pytest.mark.long
def test_exact_sums_keep_their_type(room: Path) -> None:
    [row] = answered(room, "hospital", "SELECT sum(bill) AS bill FROM patients")
    assert (row[0], row[2]) == (5680.0, Decimal("5680.00"))


@pytest.mark.parametrize("query", QUERIES)
def test_an_estimate_of_a_granted_release_is_admitted(query: str) -> None:
    for name in ("hospital", "main.hospital", '"HOSPITAL"'):
        admitted = admit(f"estimate {query} FROM RELEASE {name};", TABLES, GRANTED)
        assert admitted == Admitted(query, frozenset({RELEASES["hospital"]}), RELEASES["hospital"])


def test_a_granted_table_may_be_joined() -> None:
    admitted = admit(
        "ESTIMATE SELECT count(*) FROM patients JOIN places USING (zip) FROM RELEASE hospital", TABLES, GRANTED
    )
    assert {str(name) for name in admitted.reads} == {"main.hospital", "main.places"}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE live", "no release of this name is granted to you: live"),
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE places", "no release of this name is granted to you: places"),
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE a.b.hospital", "no release of this name"),
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE '/etc/certificate.json'", "no file is read here"),
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE hospital MARGINALS (age => places)", "MARGINALS are not read"),
        ("ESTIMATE SELECT count(*) FROM p UNDER BUDGET b (epsilon => 1)", "a budget is spent where the source is"),
        (
            "EXPLAIN ESTIMATE SELECT count(*) FROM p UNDER BUDGET b (epsilon => 1)",
            "EXPLAIN ESTIMATE is a statement for the owner",
        ),
        ("ESTIMATE SELECT count(*) FROM p WHERE age = ? FROM RELEASE hospital", "has no parameters here"),
        ("ESTIMATE SELECT count(*) FROM p JOIN q USING (a) FROM RELEASE hospital", "no release of this name"),
        ("ESTIMATE SELECT count(*) FROM read_csv('x') FROM RELEASE hospital", "the table function read_csv"),
        ("ESTIMATE SELECT getvariable('x'), count(*) FROM p FROM RELEASE hospital", "the function getvariable"),
        ("ESTIMATE SELECT count(*) FROM (FROM q) AS a, r FROM RELEASE hospital", "no release of this name"),
        ("ESTIMATE SELECT count(*) FROM p FROM RELEASE hospital; SELECT 1", "write one statement; this text has 2"),
        ("ESTIMATE DROP TABLE p FROM RELEASE hospital", "ESTIMATE"),
        ("ESTIMATE INSERT INTO p SELECT 1 FROM RELEASE hospital", "ESTIMATE"),
        ("ESTIMATE", "ESTIMATE"),
    ],
)
def test_other_estimates_are_refused_with_one_line(statement: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        admit(statement, TABLES, GRANTED)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_a_release_without_a_certificate_is_not_estimated(room: Path, tmp_path: Path) -> None:
    copied = tmp_path / room.name
    copied.write_bytes(room.read_bytes())
    copied.with_name(f"{room.name}.certificates.json").write_text("[]", encoding="utf-8")
    with pytest.raises(SqlanonError, match="hospital has no certificate"):
        answered(copied, "hospital", QUERIES[0])
