"""A macro that has the name of a built-in function is found by the next statement, whoever made it and however.

What a statement does is compared with DuckDB's own list of functions, read at that moment on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon import Connection
from sqlanon.engines.duckdb import ConnectionNumbers, DuckDBEngine, MacroWatch
from sqlanon.engines.statement_memo import Session
from sqlanon.errors import EngineError, UserError

TABLE = "CREATE TABLE people AS SELECT i % 3 AS age FROM range(30) AS t(i)"
POLICY = "CREATE POLICY p ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"
CREATE = "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY p METHOD generalization"
CHECK = "CHECK people (age) REQUIRE k_anonymity(k => 2)"
MACRO = "CREATE MACRO lower(x) AS x"
LISTED = "FROM system.main.duckdb_functions()"


@pytest.fixture
def con(tmp_path: Path) -> Iterator[Connection]:
    """A connection to a file whose last statement has found no macro."""
    with sqlanon.connect(tmp_path / "a.duckdb") as connection:
        connection.execute(TABLE)
        connection.execute(CHECK)
        yield connection


@pytest.fixture
def releasing(con: Connection) -> Connection:
    """The database with a release, which the last statement has made."""
    con.execute(f"{POLICY}; {CREATE}")
    return con


def hidden(con: Connection) -> set[str]:
    """The built-in functions whose names macros have, by a list that is read anew."""
    query = "SELECT system.main.lower(function_name), internal, function_type FROM system.main.duckdb_functions()"
    functions = con.duckdb.execute(query).fetchall()
    built_in = {name for name, internal, _ in functions if internal}
    return {name for name, internal, kind in functions if not internal and "macro" in kind} & built_in


def listings(con: Connection, statement: str) -> int:
    """How many times a statement lists the functions."""
    texts: list[str] = []
    before = con.observe(lambda stage, text, *_: texts.append(text) if text else None)
    try:
        con.execute(statement).fetchall()
    finally:
        con.observe(before)
    return sum(LISTED in text for text in texts)


def require_found(con: Connection, statement: str) -> None:
    """Runs a statement and another one, which are refused where there are such macros, and because of these."""
    macros = hidden(con)
    for text in (statement, CHECK):
        if macros:
            with pytest.raises(UserError, match="(?i)names of built-in functions: " + ", ".join(sorted(macros))):
                con.execute(text)
        else:
            con.execute(text).fetchall()


def _own(con: Connection, path: Path) -> None:
    con.execute(MACRO)


def _raw(con: Connection, path: Path) -> None:
    con.duckdb.execute(MACRO)


def _temporary(con: Connection, path: Path) -> None:
    con.duckdb.execute("CREATE TEMP MACRO LOWER(x) AS x")


def _of_a_table(con: Connection, path: Path) -> None:
    con.execute("CREATE MACRO range(x) AS TABLE SELECT x")


def _script(con: Connection, path: Path) -> None:
    con.script(f"SELECT 1; {MACRO}; SELECT 2")


def _lazily(con: Connection, path: Path) -> None:
    con.duckdb.sql("SELECT 1").fetchall()
    con.duckdb.sql(MACRO)


def _in_a_schema(con: Connection, path: Path) -> None:
    con.execute("CREATE SCHEMA elsewhere; CREATE MACRO elsewhere.lower(x) AS x")


def _replaced(con: Connection, path: Path) -> None:
    con.execute("CREATE OR REPLACE MACRO lower(x) AS x; DROP MACRO lower; CREATE OR REPLACE MACRO lower(x) AS x || 'a'")


def _dropped(con: Connection, path: Path) -> None:
    con.execute(f"{MACRO}; DROP MACRO lower")


def _committed(con: Connection, path: Path) -> None:
    con.execute(f"BEGIN; {MACRO}; COMMIT")


def _open(con: Connection, path: Path) -> None:
    con.execute(f"BEGIN; {MACRO}")


def _rolled_back(con: Connection, path: Path) -> None:
    con.execute(f"BEGIN; {MACRO}; ROLLBACK")


def _failed(con: Connection, path: Path) -> None:
    con.execute(f"BEGIN; {MACRO}")
    with pytest.raises(duckdb.Error):
        con.duckdb.execute("SELECT error('no')")
    con.execute("ROLLBACK")


def _drop_rolled_back(con: Connection, path: Path) -> None:
    con.execute(f"{MACRO}; BEGIN; DROP MACRO lower")
    con.execute(CHECK)
    con.execute(CHECK)
    con.execute("ROLLBACK")


def _drop_rolled_back_after_commit(con: Connection, path: Path) -> None:
    con.execute(f"{MACRO}; DROP MACRO lower")
    con.execute(CHECK)
    con.execute(f"BEGIN; {MACRO}; DROP MACRO lower; ROLLBACK")


def _cursor(con: Connection, path: Path) -> None:
    with con.cursor() as other:
        other.execute(MACRO)


def _cursor_s_temporary(con: Connection, path: Path) -> None:
    """Only the cursor sees it."""
    with con.cursor() as other:
        other.execute("CREATE TEMP MACRO lower(x) AS x")


def _older_cursor(con: Connection, path: Path) -> None:
    with con.cursor() as other:
        con.execute(CHECK)
        other.duckdb.execute(MACRO)


def _connection(con: Connection, path: Path) -> None:
    with duckdb.connect(str(path / "a.duckdb")) as other:
        other.execute(MACRO)


def _committed_later(con: Connection, path: Path) -> None:
    """The macro has a number from before a statement that could not see it."""
    with con.duckdb.cursor() as other:
        other.execute(f"BEGIN; {MACRO}")
        con.execute(CHECK)
        con.execute(CHECK)
        other.execute("COMMIT")


def _committed_after_a_release(con: Connection, path: Path) -> None:
    with con.duckdb.cursor() as other:
        other.execute("BEGIN; CREATE TEMP TABLE t AS SELECT 1")
        con.execute(f"{POLICY}; {CREATE}")
        other.execute(f"COMMIT; BEGIN; {MACRO}")
        con.execute(CHECK)
        other.execute("COMMIT")


def _others_rolled_back(con: Connection, path: Path) -> None:
    with con.duckdb.cursor() as other:
        other.execute(f"BEGIN; {MACRO}")
        con.execute(CHECK)
        other.execute("ROLLBACK")


def _attached(con: Connection, path: Path) -> None:
    con.execute("ATTACH ':memory:' AS other; CREATE MACRO other.main.lower(x) AS x")


def _attached_before(con: Connection, path: Path) -> None:
    con.execute("ATTACH ':memory:' AS other")
    con.execute(CHECK)
    with con.duckdb.cursor() as cursor:
        cursor.execute("USE other; CREATE MACRO lower(x) AS x")


def _attached_file(con: Connection, path: Path) -> None:
    with duckdb.connect(str(path / "other.duckdb")) as other:
        other.execute(MACRO)
    con.execute(f"ATTACH '{path}/other.duckdb' AS other (READ_ONLY)")


def _detached(con: Connection, path: Path) -> None:
    con.execute("ATTACH ':memory:' AS other; CREATE MACRO other.main.lower(x) AS x; DETACH other")


def _by_a_function(con: Connection, path: Path) -> None:
    """A function in Python makes the macro while a statement of the user's runs."""

    def made(x: int) -> int:
        with con.duckdb.cursor() as other:
            other.execute(MACRO)
        return x

    con.duckdb.create_function("made", made, [int], int)  # type: ignore[list-item, arg-type]
    con.duckdb.execute("SELECT made(1)").fetchall()


ACTIONS: tuple[Callable[[Connection, Path], None], ...] = (
    *(_own, _raw, _temporary, _of_a_table, _script, _lazily, _in_a_schema, _replaced, _dropped),
    *(_committed, _open, _rolled_back, _failed, _drop_rolled_back, _drop_rolled_back_after_commit),
    *(_cursor, _cursor_s_temporary, _older_cursor, _connection, _committed_later, _committed_after_a_release),
    *(_others_rolled_back, _attached, _attached_before, _attached_file, _detached, _by_a_function),
)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_a_macro_is_found_by_the_next_statement(
    con: Connection, action: Callable[[Connection, Path], None], tmp_path: Path
) -> None:
    action(con, tmp_path)
    require_found(con, CHECK)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("action", [_own, _temporary, _cursor, _rolled_back], ids=lambda action: action.__name__)
def test_a_macro_is_found_by_the_next_release(
    releasing: Connection, action: Callable[[Connection, Path], None], tmp_path: Path
) -> None:
    action(releasing, tmp_path)
    require_found(releasing, CREATE)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("by", ["connection", "cursor"])
@pytest.mark.parametrize("at", ["DESCRIBE", "CREATE TEMPORARY TABLE", "INSERT INTO", "DROP TABLE"])
def test_a_macro_that_comes_while_a_statement_runs_is_found_by_the_next(
    releasing: Connection, at: str, by: str
) -> None:
    """An observer makes it, in the transaction of the statement or in one of its own."""
    con, made = releasing, list[str]()

    def observed(stage: str, text: str | None, *_: Any) -> None:
        if text and not made and text.startswith(at):
            made.append(text)
            if by == "cursor":
                with con.duckdb.cursor() as other:
                    other.execute(MACRO)
            else:
                con.duckdb.execute("CREATE TEMP MACRO lower(x) AS x")

    con.observe(observed)
    con.execute(CREATE)
    con.observe(None)
    assert made
    require_found(con, CHECK)


def test_a_function_of_python_s_may_take_the_name_of_a_macro(con: Connection) -> None:
    """To DuckDB it is a built-in function; the macro was there before."""
    con.execute("CREATE SCHEMA elsewhere; CREATE MACRO elsewhere.mine(x) AS x")
    con.execute(CHECK)
    con.duckdb.create_function("mine", lambda x: x, [int], int)  # type: ignore[list-item, arg-type]
    assert hidden(con) == {"mine"}
    with pytest.raises(UserError, match="built-in functions: mine"):
        con.execute(CHECK)


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    "statement",
    [
        CREATE,
        CHECK,
        "CHECK released",
        "EXPLAIN ANONYMIZED TABLE another AS POLICY p METHOD generalization",
        "CREATE OR REPLACE ANONYMIZED VIEW live AS POLICY p METHOD generalization",
        "ESTIMATE SELECT count(*) FROM people WHERE age < 2 FROM RELEASE released",
        "CREATE OR REPLACE HIERARCHY h AS INTERVALS (5)",
    ],
)
def test_a_statement_that_is_repeated_lists_no_macros(releasing: Connection, statement: str) -> None:
    assert [listings(releasing, statement) for _ in range(3)][1:] == [0, 0]


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    "between",
    [
        "SELECT 1",
        "FROM released ORDER BY age LIMIT 3",
        "INSERT INTO people VALUES (1)",
        "BEGIN; INSERT INTO people VALUES (1); COMMIT",
        "EXPLAIN FROM people",
        "SELECT count(*) FROM duckdb_functions()",
        "SHOW POLICIES",
    ],
)
def test_macros_are_not_listed_again_where_nothing_was_made(releasing: Connection, between: str) -> None:
    con = releasing
    con.execute(between).fetchall()
    assert [listings(con, text) for text in (CHECK, CREATE)] == [0, 0]


def test_macros_are_listed_again_once_where_something_was_made(releasing: Connection) -> None:
    con = releasing
    con.execute("CREATE TABLE another AS SELECT 1")
    assert [listings(con, text) for text in (CREATE, CHECK, CREATE)] == [1, 0, 0]


def test_macros_are_listed_each_time_beside_another_connection(con: Connection) -> None:
    with con.cursor():
        assert [listings(con, text) for text in (CHECK, CHECK)] == [1, 1]
    assert [listings(con, text) for text in (CHECK, CHECK)] == [1, 0]


def test_macros_are_listed_each_time_in_a_transaction_of_the_user_s(con: Connection) -> None:
    con.execute("BEGIN")
    assert [listings(con, text) for text in (CHECK, CHECK)] == [1, 1]
    con.execute("COMMIT")


def session(query: int) -> Session:
    return Session((), "memory", "main", "", 1, query, 1, ("memory",), 0, ("main",), 0, 0)


def test_an_extension_that_a_statement_loads_may_have_a_function_of_a_macro_s_name() -> None:
    """What a statement loads itself takes numbers as what it makes does; how many extensions are loaded tells."""
    for loaded in (4, 5):
        numbers = iter([(10, 6, 4), (23, 8, 4), (26, 9, 4), (29, 11, loaded)])
        watch = MacroWatch(duckdb.connect(), lambda connection, numbers=numbers: ConnectionNumbers(*next(numbers)))
        assert not watch.begin(session(5), 2, in_transaction=False)
        watch.end(3)
        assert watch.begin(session(10), 4, in_transaction=False) is (loaded == 4)


@pytest.mark.parametrize(
    ("taken", "kept"), [(3, True), (2, False), (4, False)], ids=["as now", "fewer numbers", "more numbers"]
)
def test_nothing_is_kept_where_a_connection_takes_other_numbers(taken: int, kept: bool) -> None:
    numbers = iter([(10, 6, 4), (10 + taken, 7, 4), (10 + 2 * taken, 8, 4), (10 + 3 * taken, 10, 4)])
    watch = MacroWatch(duckdb.connect(), lambda connection: ConnectionNumbers(*next(numbers)))
    watch.begin(session(5), 2, in_transaction=False)
    watch.end(2)
    assert watch.begin(session(9), 3, in_transaction=False) is kept


@pytest.mark.parametrize("setting", ["enable_external_access = false", "disabled_filesystems = 'LocalFileSystem'"])
def test_macros_are_listed_each_time_where_extensions_cannot_be(setting: str) -> None:
    with sqlanon.connect() as con:
        con.execute(f"CREATE TABLE people AS SELECT i % 3 AS age FROM range(30) AS t(i); SET {setting}")
        assert [listings(con, CHECK) for _ in range(3)] == [1, 1, 1]
        con.execute(MACRO)
        require_found(con, CHECK)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "SELECT 1",
            "VALUES (1)",
            "FROM t",
            "BEGIN",
            "BEGIN; COMMIT",
            "BEGIN; ROLLBACK",
            "SET threads = 2",
            "RESET threads",
        ),
        *(
            "SET VARIABLE x = 1",
            "USE memory",
            "CREATE TABLE u AS FROM t",
            "CREATE TEMP VIEW v AS FROM t",
            "DROP TABLE t",
        ),
        *("INSERT INTO t VALUES (2)", "DELETE FROM t", "TRUNCATE t", "UPDATE t SET a = 3", "ALTER TABLE t RENAME TO u"),
        *(
            "COPY t TO '/dev/null' (FORMAT csv)",
            "EXPLAIN FROM t",
            "DESCRIBE t",
            "SUMMARIZE t",
            "PRAGMA version",
            "CHECKPOINT",
        ),
        *(
            "ATTACH ':memory:' AS m",
            "LOAD json",
            "PREPARE p AS FROM t",
            "CALL pragma_version()",
            "COMMENT ON TABLE t IS 'x'",
        ),
    ],
)
def test_a_statement_of_duckdb_s_takes_one_number(text: str) -> None:
    """The engine counts its own queries by it: none may take less than a number, or another's would be taken for it."""
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a")
        count = len(con.extract_statements(text))
        numbers = []
        for query in (None, text):
            if query:
                con.execute(query)
            with con.cursor() as other:
                numbers += other.execute("SELECT current_query_id()").fetchone() or ()
        assert numbers[1] - numbers[0] == count + 1


def test_a_text_without_a_statement_is_not_counted() -> None:
    engine = DuckDBEngine(duckdb.connect())
    counts = []
    for text in (
        "SELECT 1",
        "-- nothing",
        "-- a\n -- b",
        "",
        ";",
        "/* nothing */",
        "SELECT 1; SELECT 2",
        "-- a\nSELECT 1",
    ):
        before = engine._queries
        with suppress(EngineError):
            engine._execute(text, ())
        counts.append(engine._queries - before)
    assert counts == [1, 0, 0, 0, 0, 0, 2, 1]


def test_what_a_ledger_spends_on_a_connection_of_its_own_is_counted(con: Connection) -> None:
    """So an answer under a budget does not make the next statement list the functions; a macro is found as before."""
    con.execute(f"{POLICY}; CREATE BUDGET b ON POLICY p (epsilon => 9)")
    ask = "ESTIMATE SELECT count(*) AS n FROM people UNDER BUDGET b (epsilon => 1)"
    con.execute(ask).fetchall()
    assert listings(con, ask) == 0
    con.duckdb.execute(MACRO)
    require_found(con, ask)
