"""A connection does with DuckDB's own statements what DuckDB's does, alone and among sqlanon's."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from shutil import copy
from threading import Barrier, Thread
from typing import Any

import duckdb
import pandas
import pytest

import sqlanon
from sqlanon import Connection, StatementError, UserError, connect
from sqlanon.clients.session import _RETURN_CONNECTION
from sqlanon.engines import connection_methods
from sqlanon.statements.registry import keywords

MADE = """
    CREATE TABLE t AS SELECT i % 3 AS a FROM range(90) r(i);
    CREATE SEQUENCE counted;
    CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
"""
SCRIPTS = (
    "SELECT 1; SELECT 2",
    "SELECT 1; CREATE TABLE made(a INT)",
    "CREATE TABLE made(a INT); INSERT INTO made VALUES (1), (2)",
    "CREATE TABLE made AS SELECT 7 AS a; FROM made",
    "SELECT nextval('counted') FROM range(100000); SELECT currval('counted')",
    "SELECT 1; PRAGMA version; SELECT 3",
    "VALUES (1); VALUES (2);;",
    "-- nothing",
    "",
    "SELECT 1; SELEC 2",
    "SELECT 1; SELECT 'x'::INTEGER",
    "SELECT ?; SELECT 2",
    "BEGIN; SELECT 1; COMMIT; SELECT 4",
    "CREATE TABLE made(a INT); INSERT INTO made VALUES (1) RETURNING a",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "made.duckdb"
    with connect(path) as connection:
        connection.execute(MADE)
    return path


@pytest.fixture
def con(prepared: Path, tmp_path: Path) -> Iterator[Connection]:
    with connect(copy(prepared, tmp_path / "x.duckdb")) as connection:
        yield connection


def outcome(run: Callable[[], Any]) -> Any:
    """The rows of a result, or the kind of the error."""
    try:
        result = run()
        return result if result is None else result.fetchall()
    except duckdb.Error as error:
        return type(error)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("method", ["sql", "query", "execute"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_of_duckdbs_statements(script: str, method: str) -> None:
    """Against DuckDB itself: what they answer, what is there afterwards, and that the connection goes on working."""
    plain, ours = duckdb.connect(), connect()
    for connection in (plain, ours):
        connection.execute("CREATE SEQUENCE counted")
    answers = [outcome(lambda c=connection: getattr(c, method)(script)) for connection in (plain, ours)]
    if answers[0] is not None or method != "execute":
        # Of nothing execute() returns None in place of the connection.
        assert answers[0] == answers[1]
    for after in ("SELECT last_value FROM duckdb_sequences()", "FROM made", "SELECT 5"):
        told = [outcome(lambda c=connection, q=after: c.execute(q)) for connection in (plain, ours)]
        assert told[0] == told[1]
    assert ours.sql("SELECT 6").fetchall() == [(6,)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["sql", "execute"])
@pytest.mark.parametrize(
    "script",
    [
        "SELECT nextval('counted') FROM range(100000); CHECK r",
        "CHECK r; SELECT nextval('counted') FROM range(100000); CHECK r",
        "SELECT nextval('counted') FROM range(100000); CHECK r; SELECT 1",
        "SELECT nextval('counted') FROM range(100000); SELECT 1; CHECK r",
    ],
)
def test_all_but_the_last_are_completed_among_ours(con: Connection, script: str, method: str) -> None:
    answer = getattr(con, method)(script).fetchall()
    assert answer == [(1,)] if script.endswith("1") else answer[0][-1] is True
    assert con.sql("SELECT last_value FROM duckdb_sequences()").fetchall() == [(100000,)]


@pytest.mark.parametrize(
    "statement",
    [
        "CHECK r",
        "CREATE OR REPLACE HIERARCHY h AS INTERVALS (5)",
        "EXPLAIN ANONYMIZED TABLE q AS POLICY p METHOD generalization",
    ],
)
def test_an_answer_that_nobody_fetches_is_in_nobodys_way(con: Connection, statement: str) -> None:
    """As the answer of a CREATE TABLE is not."""
    con.execute(statement)
    assert con.sql("SELECT 1").fetchall() == [(1,)]
    assert con.fetchall()
    con.script(f"{statement}; SELECT 1")
    assert con.sql("SELECT 1").fetchall() == [(1,)]


def test_a_wrong_statement_of_ours_stops_the_script_before_it_begins(con: Connection) -> None:
    with pytest.raises(StatementError):
        con.sql("CREATE TABLE made(a INT); CHECK")
    assert con.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'made'").fetchall() == [(0,)]


@pytest.mark.parametrize("method", ["sql", "query", "execute"])
def test_statements_that_duckdb_has_extracted(con: Connection, method: str) -> None:
    first, second = con.extract_statements("SELECT 42; SELECT 43")
    assert getattr(con, method)(first).fetchall() == [(42,)]
    assert getattr(con, method)(second).fetchall() == [(43,)]
    assert con.execute(con.extract_statements("SELECT ? + 1")[0], [1]).fetchall() == [(2,)]
    with pytest.raises(duckdb.InvalidInputException, match="Please provide"):
        con.execute(1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.begin(),
        lambda c: (c.begin(), c.commit())[1],
        lambda c: (c.begin(), c.rollback())[1],
        lambda c: c.checkpoint(),
        lambda c: c.register("frame", pandas.DataFrame({"a": [1]})),
        lambda c: c.executemany("INSERT INTO t VALUES (?)", [[1], [2]]),
        lambda c: c.append("t", pandas.DataFrame({"a": [1]})),
        lambda c: c.create_function("f", lambda x: x, ["INTEGER"], "INTEGER"),
        lambda c: c.execute("SELECT 1"),
        lambda c: c.__enter__(),
        lambda c: c.cursor(),
        lambda c: c.duplicate(),
    ],
)
def test_a_connection_that_a_method_returns_knows_our_statements(con: Connection, call: Callable[[Any], Any]) -> None:
    returned = call(con)
    assert isinstance(returned, Connection)
    assert returned.sql("CHECK r").fetchall()[0][-1] is True


def signatures(text: str, name: str) -> dict[str, tuple[list[str], str]]:
    """The public methods of a class in a text of Python: the names of their parameters, and what they return."""
    classes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        node.name: ([arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)], ast.unparse(node.returns or node))
        for node in next(classes).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


@pytest.mark.long
def test_methods_are_those_of_duckdbs_stubs(con: Connection) -> None:
    """An editor completes all of them, and each that returns DuckDB's connection is declared to return ours."""
    stubs = (Path(duckdb.__file__).parent.parent / "_duckdb-stubs" / "__init__.pyi").read_text()
    theirs = signatures(stubs, "DuckDBPyConnection")
    assert {"begin", "cursor", "execute", "register"} < set(theirs)
    assert set(theirs) <= set(dir(con))
    assert {name for name in dir(duckdb.connect()) if not name.startswith("_")} <= set(dir(con))
    declared = signatures(Path(connection_methods.__file__).read_text(), "ConnectionMethods")
    assert set(declared) == _RETURN_CONNECTION
    for name, (parameters, returned) in theirs.items():
        if name in declared:
            assert declared[name] == (parameters, "Self"), name
        elif returned == "DuckDBPyConnection":
            assert Connection.__dict__[name].__annotations__["return"] == "Connection", name


def test_a_closed_connection(con: Connection) -> None:
    con.close()
    for statement in ("CHECK r", "SELECT 1"):
        with pytest.raises((UserError, duckdb.ConnectionException), match=r"already .*closed"):
            con.sql(statement)


@pytest.mark.long
def test_six_threads_on_one_connection(con: Connection) -> None:
    """Each gets its own answer, or hears what DuckDB says of a connection that is busy, and nothing stays behind."""
    con.execute("CREATE TABLE ok AS SELECT 0 AS number")
    statements = {
        "CHECK r": lambda rows: [row[1:] for row in rows] == [("k_anonymity", None, 2.0, 30.0, True)],
        "CHECK t (a) REQUIRE k_anonymity(k => 31)": lambda rows: rows[0][-2:] == (30.0, False),
        "SELECT sum(a) FROM t": lambda rows: rows == [(90,)],
        "EXPLAIN ANONYMIZED TABLE q AS POLICY p METHOD generalization": lambda rows: len(rows) > 3,
        "CREATE OR REPLACE ANONYMIZED TABLE s AS POLICY p METHOD generalization": lambda rows: rows[0][3] == 90,
    }
    together, answered, wrong = Barrier(6), [], []

    def work(first: int) -> None:
        together.wait()
        for statement in islice(cycle(statements), first, first + 20):
            try:
                rows = con.sql(statement).fetchall()
            except (duckdb.ResourceInUseException, UserError) as error:
                if "cursor()" not in str(error):
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)
            else:
                answered.append(statement)
                if not statements[statement](rows):
                    wrong.append((statement, rows))

    threads = [Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert answered
    # No transaction was left open, and nothing is in the way.
    con.sql("BEGIN; COMMIT")
    assert con.sql("CHECK r").fetchall()[0][-1] is True
    assert con.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


@pytest.mark.long
def test_a_cursor_for_each_thread(con: Connection) -> None:
    """Then all of them are answered."""
    answers: list[Any] = []

    def work() -> None:
        cursor = con.cursor()
        answers.extend(cursor.sql("CHECK r").fetchall()[0][-1] for _ in range(5))

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 30


def test_another_thread_may_interrupt(con: Connection) -> None:
    """While a statement runs it is refused all else, and may stop it."""
    refused: list[type[BaseException]] = []

    def observe(*_: Any) -> None:
        thread = Thread(target=meddle)
        thread.start()
        thread.join()

    def meddle() -> None:
        for name in ("fetchall", "execute", "sql", "begin"):
            try:
                getattr(con, name)(*(["SELECT 1"] if name in ("execute", "sql") else []))
            except duckdb.ResourceInUseException as error:
                refused.append(type(error))
        con.query_progress()
        con.cursor().execute("SELECT 1").fetchall()
        con.interrupt()

    con.observe(observe)
    con.execute("CHECK r")
    con.observe(None)
    assert len(refused) % 4 == 0
    assert refused


def test_an_engine_that_cannot_be_had_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="there is no engine oracle"):
        connect(engine="oracle")
    with pytest.raises(UserError, match="are for engine => 'spark'"):
        connect(releases="out")
    for module in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "sqlanon.engines.federated.engine", raising=False)
    with pytest.raises(UserError, match="needs PySpark"):
        connect(engine="spark")


def test_the_docstrings_know_every_statement() -> None:
    """Of the package and of connect(), which are what an editor shows."""
    for text in (sqlanon.__doc__, connect.__doc__):
        words = set(re.findall(r"[A-Z]+", text or ""))
        assert {word for beginning in keywords() for word in beginning.split()} - {"DROP"} <= words
