"""An export to files: a folder, or a data file with its certificates beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from sqlanon.domain.identifiers import fold, listed, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError, about
from sqlanon.export.atomic import Staging, file_errors, put, recover, staging
from sqlanon.export.certificate import dictionary
from sqlanon.export.certificate_format import Certificate, FileEntry, to_json
from sqlanon.export.formats.base import ExportFile, Format, suffixes
from sqlanon.export.layout import (
    Layout,
    file_hash,
    previous_certificate,
    require_free,
    require_known_suffix,
    require_no_database,
)
from sqlanon.export.markdown import to_markdown
from sqlanon.export.verify import ReleasedTable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery


@dataclass(frozen=True)
class _StagedFiles:
    kind: Format
    layout: Layout
    staging: Staging
    replace: bool

    @property
    def paths(self) -> Sequence[Path]:
        return [self.staging.files / name for name in self.layout.tables]

    @property
    def spill(self) -> Path:
        return self.staging.spill

    def with_digests(self, files: Sequence[ExportFile], certificate: Certificate) -> Certificate:
        """Writes the dictionary, and returns the certificate with the sizes and digests of all files."""
        entries = tuple(self._described(path) for file in files for path in file.paths)
        if not self.layout.has_dictionary:
            return replace(certificate, files=entries)
        path = self.staging.files / self.layout.dictionary
        path.write_text(dictionary(certificate), encoding="utf-8", newline="")
        return replace(certificate, files=entries, dictionary=self._described(path))

    def _described(self, file: Path) -> FileEntry:
        name = file.relative_to(self.staging.files).as_posix()
        return FileEntry(name=name, bytes=file.stat().st_size, sha256=file_hash(file))

    def certify(self, certificate: Certificate, signer: str | None) -> None:
        (self.staging.files / self.layout.certificate).write_text(to_json(certificate), encoding="utf-8")
        (self.staging.files / self.layout.markdown).write_text(to_markdown(certificate, signer), encoding="utf-8")

    def put(self) -> None:
        put(self.staging.files, self.layout, replace=self.replace)


@dataclass(frozen=True)
class FileDestination:
    """Destination of files in a layout; `replace` allows an earlier export to be replaced."""

    format: str
    kind: Format
    layout: Layout
    replace: bool

    @property
    def certificate(self) -> str:
        return self.layout.path_of(self.layout.certificate)

    @property
    def partition(self) -> tuple[str, ...] | None:
        return self.layout.partition

    def former(self) -> Certificate | None:
        """Returns the earlier certificate; None if there is none, or if its files have another format, whose types
        differ.
        """
        former = previous_certificate(self.layout.folder / self.layout.certificate)
        if former is None or not former.files:
            return None
        return former if suffixes().get(Path(former.files[0].name).suffix.lower()) == self.format else None

    def path_of(self, table: int) -> str:
        return self.layout.path_of(self.layout.tables[table])

    def errors(self) -> AbstractContextManager[None]:
        return file_errors(self.layout.path)

    @contextmanager
    def staged(self, engine: Engine) -> Iterator[_StagedFiles]:
        require_no_database(engine, self.layout)
        require_known_suffix(self.layout)
        recover(self.layout.target)
        require_free(self.layout, replace=self.replace)
        with staging(self.layout) as staged:
            yield _StagedFiles(self.kind, self.layout, staged, self.replace)


# PARTITION_BY: files for each combination of values of some columns, in folders named after these values.


# The greatest number of combinations. Each is a folder, and a line of the certificate.
MOST_PARTS = 10_000


def published_partition(
    engine: Engine, tables: Sequence[ReleasedTable], partition: Sequence[str] | None
) -> tuple[str, ...] | None:
    """Returns the partition columns as they are published, because the names of the folders show their values.

    Raises UserError unless there is one table with these columns and at least one row, and also if these columns have
    more than `MOST_PARTS` combinations of values.
    """
    if partition is None:
        return None
    with about("partition"):
        if len(tables) > 1:
            raise UserError(
                f"PARTITION_BY is for a release of one table, and this one has {len(tables)}",
                hint="leave it out: each table has a file of its own",
            )
        names = {fold(name): name for name, _ in tables[0].columns}
        for name in partition:
            if fold(name) not in names:
                hint = nearest(name, list(names.values())) or f"it publishes {listed(list(names.values()))}"
                raise UserError(f"{tables[0].name} publishes no column {name}", hint=hint)
        published = tuple(names[fold(name)] for name in partition)
        if len(set(published)) < len(published):
            raise UserError("PARTITION_BY names a column twice", hint="name each once")
        values = select(*map(column, published), distinct=True, of=relation(tables[0].name))
        count = engine.rows(select(f.count(), of=subquery(values, "parts")))[0][0]
        if not count:
            raise UserError(f"{tables[0].name} has no row, so there would be no file", hint="leave PARTITION_BY out")
        if count > MOST_PARTS:
            raise UserError(
                f"{listed(partition)} have {count} combinations of values, and each would be a folder",
                hint=f"partition by columns of at most {MOST_PARTS:,} values",
            )
    return published
