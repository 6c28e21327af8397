"""Answers through the standard driver are those of DuckDB itself: types, names, parameters, lists of tables."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from sqlanon.clients.serve import wire
from tests.support.door.doors import OpenedDoor, opened_door, room_file

TYPES = """
CREATE TABLE typed AS SELECT
    i::TINYINT AS a, i::UBIGINT AS b, i::HUGEINT AS c, (i / 7)::DECIMAL(9, 3) AS d, i / 7 AS e, i % 2 = 0 AS f,
    DATE '2020-02-28' + i::INTEGER AS g, TIMESTAMP '2020-02-28 12:00:00.123456' + INTERVAL (i) HOUR AS h,
    TIMESTAMPTZ '2020-03-29 00:30:00+00' + INTERVAL (i) HOUR AS j, TIME '23:59:59' AS k, INTERVAL (i) DAY AS l,
    ['x', NULL, i::VARCHAR] AS m, {'n': i, 'o': ['p']} AS n, MAP {'q': i} AS o, i::VARCHAR::BLOB AS p,
    ('v' || i % 3)::ENUM ('v0', 'v1', 'v2', 'never') AS q, uuid() AS r,
    NULL AS s, 'ä ''"\\ ' || chr(10) || i AS "Ä "" t"
FROM range(100) t(i)
"""
QUERIES = (
    "FROM typed",
    "FROM typed WHERE a < 0",
    "SELECT q FROM typed WHERE false",
    "SELECT a, a, d AS a FROM typed",
    "SELECT count(*), sum(d), list(q ORDER BY a), max(j) FROM typed",
    "SELECT f, avg(e) AS mean FROM typed GROUP BY f ORDER BY ALL",
    "SELECT date_trunc('day', j) AS day, count(*) FROM typed GROUP BY ALL ORDER BY ALL",
    "SELECT q, row_number() OVER (PARTITION BY q ORDER BY a) FROM typed ORDER BY a LIMIT 7",
    "WITH small AS (SELECT * FROM typed WHERE a < 5) SELECT x.a, y.n FROM small x JOIN small y USING (a) ORDER BY a",
    "SELECT unnest(m) FROM typed WHERE a = 3",
    "DESCRIBE typed",
    "SUMMARIZE SELECT a, e FROM typed",
    "PIVOT typed ON q USING count(*) GROUP BY f ORDER BY f",
    "SELECT 1 AS one UNION ALL SELECT 2 ORDER BY 1",
    "SELECT i, i * 2 FROM range(60000) t(i)",
)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    file = room_file(folder / "releases.duckdb", TYPES, "CREATE SCHEMA s", 'CREATE TABLE s."odd name" AS SELECT 1 AS x')
    with opened_door(folder, file) as opened:
        yield opened


@pytest.fixture(scope="module")
def own(door: OpenedDoor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with duckdb.connect(shutil.copy(door.source.file, tmp_path_factory.mktemp("own") / "own.duckdb")) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@pytest.fixture
def cursor(door: OpenedDoor) -> Iterator[Any]:
    with door.connect() as connection, connection.cursor() as opened:
        yield opened


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_those_of_duckdb(query: str, own: Any, cursor: Any) -> None:
    # A table of the answer: DuckDB, too, renames columns of equal names in it.
    expected = own.sql(query).limit(1_000_000).to_arrow_table()
    cursor.execute(query)
    answer = cursor.fetch_arrow_table()
    assert answer.schema.names == expected.schema.names
    assert len(set(answer.schema.names)) == len(answer.schema.names)
    assert answer.schema.types == expected.schema.types
    assert list(map(str, answer.columns)) == list(map(str, expected.columns)) or equal(answer, expected)


def equal(answer: pa.Table, expected: pa.Table) -> bool:
    """Whether two tables have the same values, whatever their chunks."""
    return all(
        one.combine_chunks().to_pylist() == other.combine_chunks().to_pylist()
        for one, other in zip(answer.columns, expected.columns, strict=True)
    )


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (3, "a"),
        (Decimal("0.429"), "d"),
        (date(2020, 3, 1), "g"),
        ("v1", "q"),
        (True, "f"),
        (None, "s"),
        ('it\'s \n "quoted"', '"Ä "" t"'),
    ],
)
def test_parameters(value: object, column: str, own: Any, cursor: Any) -> None:
    query = f"SELECT a, b FROM typed WHERE {column} = ? OR a < ? ORDER BY a"
    cursor.execute(query, (value, 2))
    assert cursor.fetchall() == own.execute(query, [value, 2]).fetchall()


def test_a_prepared_statement_runs_again_with_other_parameters(cursor: Any) -> None:
    for number in (3, 5):
        cursor.execute("SELECT a FROM typed WHERE a = ?", (number,))
        assert cursor.fetchall() == [(number,)]


def test_the_number_of_parameters_must_fit(cursor: Any) -> None:
    with pytest.raises(Exception, match=r"1 parameter: \$1; 2 were sent"):
        cursor.execute("SELECT a FROM typed WHERE a = ?", (1, 2))
    with pytest.raises(Exception, match=r"2 parameters: \$low, \$high; no value was sent"):
        cursor.execute("SELECT a FROM typed WHERE a BETWEEN $low AND $high")


def test_lists_of_tables_columns_and_types(door: OpenedDoor, own: Any) -> None:
    with door.connect() as connection:
        [catalog] = connection.adbc_get_objects(depth="all").read_all().to_pylist()
        schemas = {each["db_schema_name"]: each["db_schema_tables"] for each in catalog["catalog_db_schemas"]}
        assert set(schemas) == {"main", "s"}
        [typed] = schemas["main"]
        assert [column["column_name"] for column in typed["table_columns"]] == own.sql("FROM typed").columns
        assert connection.adbc_get_table_types() == ["TABLE"]
        assert connection.adbc_get_table_schema("typed").types == own.sql("FROM typed").to_arrow_table().schema.types
        assert connection.adbc_get_info()["vendor_name"] == "sqlanon"
        filtered = connection.adbc_get_objects(depth="tables", table_name_filter="odd%").read_all().to_pylist()
        assert [t["table_name"] for s in filtered[0]["catalog_db_schemas"] for t in s["db_schema_tables"]] == [
            "odd name"
        ]


def test_what_jdbc_tools_ask(door: OpenedDoor) -> None:
    client = door.client()

    def ask(name: str, *parts: tuple[int, int | bytes]) -> pa.Table:
        from pyarrow import flight

        return client.fetch(flight.Ticket(wire.any_of(name, *parts)))

    assert ask("CommandGetCatalogs").to_pydict() == {"catalog_name": [""]}
    assert ask("CommandGetDbSchemas", (2, b"m%")).column("db_schema_name").to_pylist() == ["main"]
    assert ask("CommandGetTables", (4, b"VIEW")).num_rows == 0
    assert ask("CommandGetPrimaryKeys", (3, b"typed")).num_rows == 0
    assert ask("CommandGetImportedKeys", (3, b"typed")).num_rows == 0
    assert "TIMESTAMP WITH TIME ZONE" in ask("CommandGetXdbcTypeInfo").column("type_name").to_pylist()
    # The number of TINYINT is -6, in 64 bits.
    assert ask("CommandGetXdbcTypeInfo", (1, (1 << 64) - 6)).column("type_name").to_pylist() == ["TINYINT"]
    assert ask("CommandGetSqlInfo", (1, b"\x00\x03")).column("info_name").to_pylist() == [0, 3]


def test_what_jdbc_sends_for_a_statement_with_parameters(door: OpenedDoor) -> None:
    """The driver prepares the statement, sets a row of texts in the announced types, asks, fetches and closes."""
    from pyarrow import flight

    client = door.client()
    query = b"SELECT a, g FROM typed WHERE a < ? AND g > ? AND q = ? ORDER BY a LIMIT ?"

    def act(kind: str, body: bytes) -> list[Any]:
        return list(client.connected.do_action(flight.Action(kind, body), client.options))

    [prepared] = act("CreatePreparedStatement", wire.any_of("ActionCreatePreparedStatementRequest", (1, query)))
    answer = wire.command(prepared.body.to_pybytes())
    handle = answer.content(1)
    rows, values = (pa.ipc.read_schema(pa.py_buffer(answer.content(field))) for field in (2, 3))
    assert rows.names == ["a", "g"]
    assert (values.names, values.types) == (["1", "2", "3", "4"], [pa.utf8()] * 4)
    command = flight.FlightDescriptor.for_command(wire.any_of("CommandPreparedStatementQuery", (1, handle)))
    for texts, expected in ((("9", "2020-03-01", "v1", "5"), [4, 7]), (("99", "2020-03-01", "v2", "1"), [5])):
        writer, reader = client.connected.do_put(command, values, client.options)
        writer.write_table(pa.table([[text] for text in texts], schema=values))
        writer.done_writing()
        reader.read()
        writer.close()
        info = client.connected.get_flight_info(command, client.options)
        assert client.fetch(info.endpoints[0].ticket).column("a").to_pylist() == expected
    assert act("ClosePreparedStatement", wire.any_of("ActionClosePreparedStatementRequest", (1, handle))) == []
    with pytest.raises(pa.ArrowException, match="unknown"):
        client.connected.get_flight_info(command, client.options)


def test_pandas_reads(door: OpenedDoor, own: Any) -> None:
    with door.connect() as connection:
        frame = pd.read_sql("SELECT a, e, f FROM typed ORDER BY a", connection)
    assert frame["e"].tolist() == [row[0] for row in own.execute("SELECT e FROM typed ORDER BY a").fetchall()]


def test_the_audit_has_who_asked_what_and_no_value(door: OpenedDoor) -> None:
    query = "SELECT max(g)::VARCHAR || 'x' AS last FROM typed WHERE a = ?"
    with door.connect("ben") as connection, connection.cursor() as cursor:
        cursor.execute(query, (71,))
        [[value]] = cursor.fetchall()
    begun = next(line for line in door.lines("started") if line["statement"] == query)
    over = next(line for line in door.lines("ended") if line["query"] == begun["query"])
    assert (begun["reader"], over["outcome"], over["rows"]) == ("ben", "done", 1)
    assert begun["room"] == door.source.version()
    assert over["seconds"] >= 0
    assert value not in door.log.read_text(encoding="utf-8")


def test_the_audit_has_a_line_before_the_first_row(door: OpenedDoor) -> None:
    client = door.client()
    stream = client.begin("SELECT 'first' AS line FROM typed")
    assert door.lines("started")[-1]["statement"] == "SELECT 'first' AS line FROM typed"
    assert stream.read_all().num_rows == 100


def test_without_an_audit_nothing_is_answered(door: OpenedDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    client = door.client()
    ticket = client.ticket("FROM typed")

    def full(event: str, **facts: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(door.door._audit, "write", full)
        with pytest.raises((pa.ArrowException, OSError), match="the door failed"):
            client.fetch(ticket)
    assert client.fetch(client.ticket("FROM typed")).num_rows == 100


@pytest.mark.long
def test_eight_readers_while_rooms_are_swapped(door: OpenedDoor, tmp_path: Path) -> None:
    """Each answer is whole: all of its rows are of one version of the room."""
    file = room_file(tmp_path / "numbers.duckdb", "CREATE TABLE numbers AS SELECT 0 AS version FROM range(20000)")
    with opened_door(tmp_path, file, workers=3) as opened:
        wrong: list[object] = []
        answers: list[int] = []

        def ask(name: str) -> None:
            client = opened.client(name)
            for _ in range(100):
                versions = client.fetch(client.ticket("FROM numbers")).column("version").to_pylist()
                if len(versions) != 20000 or len(set(versions)) != 1:
                    wrong.append((len(versions), set(versions)))
                answers.append(versions[0])

        threads = [threading.Thread(target=ask, args=("ana" if number % 2 else "ben",)) for number in range(8)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            opened.source.change("UPDATE numbers SET version = version + 1")
            opened.rooms.refresh()
            threads[0].join(0.5)
        assert wrong == []
        assert len(answers) == 800
        assert len(set(answers)) > 2
        assert len(list(opened.folder.iterdir())) <= 2
