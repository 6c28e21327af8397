"""EXPORT: a snapshot and its certificate as files, or as tables of a database, which contain nothing else.

The snapshot is checked again, written to a temporary place, read back and checked there, and only then put in its
place; after a failure at any point, the earlier content is still there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.catalog import exports, releases
from sqlanon.catalog.snapshot import types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import KnownRelease, Measurement, Reading, Release
from sqlanon.domain.requests import ExportRequest
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PrivacyViolation, SqlanonError, UserError, about
from sqlanon.export.certificate import Evidence, Proof, certificate
from sqlanon.export.certificate_format import Certificate, to_json
from sqlanon.export.destinations.base import Staged, csv_fields, destination_of, require_format
from sqlanon.export.destinations.files import published_partition
from sqlanon.export.formats.base import ExportFile, Format, skipped_formats
from sqlanon.export.layout import format_of
from sqlanon.export.signature import signed, signing_key
from sqlanon.export.verify import (
    Expected,
    ReleasedTable,
    Snapshot,
    checked_snapshot,
    labels_above,
    released_triples,
    reopened,
    require_together,
    verify_file,
)
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.registry import require_kept
from sqlanon.release.existing.composition import others_of, warning
from sqlanon.release.existing.joined import of_recorded
from sqlanon.release.existing.objects import fingerprint_of, has_fingerprint
from sqlanon.sources.column_types import is_list
from sqlanon.sources.joins import bind_joined, of_join
from sqlanon.sources.preconditions import is_writable, timestamps_in_utc
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True)
class Exported:
    """A data file of an export: `path`, and `certificate`, the path of the JSON certificate, with forward slashes."""

    release: str
    format: str
    path: str
    rows: int
    certificate: str
    warning: str | None


def export_release(
    engine: Engine,
    release: Release,
    request: ExportRequest,
    appearing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> list[Exported]:
    """Writes a snapshot, with a file for each table, and its certificate, and puts them in place within `appearing`.

    Raises UserError for a live view, an unknown format, a target that exists, a path that cannot be written, and a
    transaction that the user began, because the files would outlast its rollback. Raises PrivacyViolation if the
    snapshot no longer meets its requirements or has changed since it was made.
    """
    require_format(request)
    with about("release"):
        _require_frozen(release)
    with about("sign_key"):
        key = None if request.sign_key is None else signing_key(request.sign_key)
    _require_settled(engine)
    if engine.releases_are_files:
        _require_copyable(request)
    destination = destination_of(request, release, as_files=engine.releases_are_files)
    with about("path"), destination.errors():
        others, former = others_of(engine, release), destination.former()
        with destination.staged(engine) as staged:
            if engine.releases_are_files:
                tables = _copy(engine, release, staged, others, key)
            else:
                tables = _write(engine, release, request, destination.partition, staged, others, key)
            with _remembered(engine, release, destination.format), appearing():
                staged.put()
    changed = changed_types(former, [written.file for written in tables], fixed=request.text)
    warnings = (warning(others), *changed, None if is_writable(engine) else _NOT_KEPT, *skipped_formats())
    joined_warnings = "; ".join(filter(None, warnings)) or None
    return [
        Exported(
            str(release.name),
            destination.format,
            destination.path_of(at),
            each.count,
            destination.certificate,
            joined_warnings,
        )
        for at, each in enumerate(tables)
    ]


_NOT_KEPT = "the database is open for reading only, so nothing remembers this export: later releases do not warn of it"


@contextmanager
def _remembered(engine: Engine, release: Release, format_: str) -> Iterator[None]:
    """Records the export before its files are in place.

    If the process is killed in between, a later warning about this export is needless; otherwise a warning would be
    missing.
    """
    if not is_writable(engine):
        yield
        return
    exported_at = exports.record(engine, release, format_)
    try:
        yield
    except SqlanonError:
        # Nothing was put in place. After an error of the system or the other database this would be uncertain.
        exports.forget(engine, release, exported_at)
        raise


@dataclass(frozen=True)
class _Written:
    """A table on its way into a file: its rows in the file's types, their fingerprint and their number."""

    table: ReleasedTable
    file: ExportFile
    rows: exp.Select
    fingerprint: str
    count: int


def _write(
    engine: Engine,
    release: Release,
    request: ExportRequest,
    partition: tuple[str, ...] | None,
    staged: Staged,
    others: Sequence[KnownRelease],
    key: Ed25519PrivateKey | None,
) -> list[_Written]:
    """Writes the data files and both certificates, verified and, if `key` is given, signed; returns the tables."""
    kind = staged.kind
    with engine.transaction():
        snapshot = checked_snapshot(engine, release)
        types = [type_ for table in snapshot.tables for _, type_ in table.columns]
        with timestamps_in_utc(engine, types):
            partition = published_partition(engine, snapshot.tables, partition)
            tables = [
                _as_asked(engine, snapshot, request, _prepared(engine, kind, table, path, partition))
                for table, path in zip(snapshot.tables, staged.paths, strict=True)
            ]
            _require_as_made(release, tables)
            _require_structure(engine, snapshot, tables, releases.measurements(engine, release))
    stated = certificate(_evidence(engine, snapshot, tables, others))
    text = to_json(stated)
    for written in tables:
        kind.require(written.file)
        with timestamps_in_utc(engine, types):
            kind.write(engine, written.file, written.rows, text)
        expected = Expected(
            written.fingerprint, text, snapshot.answerable, snapshot.achieved, snapshot.frozen, written.table.fragment
        )
        verify_file(engine, kind, written.file, expected, staged.spill)
    _certify(stated, tables, staged, key)
    return tables


def _as_asked(engine: Engine, snapshot: Snapshot, request: ExportRequest, written: _Written) -> _Written:
    """Returns the table with the types and the CSV separators that the statement asks for."""
    table, file = written.table, replace(written.file, csv=csv_fields(request))
    if not request.text:
        return replace(written, file=file)
    columns, rows = as_text(file, written.rows, snapshot.release, snapshot.policy, table.fragment)
    fingerprint = fingerprint_of(engine, rows)
    return replace(written, file=replace(file, columns=columns), rows=rows, fingerprint=fingerprint)


def _copy(
    engine: Engine, release: Release, staged: Staged, others: Sequence[KnownRelease], key: Ed25519PrivateKey | None
) -> list[_Written]:
    """Copies the verified files of a release, which have no certificates in them; writes both certificates beside them.

    Returns the tables.
    """
    with engine.transaction():
        snapshot = checked_snapshot(engine, release)
        _copy_files(engine, release, staged.paths)
    files = [
        ExportFile(path, table.name.name, table.columns, ())
        for table, path in zip(snapshot.tables, staged.paths, strict=True)
    ]
    for table, file in zip(snapshot.tables, files, strict=True):
        expected = Expected(None, None, snapshot.answerable, snapshot.achieved, snapshot.frozen, table.fragment)
        verify_file(engine, staged.kind, file, expected, staged.spill)
    with reopened(engine, staged.kind, files, staged.spill) as reader:
        tables = []
        for table, file in zip(snapshot.tables, files, strict=True):
            rows = select(exp.Star(), of=subquery(staged.kind.read(file), "file"))
            count = int(reader.rows(select(f.count(), of=subquery(rows, "read")))[0][0])
            tables.append(_Written(table, file, rows, "", count))
        _require_structure(reader, snapshot, tables, releases.measurements(engine, release))
    _certify(certificate(_evidence(engine, snapshot, tables, others)), tables, staged, key)
    return tables


def _certify(stated: Certificate, tables: Sequence[_Written], staged: Staged, key: Ed25519PrivateKey | None) -> None:
    """Writes both certificates, signed with the key if there is one."""
    stated = staged.with_digests([written.file for written in tables], stated)
    signer = None
    if key is not None:
        stated, signer = signed(stated, key)
    staged.certify(stated, signer)


def _require_structure(
    engine: Engine, snapshot: Snapshot, tables: Sequence[_Written], recorded: Sequence[Measurement]
) -> None:
    """Raises an error unless the tables, in the files' types, keep the method's promises, which cannot be seen in a
    single file.
    """
    release = snapshot.release
    published = PublishedTables(
        engine=engine,
        policy=snapshot.policy,
        tables={written.table.fragment or "": subquery(_as_read(written, release), "file") for written in tables},
        values=snapshot.answerable.values,
        suppressed=release.suppressed_rows,
        recorded=recorded,
        is_own=True,
    )
    require_kept(release.method, release.method_arguments, published, release.name, "exported")
    if snapshot.answerable.classes.people is not None:
        files = {written.table.fragment: (written.rows, written.file.columns) for written in tables}
        require_together(engine, snapshot.answerable, snapshot.achieved, files)


def _require_as_made(release: Release, tables: Sequence[_Written]) -> None:
    """Raises PrivacyViolation unless the rows have the fingerprint that was taken when they were made.

    Rows that the format casts have another fingerprint and are skipped.
    """
    for made, written in zip(str(release.content_fingerprint).split(), tables, strict=True):
        if written.file.columns == written.table.columns and written.fingerprint != made:
            raise PrivacyViolation(
                f"the rows of {written.table.name} were changed after {release.name} was made; nothing was exported",
                hint="create it again with CREATE OR REPLACE ANONYMIZED TABLE",
            )


def _as_read(written: _Written, release: Release) -> exp.Select:
    """Returns the rows in the file's types; numbers of rows and of counterfeits are BIGINT, even if the format has
    another type.
    """
    numbers = (Reading.COUNT, Reading.COUNTERFEITS)
    counts = {a.name for a in release.attributes_of(written.table.fragment) if a.reading in numbers}
    if not counts:
        return written.rows
    outputs: list[exp.Expr] = [column(name) for name, _ in written.table.columns if name not in counts]
    outputs += [alias(exp.cast(column(name), "BIGINT"), name) for name in sorted(counts)]
    return select(*outputs, of=subquery(written.rows, "read"))


def _prepared(
    engine: Engine, kind: Format, table: ReleasedTable, path: Path, partition: tuple[str, ...] | None
) -> _Written:
    columns = tuple((name, kind.published_type(type_)) for name, type_ in table.columns)
    rows = _rows(table, columns)
    count = engine.rows(select(f.count(), of=relation(table.name)))[0][0]
    file = ExportFile(path, table.name.name, columns, partition)
    return _Written(table, file, rows, fingerprint_of(engine, rows), int(count))


def _rows(table: ReleasedTable, columns: tuple[tuple[str, str], ...]) -> exp.Select:
    """Builds the query of a table's columns by name; a column is cast if the format has another type."""
    outputs: list[exp.Expr] = []
    for (name, kind), (_, published) in zip(table.columns, columns, strict=True):
        as_is: exp.Expr = column(name)
        outputs.append(alias(as_is if kind == published else cast(as_is, published), name))
    return select(*outputs, of=relation(table.name))


def _evidence(
    engine: Engine, snapshot: Snapshot, tables: Sequence[_Written], others: Sequence[KnownRelease]
) -> Evidence:
    several = snapshot.tables[0].fragment is not None
    known = released_triples(engine, snapshot)
    # First the measurements of the requirements, then the measurements of the structure.
    requirement_count = len(snapshot.answerable.requirements)
    of_the_join = bind_joined(of_join(snapshot.policy))
    # The measurements of a join are the last.
    structure_end = len(snapshot.achieved) - len(of_the_join)
    return Evidence(
        release=snapshot.release,
        policy=snapshot.policy,
        hierarchies=snapshot.hierarchies,
        proofs=[
            Proof(requirement, achieved, snapshot.answerable.hidden.get(index), known.get(index))
            for index, (requirement, achieved) in enumerate(
                zip(snapshot.answerable.requirements, snapshot.achieved[:requirement_count], strict=True)
            )
        ],
        columns=tables[0].file.columns if not several else (),
        engine_version=engine.version(),
        exported_at=datetime.now(UTC).replace(tzinfo=None),
        tables=[(written.file.table, written.count, written.file.columns) for written in tables] if several else (),
        types=types_of(snapshot.release),
        structure=snapshot.achieved[requirement_count:structure_end],
        joins=list(zip(of_the_join, snapshot.achieved[structure_end:], strict=True)),
        joined=of_recorded(engine, snapshot.release) if of_the_join else None,
        others=others,
        partition=tables[0].file.partition,
        csv=tables[0].file.csv,
        above=labels_above(snapshot),
    )


def _require_frozen(release: Release) -> None:
    """Raises UserError for a live view."""
    if release.kind != "table":
        raise UserError(
            f"{release.name} is a live view: it changes with its source and is not frozen",
            hint=f"CREATE ANONYMIZED TABLE ... AS POLICY {release.policy} first, and export that",
        )


def _require_settled(engine: Engine) -> None:
    """Raises UserError inside a transaction that the user began."""
    if engine.in_transaction():
        raise UserError(
            "EXPORT does not run inside a transaction: its files would stay when the transaction is rolled back",
            hint="COMMIT first",
        )


def _require_copyable(request: ExportRequest) -> None:
    """Raises UserError for options that an export of unchanged files does not have."""
    format_ = request.format or format_of(request.path)
    if format_ != "parquet":
        raise UserError(
            f"a release on Spark can only be exported as Parquet files, not as {format_}",
            hint="export it as parquet, and convert these files: COPY (FROM 'out/*/*.parquet') TO 'out.csv'",
            part=("format",),
        )
    if request.report:
        raise UserError(
            "the report of a release reads its rows in DuckDB, and these are on Spark",
            hint="leave REPORT out",
        )
    if request.partition:
        raise UserError("the files of a release on Spark are copied as they are", hint="leave PARTITION_BY out")
    if request.text:
        raise UserError("the files of a release on Spark are copied as they are", hint="leave TEXT out")


def _copy_files(engine: Engine, release: Release, folders: Sequence[Path]) -> None:
    """Copies the files of a release, which was just checked, to new folders, one for each table.

    Raises PrivacyViolation if the release's rows have changed after the copy, because the copied rows are then unknown.
    """
    names: list[list[str]] = []
    for made, folder in zip(release.published, folders, strict=True):
        folder.mkdir()
        names.append(engine.copy_files(made.name, folder, "part-{:05}.parquet".format))
    published = [made.name for made in release.published]
    if not all(names) or not has_fingerprint(engine, published, release.content_fingerprint):
        raise PrivacyViolation(
            f"{release.name} no longer has the rows that were checked when it was made; nothing was exported",
            hint="create it again",
        )


# EXPORT ... (TEXT true): quasi-identifiers as text at all levels, so that the types of files stay the same.

# Ends of ranges, which have the source's type at every level.
_ENDS = (Reading.LOWER_BOUND, Reading.UPPER_BOUND)
_TEXT, _TEXTS = "VARCHAR", "VARCHAR[]"


def as_text(
    file: ExportFile, rows: exp.Select, release: Release, policy: Policy, fragment: str | None
) -> tuple[tuple[Column, ...], exp.Select]:
    """Returns a file's columns and rows with every quasi-identifier as text, and with lists as lists of texts."""
    quasi = {fold(a.name) for a in policy.all_attributes if a.role is Role.QUASI_IDENTIFIER}
    named = {
        a.name for a in release.attributes_of(fragment) if fold(a.source or a.name) in quasi and a.reading not in _ENDS
    }
    columns = tuple(
        (name, (_TEXTS if is_list(kind) else _TEXT) if name in named else kind) for name, kind in file.columns
    )
    outputs = [
        alias(column(name) if kind == former else cast(column(name), kind), name)
        for (name, kind), (_, former) in zip(columns, file.columns, strict=True)
    ]
    return columns, select(*outputs, of=subquery(rows, "as_released"))


def changed_types(former: Certificate | None, files: Sequence[ExportFile], *, fixed: bool) -> Iterator[str]:
    """Yields a warning that names the columns whose types differ from the replaced export.

    `fixed` is true if the statement asks for TEXT.
    """
    tables = former.all_tables if former else ()
    types = {(table.name, column.name): column.type for table in tables for column in table.columns}
    changed = [
        f"{name} is {kind} and was {types[file.table, name]}"
        for file in files
        for name, kind in file.columns
        if types.get((file.table, name), kind) != kind
    ]
    if changed:
        advice = "" if fixed else "; EXPORT ... (TEXT true) writes quasi-identifiers as text each time"
        yield f"columns have other types than in the export that this one replaces: {', '.join(changed)}{advice}"
