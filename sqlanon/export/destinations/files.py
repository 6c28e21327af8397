"""An export to files: a folder, or a data file with its certificates beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.export.atomic import Staging, file_errors, put, staging
from sqlanon.export.certificate import to_json
from sqlanon.export.dictionary import dictionary
from sqlanon.export.exchange import recover
from sqlanon.export.formats.base import ExportFile, Format, suffixes
from sqlanon.export.layout import Layout, require_known_suffix
from sqlanon.export.markdown import to_markdown
from sqlanon.export.previous_export import file_hash, previous_certificate
from sqlanon.export.target import require_free, require_no_database

__all__ = ["FileDestination"]


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

    def contents(self, files: Sequence[ExportFile], stated: dict[str, Any]) -> dict[str, Any]:
        """The files with their sizes and hashes, and the dictionary, which is written here, with its own."""
        contents: dict[str, Any] = {"files": [self._described(path) for file in files for path in file.paths]}
        if self.layout.has_dictionary:
            path = self.staging.files / self.layout.dictionary
            path.write_text(dictionary(stated), encoding="utf-8", newline="")
            contents["dictionary"] = self._described(path)
        return contents

    def _described(self, file: Path) -> dict[str, Any]:
        name = file.relative_to(self.staging.files).as_posix()
        return {"name": name, "bytes": file.stat().st_size, "sha256": file_hash(file)}

    def certify(self, stated: dict[str, Any], signer: str | None) -> None:
        (self.staging.files / self.layout.certificate).write_text(to_json(stated), encoding="utf-8")
        (self.staging.files / self.layout.markdown).write_text(to_markdown(stated, signer), encoding="utf-8")

    def put(self) -> None:
        put(self.staging.files, self.layout, replace=self.replace)


@dataclass(frozen=True)
class FileDestination:
    """The files of a layout; with `replace` those of an earlier export there are replaced."""

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

    def former(self) -> dict[str, Any]:
        """Empty, too, where its files are of another format, whose types are others."""
        stated = previous_certificate(self.layout.folder / self.layout.certificate)
        with suppress(LookupError, TypeError):
            if suffixes().get(Path(str(stated["files"][0]["name"])).suffix.lower()) == self.format:
                return stated
        return {}

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
