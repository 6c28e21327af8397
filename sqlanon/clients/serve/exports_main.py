"""The process that reads exports: it verifies them, or copies verified exports into a room."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.clients.serve.children import answer_once, new_room, result
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.room_reader import ROOM
from sqlanon.errors import EngineError, PrivacyViolation, UserError
from sqlanon.export import room_model
from sqlanon.export.layout import file_hash
from sqlanon.export.opening import received
from sqlanon.export.received import ReceivedExport
from sqlanon.export.receiver_answers import check_export
from sqlanon.export.room_model import Certified
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import identifier, relation
from sqlanon.sql.build.render import create_table, to_sql

_SCHEMA = "main"
_BATCH = 100_000


def main() -> None:
    answer_once(_answer)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "verify":
        return {"exports": [_facts_of(path, request["key"]) for path in request["paths"]]}
    return {"tables": _filled(Path(request["room"]), request["exports"])}


def _facts_of(path: str, key: str | None) -> dict[str, Any]:
    """Returns the facts of an export, or the error that ends its verification, so that other exports are still
    verified.
    """
    return {"path": path, **result(lambda _: _read(path, key), {})}


def _read(path: str, key: str | None) -> dict[str, Any]:
    """Returns the facts of a verified export. Raises UserError for a file that is not from an export."""
    try:
        return _verified(path, key)
    except EngineError:
        raise UserError(f"{path} cannot be read as an export", hint="remove it, or export it again") from None


def _verified(path: str, key: str | None) -> dict[str, Any]:
    """Returns the name, the tables and the digest of an export whose requirements are all met.

    Raises PrivacyViolation otherwise.
    """
    with closing(open_database(":memory:")) as connection:
        engine = DuckDBEngine(connection)
        checked = check_export(engine, path, key)
        for evidence in checked.evidence:
            measured = evidence.measurement
            if measured.is_violated:
                raise PrivacyViolation(
                    f"{path} does not meet {measured.question}", hint=f"sqlanon verify '{path}' shows all figures"
                )
        export = received(engine, path)
        return {
            "path": path,
            "release": checked.release,
            "tables": [file.table for file in export.files],
            "digest": _digest(export),
        }


def _digest(export: ReceivedExport) -> str:
    """Returns a digest of the certificate and of the data files."""
    files = [file_hash(path) for path in export.data]
    return hashlib.sha256(json.dumps([export.content, files], sort_keys=True).encode()).hexdigest()


def _filled(room: Path, exports: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Writes the room in a file that only its owner may read; no file is left after an error."""
    with new_room(room):
        with closing(open_database(":memory:")) as connection:
            engine = DuckDBEngine(connection)
            attach = exp.Alias(this=exp.Placeholder(), alias=identifier(ROOM))
            engine.run(exp.Attach(this=attach), [str(room)])
            certified = [_copy(engine, export) for export in exports]
            engine.run(exp.Detach(this=identifier(ROOM)))
        room_model.write(room, certified)
    return {f"{_SCHEMA}.{export['release']}": export["tables"] for export in exports}


def _copy(engine: Engine, verified: dict[str, Any]) -> Certified:
    """Copies the tables of an export in the published order of their rows.

    Returns the certificate. Raises PrivacyViolation if the files are not those that were verified.
    """
    export = received(engine, verified["path"])
    with export.opened(engine) as reader:
        for file, stated in zip(export.files, export.certificate.all_tables, strict=True):
            table = QualifiedName((ROOM, _SCHEMA, file.table))
            rows = export.kind.read(file)
            if reader is engine:
                engine.run(create_table(table, rows))
            else:
                _through_arrow(engine, reader, table, rows)
            count = engine.rows(exp.select(f.count()).from_(relation(table.parts)))[0][0]
            if count != stated.rows:
                raise PrivacyViolation(f"{verified['path']} has a number of rows that differs from its certificate")
    if _digest(export) != verified["digest"]:
        raise PrivacyViolation(f"{verified['path']} was changed after it was verified", hint="verify it again")
    tables = tuple(QualifiedName((_SCHEMA, file.table)) for file in export.files)
    return Certified(QualifiedName((_SCHEMA, verified["release"])), tables, export.content, is_live=False)


def _through_arrow(engine: Engine, reader: Engine, table: QualifiedName, rows: exp.Query) -> None:
    """Copies rows from a format that is read on a separate connection."""
    stream = reader.connection.sql(to_sql(rows)).to_arrow_reader(_BATCH)
    engine.connection.register("exported", stream)
    try:
        engine.run(create_table(table, exp.select(exp.Star()).from_(relation("exported"))))
    finally:
        engine.connection.unregister("exported")


if __name__ == "__main__":
    main()
