"""EXPORT: a snapshot and its certificate as files that hold nothing else.

The snapshot is checked again, written aside, read back and checked there, and only then
renamed into place; a failure at any point leaves what was there before.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.catalog.snapshot import types_of
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.export._swap import recover
from sqlanon.export.certificate import Evidence, Proof, certificate, to_json, with_files
from sqlanon.export.formats.base import ExportFile, Format, export_format
from sqlanon.export.layout import Layout, layout_of
from sqlanon.export.markdown import to_markdown
from sqlanon.export.place import Staging, file_errors, put, staging
from sqlanon.export.snapshot import Snapshot, checked_snapshot
from sqlanon.export.verify import Expected, verify_file
from sqlanon.pipeline.content import fingerprint_of
from sqlanon.sqlgen.names import alias, column, relation
from sqlanon.syntax.statements import ExportRelease

__all__ = ["Exported", "export_release"]


@dataclass(frozen=True)
class Exported:
    """What an export wrote: `path` is the data file and `certificate` its certificate in JSON, with forward slashes."""

    release: str
    format: str
    path: str
    rows: int
    certificate: str


def export_release(engine: Engine, release: Release, statement: ExportRelease) -> Exported:
    """Writes a snapshot and its certificate to files.

    Raises UserError for a live view, an unknown format, a target that exists, a path that
    cannot be written, and inside a transaction that the user began: the files would
    outlast its rollback. Raises PrivacyViolation if the snapshot no longer meets its
    requirements or is not what was checked when it was made.
    """
    kind = export_format(statement.format)
    _require_frozen(release)
    _require_settled(engine)
    with file_errors(statement.path):
        layout = layout_of(statement.path, statement.format, release.name.name)
        recover(layout.target)
        layout.require_free(replace=statement.replace)
        with staging(layout) as place:
            rows = _write(engine, release, kind, layout, place)
            put(place.files, layout, replace=statement.replace)
    return Exported(
        str(release.name), statement.format, layout.shown(layout.data), rows, layout.shown(layout.certificate)
    )


def _require_frozen(release: Release) -> None:
    if release.kind != "table":
        raise UserError(
            f"{release.name} is a live view: it changes with its source and is not frozen",
            hint=f"CREATE ANONYMIZED TABLE ... AS POLICY {release.policy} first, and export that",
        )


def _require_settled(engine: Engine) -> None:
    if engine.in_transaction():
        raise UserError(
            "EXPORT does not run inside a transaction: its files would stay when the transaction is rolled back",
            hint="COMMIT first",
        )


def _write(engine: Engine, release: Release, kind: Format, layout: Layout, place: Staging) -> int:
    """The data file, verified, and both certificates; the number of rows."""
    with engine.transaction():
        snapshot = checked_snapshot(engine, release)
        columns = tuple((name, kind.published_type(type_)) for name, type_ in snapshot.columns)
        rows = _rows(snapshot, columns)
        expected_rows = fingerprint_of(engine, rows)
    file = ExportFile(place.files / layout.data, release.name.name, columns)
    kind.require(file)
    stated = certificate(_evidence(engine, snapshot, columns))
    text = to_json(stated)
    kind.write(engine, file, rows, text)
    expected = Expected(expected_rows, text, snapshot.shown, snapshot.achieved, snapshot.frozen)
    verify_file(engine, kind, file, expected, place.spill)
    stated = with_files(stated, [_described(file.path)])
    (place.files / layout.certificate).write_text(to_json(stated), encoding="utf-8")
    (place.files / layout.markdown).write_text(to_markdown(stated), encoding="utf-8")
    return release.released_rows


def _rows(snapshot: Snapshot, columns: tuple[tuple[str, str], ...]) -> exp.Select:
    """The snapshot's columns by name, cast where the format holds another type."""
    outputs: list[exp.Expr] = []
    for (name, held), (_, published) in zip(snapshot.columns, columns, strict=True):
        as_is: exp.Expr = column(name)
        cast = exp.Cast(this=as_is, to=exp.DataType.build(published, dialect="duckdb"))
        outputs.append(alias(as_is if held == published else cast, name))
    return exp.select(*outputs).from_(relation(snapshot.release.name))


def _evidence(engine: Engine, snapshot: Snapshot, columns: tuple[tuple[str, str], ...]) -> Evidence:
    return Evidence(
        release=snapshot.release,
        policy=snapshot.policy,
        hierarchies=snapshot.hierarchies,
        proofs=[
            Proof(requirement, achieved, snapshot.shown.hidden.get(place))
            for place, (requirement, achieved) in enumerate(
                zip(snapshot.shown.requirements, snapshot.achieved, strict=True)
            )
        ],
        columns=columns,
        engine_version=engine.version(),
        exported_at=datetime.now(UTC).replace(tzinfo=None),
        types=types_of(snapshot.release),
    )


def _described(file: Path) -> dict[str, Any]:
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {"name": file.name, "bytes": file.stat().st_size, "sha256": digest}
