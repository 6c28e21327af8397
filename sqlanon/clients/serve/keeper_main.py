"""The process that opens a database for the door: it reads the readers and their grants, copies granted releases into
a room, or answers an ESTIMATE under a budget.

It opens the file only for as long as one of these tasks takes, and for writing only if a budget pays for an answer. The
process that readers reach never opens the file.
"""

from __future__ import annotations

import base64
import hmac
import resource
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlanon.catalog import budget_grants, budgets, migrations, readers, releases
from sqlanon.catalog.readers import Reader
from sqlanon.catalog.snapshot import policy_of
from sqlanon.clients.serve.children import answer_front, new_room
from sqlanon.clients.serve.door import limit_memory
from sqlanon.clients.serve.estimates import NO_BUDGET, not_granted, read_under_budget
from sqlanon.clients.serve.refused import NOT_ADMITTED, Refused
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.room_reader import reader_text
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import InUseError, PolicyError, PrivacyViolation, SqlanonError, StatementError, UserError
from sqlanon.estimates.noisy.answers import planned_columns
from sqlanon.export import room_model
from sqlanon.export.room import fill_room
from sqlanon.sources import noise
from sqlanon.sources.catalog_entries import source_entry
from sqlanon.sources.preconditions import require_usual_session
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.classes.normal_relations import literal_rows
from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget
from sqlanon.statements.run import run_statement

# The time between two attempts to open the file.
_PAUSE = 0.1
# Rows of an answer that are written in one query.
_PART = 1000
_SPILL = "spill"


def main() -> None:
    answer_front(_within_limits)


def _within_limits(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request of the front; the system ends this process if a reader's statement takes too long or too much
    memory.
    """
    if request["do"] != "ask":
        return answer(request)
    _limit_memory(int(request["memory"]))
    signal.setitimer(signal.ITIMER_REAL, float(request["seconds"]) + float(request["patience"]))
    try:
        return answer(request)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@cache
def _limit_memory(memory: int) -> None:
    """Limits the memory of this process to what its libraries take plus a fixed amount; does so only once."""
    with suppress(SqlanonError):
        noise.require_opendp()
    limit_memory(memory)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request of the front: `look` asks for the readers, `fill` for a room, and `ask` for an estimate."""
    database = Path(request["database"])
    if request["do"] == "look":
        return look(database)
    if request["do"] == "ask":
        return ask(database, request)
    granted = [(str(release_id), QualifiedName((schema, name))) for release_id, schema, name in request["releases"]]
    return {"tables": fill(database, Path(request["room"]), granted, float(request["patience"]))}


def look(database: Path) -> dict[str, Any]:
    """Returns the readers with the digests of their tokens and their grants.

    Raises InUseError if another process has the database open for writing.

    `is_whole` is true if the file has everything from which the granted releases are made, so that they change only
    when the file changes.
    """
    with _opened(database, 0) as engine:
        is_ready = migrations.ready(engine)
        access = readers.access(engine) if is_ready else []
        valid_grants = [each for each in budget_grants.grants(engine) if each.holds] if is_ready else []
        granted = {name for each in access for _, name in each.releases}
        return {
            "readers": [
                {
                    "name": each.reader.reader,
                    "token_sha256": each.reader.token_sha256,
                    "expires_on": None if each.reader.expires_on is None else each.reader.expires_on.isoformat(),
                    "releases": [[release_id, *name.parts] for release_id, name in sorted(each.releases, key=str)],
                    "budgets": [of.budget for of in valid_grants if of.reader_id == each.reader.reader_id],
                }
                for each in access
            ],
            "is_whole": all(_is_within(engine, name) for name in granted),
        }


def _is_within(engine: Engine, name: QualifiedName) -> bool:
    """Whether a release changes only when this file does: a snapshot, or a live view of tables.

    A view or a query may read other files, or the time of day.
    """
    try:
        release = releases.load(engine, name)
        if release.kind == "table":
            return True
        policy = policy_of(release)
        sources = [*policy.sources, *([policy.against] if policy.against else [])]
        entries = [source_entry(engine, source) if source.name else None for source in sources]
    except SqlanonError:
        return False
    return all(entry is not None and entry[0] == "table" for entry in entries)


def fill(
    database: Path, room: Path, granted: list[tuple[str, QualifiedName]], patience: float
) -> dict[str, list[list[str]]]:
    """Writes checked copies of releases, by id and name, into a new file that only its owner may read.

    Returns the tables of each release, by its id. Raises InUseError if another process has the database open for
    writing for `patience` seconds, UserError for a release that is no longer the granted release, and the errors of
    `fill_room`. No file is left after an error.
    """
    spill = room.parent / _SPILL
    config = {"temp_directory": str(spill), **_memory()}
    try:
        with new_room(room), _opened(database, patience, config=config) as engine:
            require_usual_session(engine)
            copied = [_granted(engine, release_id, name) for release_id, name in granted]
            fill_room(engine, room, copied)
            room_model.write(room, [room_model.of_database(engine, each) for each in copied])
            return {each.release_id: [list(made.name.parts) for made in each.published] for each in copied}
    finally:
        _remove(spill)


def _granted(engine: Engine, release_id: str, name: QualifiedName) -> Release:
    """Returns the release with this id and name. Raises UserError if there is no such release, or if it is not granted
    to anybody.
    """
    release = releases.find(engine, name)
    granted = {each.release_id for each in readers.grants(engine) if each.holds}
    if release is None or release.release_id != release_id or release_id not in granted:
        raise UserError(f"{name} was replaced after it was granted", hint="GRANT it again")
    return release


def ask(database: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Answers an ESTIMATE under a budget for a reader, whose cost is committed before a row is read.

    Returns the `answer` as Arrow IPC in base 64, a text in `refused` if nothing was spent, or a text in `spent` if the
    cost was spent in vain, and the seconds for which the file was open, `seconds_open`. With `plan` the answer has no
    row, and nothing is spent. Raises InUseError if another process has the database open for `patience` seconds.
    """
    question = read_under_budget(request["statement"])
    if question is None:
        return {"refused": NO_BUDGET}
    is_plan = bool(request["plan"])
    begun = time.monotonic()
    with ExitStack() as stack:
        opened = _opened(database, float(request["patience"]), read_only=is_plan, config=_of_reader(request))
        before = engine = None
        try:
            engine = stack.enter_context(opened)
            begun = time.monotonic()
            # Of files: DuckDB takes this setting only once the database is open.
            engine.connection.execute("SET GLOBAL enable_external_access = false")
            reader = _entitled(engine, request["reader"], request["token_sha256"], question.budget)
            before = _entries(engine)
            answer = _planned(engine, question) if is_plan else _paid(engine, question, reader)
        except Exception as error:
            if engine is None and isinstance(error, InUseError):
                raise
            is_spent = engine is not None and before is not None and _entries(engine) != before
            return {"spent" if is_spent else "refused": _reason(error), "seconds_open": time.monotonic() - begun}
    # The file is closed, so that others may have it.
    seconds_open = time.monotonic() - begun
    return {**_arrow(*answer, int(request["rows"]), int(request["bytes"])), "seconds_open": seconds_open}


def _planned(engine: Engine, question: EstimateUnderBudget) -> tuple[Sequence[Column], Sequence[tuple[Any, ...]]]:
    """Returns the columns of an answer without any row. Nothing is spent."""
    require_usual_session(engine)
    return planned_columns(engine, question.budget, question.query, question.arguments), ()


def _paid(
    engine: Engine, question: EstimateUnderBudget, reader: Reader
) -> tuple[Sequence[Column], Sequence[tuple[Any, ...]]]:
    """Returns the columns and the rows of an answer, whose cost is recorded as spent by the reader."""
    answer = run_statement(engine, replace(question, reader_id=reader.reader_id))
    return answer.columns, tuple(answer.rows)


def _entitled(engine: Engine, name: str, token_sha256: str, budget: str) -> Reader:
    """Returns the reader with this name and token. Raises Refused unless the budget is granted to the reader now."""
    reader = readers.find(engine, name) if migrations.ready(engine) else None
    if reader is None or not hmac.compare_digest(reader.token_sha256, token_sha256) or reader.has_expired():
        raise Refused(NOT_ADMITTED)
    found_budget = budgets.find(engine, budget)
    granted = {each.budget_id for each in budget_grants.grants(engine, reader) if each.holds}
    if found_budget is None or found_budget.budget_id not in granted:
        raise not_granted(budget)
    return reader


def _entries(engine: Engine) -> int:
    """Returns the number of entries in the ledgers. While this process has the file open, only it adds entries."""
    return int(engine.rows(select(f.count(), of=relation(("anon", "budget_entry"))))[0][0])


def _reason(error: Exception) -> str:
    """Returns an error as the reader of a budget may see it: the message of an error about the reader's statement, or a
    fixed text for any other error.
    """
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, PolicyError | StatementError | PrivacyViolation):
        hint = f": {error.hint}" if error.hint else ""
        return reader_text(UserError(" ".join(f"{error.message}{hint}".split())))
    return "the answer cannot be computed: ask the owner of the budget"


def _of_reader(request: dict[str, Any]) -> dict[str, str | bool | int | float | list[str]]:
    """Returns the settings of a connection that runs a reader's statement; they keep it from reading and writing other
    files.
    """
    return {
        "memory_limit": f"{int(request['memory'])}B",
        "threads": int(request["threads"]),
        "temp_directory": "",
        "python_enable_replacements": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
    }


def _arrow(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]], most: int, most_bytes: int) -> dict[str, Any]:
    """Writes an answer as Arrow IPC in base 64; an answer that is too long is not sent."""
    too_long = {"spent": "the answer has more rows or bytes than it may have"}
    if len(rows) > most:
        return too_long
    parts = [rows[start : start + _PART] for start in range(0, len(rows), _PART)] or [()]
    with closing(open_database(":memory:")) as connection:
        tables = [connection.sql(to_sql(literal_rows(columns, part))).to_arrow_table() for part in parts]
    table = pa.concat_tables(tables).rename_columns([name for name, _ in columns])
    if table.nbytes > most_bytes:
        return too_long
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {"answer": base64.b64encode(sink.getvalue()).decode("ascii")}


@contextmanager
def _opened(
    database: Path,
    patience: float,
    *,
    read_only: bool = True,
    config: Mapping[str, str | bool | int | float | list[str]] | None = None,
) -> Iterator[DuckDBEngine]:
    """Yields the database, open for reading only by default. Tries again for `patience` seconds while another process
    has it.
    """
    if not database.is_file():
        raise UserError(f"there is no database {database}")
    until = time.monotonic() + patience
    while True:
        try:
            connection = open_database(str(database), read_only=read_only, config=config)
            break
        except InUseError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
    try:
        engine = DuckDBEngine(connection, alone=True)
        with within_statement(engine):
            yield engine
    finally:
        connection.close()


def _memory() -> dict[str, str]:
    """Returns the limit of DuckDB's memory, if the system limits the memory of this process; beyond the limit, rows are
    spilled.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return {} if limit == resource.RLIM_INFINITY else {"memory_limit": f"{limit // 2}B"}


def _remove(spill: Path) -> None:
    with suppress(OSError):
        for file in spill.iterdir():
            file.unlink()
        spill.rmdir()


if __name__ == "__main__":
    main()
