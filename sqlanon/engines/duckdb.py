"""The engine protocol for DuckDB."""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Calls, Column, Query, Reading, SingleEngine
from sqlanon.engines.python_variables import registered_frames
from sqlanon.engines.reads import calls_made, relations_read
from sqlanon.engines.statement_memo import (
    TRANSACTION,
    Session,
    is_session_query,
    is_within_statement,
    rows_once,
    session,
    settings_of_texts,
)
from sqlanon.engines.translated import translated
from sqlanon.errors import InternalError, InUseError, UserError
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import InstalledScript, RepeatedQuery, to_sql
from sqlanon.sql.build.sql_files import sql_file

# Whether a macro may have been created since the macros were listed last, so that not every statement lists them.
#
# To list macros DuckDB describes each of its 3,000 functions, and there is no other way. But DuckDB numbers every new
# catalog entry, in one sequence for all connections and all attached databases, temporary objects included. A new
# connection takes the next numbers for its temporary database, and so shows the state of the sequence. If the state is
# the same as at the end of a statement that found no macro, there is still none.
#
# The sequence also counts what the statement itself creates. That nobody else created anything during the statement is
# known from the sequence of queries, which then has advanced by the engine's own queries only. A macro that another
# connection has created and not yet committed already has its number. So nothing is kept while there is another
# connection, nor in a transaction of the user, which may be rolled back.


# The numbers that a new connection takes for its temporary database. If it takes another count, nothing is kept.
_OF_A_CONNECTION = 3


class ConnectionNumbers(NamedTuple):
    """The row of `sql/statements/connection_numbers.sql`, read on a new connection."""

    temporary_database: int
    query: int
    extensions: int

    def follows(self, former: ConnectionNumbers) -> bool:
        """Whether no catalog entry was created between the `former` connection and this one."""
        return self.temporary_database == former.temporary_database + _OF_A_CONNECTION


class MacroWatch:
    """Tells whether a connection may see new macros, so that macros need not be listed for each statement.

    `ask` reads the numbers of the new connection that it is given, in one query; it returns None if they cannot be
    read.
    """

    def __init__(self, connection: Any, ask: Callable[[Any], ConnectionNumbers | None]) -> None:
        self._connection = connection
        self._ask = ask
        # The numbers at the end of a statement that found no macro.
        self._settled: ConnectionNumbers | None = None
        # For the current statement: the number of its first query, the extensions, and how many queries the engine had
        # run before. Queries of new connections are not counted by the engine.
        self._begun: tuple[int, int, int] | None = None
        self._has_counted = False

    def begin(self, now: Session, queries: int, *, in_transaction: bool) -> bool:
        """Begins a statement; returns whether there are still no macros, as at the end of the last statement.

        `now` was read on the statement's own connection, after all earlier queries of the connection had ended;
        `queries` is the number of queries that the engine had run by then. `in_transaction` is whether the user has
        begun a transaction.
        """
        settled, self._settled, self._begun = self._settled, None, None
        if in_transaction or now.connections != 1 or now.foreign_databases:
            return False
        numbers = self._numbers()
        if numbers is None:
            return False
        self._begun = (now.query, numbers.extensions, queries - 1)
        return settled is not None and numbers.follows(settled) and numbers.extensions == settled.extensions

    def forget(self) -> None:
        """Records that the statement found a macro, so that the next statement lists macros again."""
        self._begun = None

    def end(self, queries: int) -> None:
        """Ends a statement that found no macro; `queries` is the number of queries that the engine has run so far."""
        if self._begun is None:
            return
        (first_query, extensions, before), self._begun = self._begun, None
        last = self._numbers()
        if last is None or last.query != first_query + (queries - before) + 1 or last.extensions != extensions:
            return
        if not self._has_counted:
            # Two new connections in a row show whether a connection takes as many numbers as assumed.
            first, last = last, self._numbers()
            self._has_counted = last is not None and last.follows(first) and last.query == first.query + 1
        if self._has_counted:
            self._settled = last

    def _numbers(self) -> ConnectionNumbers | None:
        with closing(self._connection.cursor()) as connection:
            return self._ask(connection)


if TYPE_CHECKING:
    from numpy.typing import NDArray

Observer = Callable[[str], None]

_PAUSE_SECONDS = 0.01
# The number of parsed texts that are kept, and the most characters of such a text.
_MOST_PARSED, _LONGEST_PARSED = 256, 20_000

_LINES_OF_COMMENTS = re.compile(r"^(?:\s+|--[^\n]*(?:\n|$))*")

# Parsed scripts, by text and settings of the session, and how many of them are kept.
_SCRIPTS: dict[tuple[Any, ...], list[Any]] = {}
_MOST_SCRIPTS = 64


def open_database(
    path: str, *, read_only: bool = False, config: Mapping[str, str | bool | int | float | list[str]] | None = None
) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB connection whose progress bar never prints into a program's output.

    Raises UserError if another process holds the file, or if the file that is read does not exist.
    """
    try:
        connection = duckdb.connect(path, read_only=read_only, config=dict(config or {}))
    except duckdb.Error as error:
        raise _cannot_open(path, error) from None
    if "lock_configuration" not in (config or {}):
        connection.execute("SET enable_progress_bar = false")
    return connection


def rest(connection: duckdb.DuckDBPyConnection) -> None:
    """Ends the threads of an idle database; each database has as many threads as there are processors."""
    connection.execute("SET threads = 1")


def wake(connection: duckdb.DuckDBPyConnection) -> None:
    """Starts the threads that `rest` ended."""
    connection.execute("RESET threads")


def _cannot_open(path: str, error: duckdb.Error) -> UserError:
    text = str(error)
    holder = re.search(r"PID (\d+)", text)
    if "lock on file" in text:
        who = f" (process {holder.group(1)})" if holder else ""
        return InUseError(
            f"the database {path} is open in another process{who}",
            hint="close it there: a DuckDB file has one writer, or any number of readers, which "
            "--read-only and read_only=True open",
        )
    return UserError(f"the database {path} cannot be opened: {text.splitlines()[0]}")


def is_connection(value: object) -> bool:
    """Whether a value is one of DuckDB's own connections."""
    return isinstance(value, duckdb.DuckDBPyConnection)


class DuckDBEngine(SingleEngine):
    """One DuckDB connection; `observe` is called with the text of every query before it runs."""

    def __init__(self, connection: Any, observe: Observer | None = None, *, alone: bool = False) -> None:
        self.connection = connection
        self.observe = observe
        # Whether only this engine uses the connection: then it has begun every transaction.
        self._is_alone = alone
        self._parsed: OrderedDict[tuple[object, ...], Any] = OrderedDict()
        # Whether a transaction that this engine has begun is open.
        self._begun = False
        # The number of queries run, each query of a text counted; failed ones may be missing.
        self._queries = 0
        # The value of `_queries` when the session was read.
        self._session_at = 0
        self._macros = MacroWatch(connection, self._connection_numbers)

    def _execute(self, query: Query, parameters: Sequence[object]) -> Any:
        text = query if isinstance(query, str) else to_sql(query)
        if self.observe:
            self.observe(text)
        try:
            if isinstance(text, InstalledScript):
                return self._run_script(text)
            runnable: Any = text
            if isinstance(text, RepeatedQuery):
                runnable = self._statement(text)
            elif not isinstance(query, str) and is_within_statement(self):
                runnable = self._statement(text, settings_of_texts(self))
            elif not parameters and ";" in text and (statements := self.connection.extract_statements(text)):
                return self._run_each(statements)
            result = self.connection.execute(runnable, *([list(parameters)] if parameters else []))
            self._queries += not isinstance(runnable, str) or _is_surely_a_query(runnable)
            if is_session_query(text):
                self._session_at = self._queries
            return result
        except duckdb.Error as error:
            raise translated(error, text) from None

    def _statement(self, text: str, settings: tuple[object, ...] = ()) -> Any:
        """Returns a parsed statement, cached by its text and `settings`; a script of several statements stays a text.

        Each run looks names up and binds parameters again, as for a text. A text that may contain text of the user is
        parsed again under other `settings`.
        """
        key = (text, *settings)
        if key in self._parsed:
            self._parsed.move_to_end(key)
            return self._parsed[key]
        statements: list[Any] = self.connection.extract_statements(text) if len(text) <= _LONGEST_PARSED else []
        self._parsed[key] = statements[0] if len(statements) == 1 else text
        if len(self._parsed) > _MOST_PARSED:
            self._parsed.popitem(last=False)
        return self._parsed[key]

    def _run_script(self, text: InstalledScript) -> Any:
        """Runs a script; its parsed form is cached for all databases of this process."""
        key = (text, *settings_of_texts(self))
        if key not in _SCRIPTS:
            if len(_SCRIPTS) >= _MOST_SCRIPTS:
                _SCRIPTS.clear()
            _SCRIPTS[key] = self.connection.extract_statements(text)
        return self._run_each(_SCRIPTS[key])

    def _run_each(self, statements: Sequence[Any]) -> Any:
        """Runs statements one after the other; returns the result of the last statement."""
        result = self.connection
        for statement in statements:
            result = self.connection.execute(statement)
            self._queries += 1
        return result

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        result = self._execute(query, parameters)
        try:
            return list(result.fetchall())
        except duckdb.Error as error:
            raise translated(error) from None

    def arrays(self, query: exp.Query) -> dict[str, NDArray[Any]]:
        result = self._execute(query, ())
        try:
            return dict(result.fetchnumpy())
        except duckdb.Error as error:
            raise translated(error) from None

    @contextmanager
    def readable(self, name: str, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:
        """Makes arrays of one length the columns of a temporary view until the block ends, without copying them."""
        with registered_frames(self.connection, {name: dict(columns)}):
            yield
        # DuckDB ran a query to create the view, and one to drop it.
        self._queries += 2

    def arrow(self, query: Query) -> Any:
        """Returns the rows of a query as an Arrow table."""
        try:
            return self.connection.sql(to_sql(query) if isinstance(query, exp.Expr) else query).to_arrow_table()
        except duckdb.Error as error:
            raise translated(error) from None

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        self.rows(query, parameters)

    def columns(self, query: Query) -> list[Column]:
        described = exp.Describe(this=query) if isinstance(query, exp.Expr) else "DESCRIBE " + query
        return [(name, kind) for name, kind, *_ in self.rows(described)]

    def fingerprint(self, rows: exp.Query) -> str | None:
        """Returns None, because DuckDB has the function hash."""
        return None

    def version(self) -> str:
        return "DuckDB " + str(duckdb.__version__)

    def in_transaction(self) -> bool:
        """Whether the user has begun a transaction on this connection.

        Because a second BEGIN would abort it, the transaction ids of two statements are compared: outside a
        transaction, each statement has its own id.
        """
        if self._begun or self._is_alone:
            return self._begun
        within = is_within_statement(self)
        first = session(self).transaction if within else self.rows(TRANSACTION)[0][0]
        # A user's transaction neither begins nor ends while a statement runs.
        ((second,),) = rows_once(self, TRANSACTION)
        return bool(first == second)

    def shadowing_macros(self) -> list[str]:
        """Returns the macros named like a built-in function, as of the beginning of the statement."""
        now = session(self)
        if self._macros.begin(now, self._session_at, in_transaction=self.in_transaction()):
            return []
        names = [str(name) for (name,) in self.rows(sql_file("statements", "shadowing_macros"))]
        if names:
            self._macros.forget()
        return names

    def end_statement(self) -> None:
        """Records the state of DuckDB's sequences, so that the next statement need not list the macros."""
        self._macros.end(self._queries)

    def _connection_numbers(self, connection: Any) -> ConnectionNumbers | None:
        text = sql_file("statements", "connection_numbers")
        if self.observe:
            self.observe(text)
        try:
            return ConnectionNumbers(*connection.execute(self._statement(text)).fetchone())
        except duckdb.Error:
            # Where files are out of reach, extensions are not listed.
            return None

    def reads(self, query: str) -> list[Reading]:
        """Returns the tables and views that a user's query reads, also through views and macros.

        Raises UserError if the calls cannot be determined.
        """
        return relations_read(self.rows, query)

    def calls(self, query: str) -> Calls:
        """Returns the functions and macros that a user's query calls, directly or through views and macros.

        Raises UserError if the calls cannot be determined.
        """
        return calls_made(self.rows, query)

    def tables_of(self, query: str) -> list[QualifiedName]:
        """Returns the tables that a query reads, by their full names; a file or a frame has its name in the query."""
        return [reading.name for reading in self.reads(query) if reading.kind != "view"]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the block in a transaction.

        Inside a transaction that the user began, a failure aborts the whole transaction, as any failing statement does
        in DuckDB, so that only ROLLBACK is possible.
        """
        joined = self.in_transaction()
        if not joined:
            self.connection.execute("BEGIN TRANSACTION")
            self._queries += 1
            self._begun = True
        try:
            yield
            if not joined:
                self.connection.execute("COMMIT")
                self._queries += 1
        except BaseException as error:
            self._abort() if joined else self._rollback()
            if isinstance(error, duckdb.Error):
                raise translated(error) from None
            raise
        finally:
            self._begun = self._begun and joined

    @contextmanager
    def beside(self) -> Iterator[DuckDBEngine]:
        """Yields another connection to the same database, with its own transactions; it is closed after the block.

        Its queries are counted as queries of this engine, so that they do not make the next statement list the macros.
        """
        database = session(self).database
        with closing(self.connection.cursor()) as connection:
            other = DuckDBEngine(connection, self.observe, alone=True)
            try:
                other.run(exp.Use(this=relation((database, "main"))))
                yield other
            finally:
                self._queries += other._queries

    def _abort(self) -> None:
        with suppress(duckdb.Error):
            # A second BEGIN is an error, and an error aborts the transaction. If an earlier error has aborted it, all
            # the better.
            self.connection.execute("BEGIN TRANSACTION")

    def _rollback(self) -> None:
        with suppress(duckdb.Error):
            # A failed COMMIT has already ended the transaction: then nothing is left to roll back.
            while not self._rolled_back():
                sleep(_PAUSE_SECONDS)

    def _rolled_back(self) -> bool:
        """Rolls back; returns False if another thread is fetching from the connection."""
        try:
            self.connection.execute("ROLLBACK")
            self._queries += 1
        except duckdb.ResourceInUseException:
            return False
        return True


def _is_surely_a_query(text: str) -> bool:
    """Whether a text that was run is certainly a query, and not, for example, comments alone."""
    first = _LINES_OF_COMMENTS.sub("", text)[:1]
    return first.isalpha() or first == "("


# A query with DuckDB's own functions named in full, so that no macro can replace them.


_PARSED = RepeatedQuery("SELECT system.main.json_serialize_sql(?)")
_WRITTEN = RepeatedQuery("SELECT system.main.json_deserialize_sql(?)")
_BUILT_IN = ("system", "main")


def with_built_ins(rows: Callable[[RepeatedQuery, Sequence[object]], list[tuple[Any, ...]]], query: str) -> str:
    """Returns the query with each function and operator as a call in system.main; `rows` runs queries on DuckDB.

    A macro may have the name of any function, and of operators such as + and ||: a call by the bare name would then
    call the macro. Nobody can change the meaning of a call by the full name. Comparisons, AND, OR, IN, CASE and CAST
    are not calls. Raises InternalError for a query that DuckDB cannot parse.
    """
    try:
        tree = json.loads(rows(_PARSED, [query])[0][0])
    except RecursionError:
        raise InternalError("the query is nested too deep to name its functions in full") from None
    if tree["error"]:
        raise InternalError(f"DuckDB cannot take the query apart: {tree['error_message']}")
    for call in _calls(tree):
        call["qualified_name"]["path"] = [*_BUILT_IN, call["qualified_name"]["path"][-1]]
        call["is_operator"] = False
    return str(rows(_WRITTEN, [json.dumps(tree)])[0][0])


def _calls(tree: Any) -> Iterator[dict[str, Any]]:
    """Yields the calls in DuckDB's parse tree of a query: functions, operators and window functions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            if node.get("class") in ("FUNCTION", "WINDOW"):
                yield node
            pending += node.values()


# The logs of databases: files beside a database, which are applied to it by anyone who opens it.


# The suffixes of logs behind the name of the database.
DUCKDB_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
SQLITE_LOGS = ("-journal", "-wal", "-shm")


def logs_beside(path: Path, endings: Sequence[str]) -> list[Path]:
    """Finds logs with these endings beside a file, or beside the path of a missing file.

    For a link, the logs are beside the file to which it leads, because databases look for them there.
    """
    files = dict.fromkeys((path, Path(os.path.realpath(path))))
    return [log for file in files for end in endings if os.path.lexists(log := file.with_name(file.name + end))]
