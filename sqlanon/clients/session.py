"""A DuckDB connection that also understands sqlanon's statements."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from os import PathLike, fspath
from threading import RLock
from typing import TYPE_CHECKING, Any

from sqlanon.engines.connection_methods import ConnectionMethods
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.python_variables import called_beside_caller, caller_frames
from sqlanon.engines.translated import in_use
from sqlanon.errors import SqlanonError, UserError
from sqlanon.sources.data_frames import DataFrames
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.classes.normal_relations import literal_rows
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.parameters import with_values
from sqlanon.statements.parser import hint_for, parse_script

if TYPE_CHECKING:
    from sqlanon.clients.api.policy import Policy
    from sqlanon.engines.base import Engine
    from sqlanon.engines.connection_methods import DuckDBConnection, DuckDBRelation, DuckDBStatement, SparkSession
    from sqlanon.statements.base import Answer


# DuckDB's methods that return the connection, and the methods that another thread may call while a statement runs.
_RETURN_CONNECTION = frozenset(
    "append begin checkpoint commit create_function executemany register remove_function rollback unregister".split()
)
_ANY_TIME = frozenset(("interrupt", "query_progress"))

# An unfetched result of a SELECT blocks DuckDB's connection; the result of a CALL does not.
_FINISHED = "CALL system.main.query(?)"

_ENGINES = ("duckdb", "spark")

# Called with the stage, the SQL that is about to run (or None), the steps done and their total (or None), and the
# progress in words (or None).
Observer = Callable[[str, str | None, int | None, int | None, str | None], None]


@dataclass(frozen=True)
class StatementEvent:
    """An event of a script. `phase` is 'start' before a statement runs, and 'end' after it.

    `result` is a DuckDB relation, or None if the statement returns nothing; `remarks` are sentences about the result.

    >>> connect().script("CREATE TABLE t (a INT); FROM t", lambda event: print(event.phase))
    start
    end
    start
    end
    """

    statement: Statement
    phase: str
    result: DuckDBRelation | None = None
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()


def connect(
    database: str | PathLike[str] | DuckDBConnection = ":memory:",
    *,
    read_only: bool = False,
    config: Mapping[str, str | bool | int | float | list[str]] | None = None,
    engine: str = "duckdb",
    session: SparkSession | None = None,
    releases: str | PathLike[str] | None = None,
    summary_rows: int | None = None,
) -> Connection:
    """Opens a DuckDB database, or wraps a DuckDB connection that is already open.

    The result has DuckDB's own methods and also understands sqlanon's statements:
    ADVANCE, ADVISE, ALTER POLICY | READER, ATTACK, CHECK, CREATE ANONYMIZED STREAM | ANONYMIZED TABLE | ANONYMIZED VIEW
    | BUDGET | HIERARCHY | POLICY | READER | SERIES | WORKLOAD, DESCRIBE ANONYMIZED TABLE | ANONYMIZED VIEW | BUDGET |
    POLICY, DROP ANONYMIZED STREAM | ANONYMIZED TABLE | ANONYMIZED VIEW | BUDGET | FRONTIER | HIERARCHY | POLICY |
    READER | SERIES | WORKLOAD, ESTIMATE, EXPLAIN ANONYMIZED TABLE | ANONYMIZED VIEW | ESTIMATE, EXPORT, FRONTIER, GRANT
    ESTIMATE ON | SELECT ON, MEASURE, PROFILE, REFRESH ANONYMIZED TABLE, REVOKE ESTIMATE ON | SELECT ON, SHOW BUDGETS |
    FRONTIERS | GRANTS | HIERARCHIES | POLICIES | READERS | RELEASES | SERIES | STREAMS | WORKLOADS.
    The schema anon is created by the first statement that writes to it. Each thread needs a `cursor()` of its own.

    With `engine` 'spark' sources are tables and views of a Spark session or Parquet files, and releases are folders of
    Parquet files below `releases`; the database has the catalog. `session` is a PySpark session, by default the one of
    this process. Cells and other summaries of a source, of at most `summary_rows` rows each, are searched in DuckDB.

    Raises UserError when the file cannot be opened, or when the Spark session cannot be used.

    >>> with connect() as connection:
    ...     checked = connection.sql("CHECK (FROM range(4)) (range) REQUIRE k_anonymity(k => 2)")
    ...     checked.select("question", "required", "achieved", "satisfied").fetchall()
    [('k_anonymity', 2.0, 1.0, False)]
    """
    if engine not in _ENGINES:
        raise UserError(f"there is no engine {engine}", hint=f"it is one of {', '.join(_ENGINES)}")
    federated = _on_spark(session, releases, summary_rows) if engine == "spark" else None
    if federated is None and (session, releases, summary_rows) != (None, None, None):
        raise UserError("session, releases and summary_rows are for engine => 'spark'")
    if isinstance(database, str | PathLike):
        database = open_database(fspath(database), read_only=read_only, config=config)
    return Connection(database, engine=federated)


def _on_spark(
    session: SparkSession | None, releases: str | PathLike[str] | None, summary_rows: int | None
) -> Callable[[DuckDBEngine], Engine]:
    """Returns a function that makes the engine of a connection with its rows on Spark."""
    try:
        from sqlanon.engines.federated.engine import federated
    except ModuleNotFoundError as error:
        raise UserError("Spark needs PySpark, which is not installed", hint="pip install 'sqlanon[spark]'") from error
    return federated(session, None if releases is None else fspath(releases), summary_rows)


class Connection(ConnectionMethods):
    """DuckDB's connection with sqlanon's statements; every other method is DuckDB's own.

    >>> with connect() as connection:
    ...     connection.execute("CHECK (FROM range(4)) (range) REQUIRE k_anonymity(k => 1)").fetchone()[-1]
    True
    """

    def __init__(
        self,
        connection: DuckDBConnection,
        frames: DataFrames | None = None,
        engine: Callable[[DuckDBEngine], Engine] | None = None,
    ) -> None:
        self._connection = connection
        self._observer: Observer | None = None
        self._stage = ""
        self._engine_of = engine
        local = DuckDBEngine(connection, self._observe_sql)
        self._engine: Engine = engine(local) if engine else local
        self._lock = RLock()
        self._frames = frames or DataFrames()
        # The remarks that were reported already, each with its release.
        self._told_remarks: set[tuple[str, str]] = set()

    @property
    def duckdb(self) -> DuckDBConnection:
        """Returns the underlying DuckDB connection, without sqlanon's statements."""
        return self._connection

    def observe(self, observer: Observer | None) -> Observer | None:
        """Sets the function that is called for each stage of a statement and each query, and returns the former one."""
        before, self._observer = self._observer, observer
        return before

    def sql(self, query: DuckDBStatement | str, *, alias: str = "", params: object = None) -> DuckDBRelation:
        """Runs a script and returns the last statement's result, a DuckDB relation, or None if it returns nothing.

        `alias` and `params` are passed to DuckDB's `sql` with the last statement. `query` may also be a statement from
        `extract_statements`. The name of a table that the database does not have may be a variable of the caller with a
        data frame.

        >>> connect().sql("SHOW POLICIES").columns
        ['policy', 'source', 'quasi_identifiers', 'sensitive', 'requirements']
        """
        with self._alone():
            statements = _own_statements(query)
            if statements is None:
                return self._relation(query, alias, params)
            for statement in statements[:-1]:
                self._complete(statement)
            return self._run(statements[-1], alias, params)

    query = sql

    def execute(self, query: DuckDBStatement | str, parameters: object = None) -> Connection:
        """Runs a script and returns this connection, from which the last result is fetched, as with DuckDB.

        >>> connect().execute("CHECK (FROM range(4)) (range) REQUIRE k_anonymity(k => ?)", [1]).fetchone()[-1]
        True
        """
        with self._alone():
            statements = _own_statements(query)
            if statements is None:
                self._execute(query, parameters)
                return self
            for statement in statements[:-1]:
                self._complete(statement)
            if isinstance(statements[-1], PassThrough):
                self._execute(statements[-1].text, parameters)
            else:
                self._connection.execute(_FINISHED, [_answer_query(self._answer(statements[-1], parameters))])
            return self

    def _execute(self, query: DuckDBStatement | str, parameters: object = None) -> None:
        arguments = () if parameters is None else (parameters,)
        with _noting(query):
            called_beside_caller(partial(self._connection.execute, query, *arguments))

    def _relation(self, query: DuckDBStatement | str, alias: str = "", params: object = None) -> DuckDBRelation:
        run = partial(self._connection.sql, query, alias=alias, params=params)
        with _noting(query):
            return called_beside_caller(run)

    def _complete(self, statement: Statement) -> None:
        """Runs a statement to its end and discards its result."""
        if isinstance(statement, PassThrough):
            self._execute(statement.text)
            self._connection.complete()
        else:
            self._answer(statement)

    def script(self, text: str, on_statement: Callable[[StatementEvent], None] | None = None) -> None:
        """Runs a script and calls `on_statement` before and after each statement, with its result after it."""
        for statement in parse_script(text):
            with self._alone():
                if on_statement is None:
                    self._complete(statement)
                    continue
                on_statement(StatementEvent(statement, "start"))
                begun = time.perf_counter()
                answer = None if isinstance(statement, PassThrough) else self._answer(statement)
                result = self._run(statement) if answer is None else self._connection.sql(_answer_query(answer))
                seconds = time.perf_counter() - begun
                remarks = self._untold(answer) if answer else ()
                on_statement(StatementEvent(statement, "end", result, seconds, remarks))

    def _untold(self, answer: Answer) -> tuple[str, ...]:
        """Returns an answer's remarks, without remarks that were already reported about the same release."""
        if answer.about is None:
            return answer.remarks
        remarks = tuple(remark for remark in answer.remarks if (answer.about, remark) not in self._told_remarks)
        self._told_remarks |= {(answer.about, remark) for remark in remarks}
        return remarks

    def policy(self, name: str) -> Policy:
        """Returns the policy with this name as an object.

        Raises UserError if the database has no policies, and PolicyError if no policy has this name.

        >>> connection = connect()
        >>> _ = connection.sql('''
        ...     CREATE TABLE t AS FROM range(4) AS r(age);
        ...     CREATE POLICY p ON t (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)
        ... ''')
        >>> connection.policy("p")
        Policy('p', source='t', quasi_identifiers=['age'], require=[KAnonymity(k=2)])
        """
        from sqlanon.clients.api.arguments import one_name
        from sqlanon.clients.api.policy import Policy
        from sqlanon.statements.listings.describe_policy import DescribePolicy
        from sqlanon.syntax.policy import policy_of

        with self._alone():
            *_, (_, _, text) = self._answer(DescribePolicy(one_name("name", name))).rows
        return Policy.of(policy_of(text))

    def page(self, statement: Statement, written: Callable[[Engine], str]) -> str:
        """Returns the page that `written` makes from the engine; the caller's data frames are visible, as in a
        statement.
        """
        frames = caller_frames()
        with self._alone(), self._frames.visible(self._engine, statement, frames):
            return written(self._engine)

    def cursor(self) -> Connection:
        """Returns a second connection to the same database, with its own transaction."""
        return Connection(self._connection.cursor(), self._frames, self._engine_of)

    duplicate = cursor

    def _run(self, statement: Statement, alias: str = "", params: object = None) -> DuckDBRelation:
        if isinstance(statement, PassThrough):
            return self._relation(statement.text, alias, params)
        return self._connection.sql(_answer_query(self._answer(statement, params)), alias=alias)

    def _answer(self, statement: Statement, parameters: object = None) -> Answer:
        # Imported with the first statement of sqlanon, because a connection may run nothing but DuckDB's statements.
        from sqlanon.statements.run import run_statement

        frames = caller_frames()
        try:
            self._stage = ""
            statement = with_values(self._engine, statement, parameters)
            with self._frames.visible(self._engine, statement, frames) as runnable:
                return run_statement(self._engine, runnable, self._observe_stage)
        except SqlanonError as error:
            raise statement.locate(error) from None

    def _observe_stage(self, stage: str, done: int, total: int, detail: str | None = None) -> None:
        self._stage = stage
        if self._observer:
            self._observer(stage, None, done, total, detail)

    def _observe_sql(self, text: str) -> None:
        if self._observer:
            self._observer(self._stage, text, None, None, None)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other threads out until the block ends, because a statement runs several queries, whose results would
        be mixed up.

        Raises the error that DuckDB raises if another thread is using the connection.
        """
        if not self._lock.acquire(blocking=False):
            raise in_use()
        try:
            yield
        finally:
            self._lock.release()

    # Hidden from type checkers, which would accept any name; ConnectionMethods declares DuckDB's methods.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            attribute = getattr(self._connection, name)
            if name not in _ANY_TIME:
                with self._alone():
                    pass
            return self._returning_itself(attribute) if name in _RETURN_CONNECTION else attribute

    def __dir__(self) -> list[str]:
        """Lists the names that an editor offers: methods of this class and of DuckDB's connection."""
        return sorted({*super().__dir__(), *dir(self._connection)})

    def _returning_itself(self, method: Callable[..., Any]) -> Callable[..., Connection]:
        """Wraps a method of DuckDB's connection that returns its connection: the wrapper returns this connection."""

        @wraps(method)
        def called(*arguments: Any, **named: Any) -> Connection:
            called_beside_caller(partial(method, *arguments, **named))
            return self

        return called

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, exc_type: object, exc: object, traceback: object) -> None:
        self._connection.close()


def _own_statements(query: Any) -> list[Statement] | None:
    """Returns a script's statements if at least one is a statement of sqlanon. Otherwise returns None, and DuckDB runs
    the unchanged script.
    """
    statements = parse_script(query) if isinstance(query, str) else []
    return None if all(isinstance(statement, PassThrough) for statement in statements) else statements


@contextmanager
def _noting(query: object) -> Iterator[None]:
    """Adds a hint to DuckDB's error, as a note, if the query looks like one of sqlanon's statements."""
    try:
        yield
    except Exception as error:
        if hint := hint_for(error, query) if isinstance(query, str) else _hint_for_object(query):
            error.add_note(f"hint: {hint}")
        raise


def _hint_for_object(query: object) -> str | None:
    from sqlanon.clients.api.arguments import Defined

    is_defined = isinstance(query, Defined)
    return "an object has its statement, which runs: connection.sql(policy.sql())" if is_defined else None


def _answer_query(answer: Answer) -> str:
    return to_sql(literal_rows(answer.columns, answer.rows))
