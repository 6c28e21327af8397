"""The process that opens a database for the door: it reads the readers and their grants, or copies granted releases
into a room.

It opens the file for reading only, only for as long as one of these tasks takes, and then closes it. The process that
readers reach never opens the file.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlanon.catalog import migrations, readers, releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.clients.serve.children import answer_front, new_room
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import InUseError, SqlanonError, UserError
from sqlanon.export import room_model
from sqlanon.export.room import fill_room
from sqlanon.sources.catalog_entries import source_entry
from sqlanon.sources.preconditions import require_usual_session

# The time between two attempts to open the file.
_PAUSE = 0.1
_SPILL = "spill"


def main() -> None:
    answer_front(answer)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request of the front: `look` asks for the readers, `fill` for a room."""
    database = Path(request["database"])
    if request["do"] == "look":
        return look(database)
    granted = [(str(release_id), QualifiedName((schema, name))) for release_id, schema, name in request["releases"]]
    return {"tables": fill(database, Path(request["room"]), granted, float(request["patience"]))}


def look(database: Path) -> dict[str, Any]:
    """Returns the readers with the digests of their tokens and their grants.

    Raises InUseError if another process has the database open for writing.

    `is_whole` is true if the file has everything from which the granted releases are made, so that they change only
    when the file changes.
    """
    with _opened(database, 0) as engine:
        access = readers.access(engine) if migrations.ready(engine) else []
        granted = {name for each in access for _, name in each.releases}
        return {
            "readers": [
                {
                    "name": each.reader.reader,
                    "token_sha256": each.reader.token_sha256,
                    "expires_on": None if each.reader.expires_on is None else each.reader.expires_on.isoformat(),
                    "releases": [[release_id, *name.parts] for release_id, name in sorted(each.releases, key=str)],
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
    try:
        with new_room(room), _opened(database, patience, spill) as engine:
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
        raise UserError(f"{name} is not the release any more that was granted", hint="GRANT it again")
    return release


@contextmanager
def _opened(database: Path, patience: float, spill: Path | None = None) -> Iterator[DuckDBEngine]:
    """Yields the database, open for reading only. Tries again for `patience` seconds while another process writes."""
    if not database.is_file():
        raise UserError(f"there is no database {database}")
    config = {} if spill is None else {"temp_directory": str(spill), **_memory()}
    until = time.monotonic() + patience
    while True:
        try:
            connection = open_database(str(database), read_only=True, config=config)
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
