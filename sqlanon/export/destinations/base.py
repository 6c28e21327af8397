"""Where an export goes: files of a folder, or tables of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlanon.engines.base import Engine
from sqlanon.export.certificate_format import Certificate
from sqlanon.export.formats.base import ExportFile, Format


class Staged(Protocol):
    """An export that nobody sees yet, and that is gone where it is not put in its place.

    `kind` writes and reads its data files, whose paths are `paths`, one for each table; a table of a database has its
    name for a path. `spill` is a folder for what does not fit into memory while they are read.
    """

    @property
    def kind(self) -> Format: ...

    @property
    def paths(self) -> Sequence[Path]: ...

    @property
    def spill(self) -> Path: ...

    def with_digests(self, files: Sequence[ExportFile], certificate: Certificate) -> Certificate:
        """The certificate with the digests of the data, from which anyone can tell them from other data."""
        ...

    def certify(self, certificate: Certificate, signer: str | None) -> None:
        """Writes the certificate, as a program reads it and as people do; `signer` is who signed it."""
        ...

    def put(self) -> None:
        """Puts the export in its place, in one step, and takes away the earlier one there."""
        ...


class Destination(Protocol):
    """The place of an export: its format, where its certificate will be, and the columns that it is partitioned by."""

    @property
    def format(self) -> str: ...

    @property
    def certificate(self) -> str: ...

    @property
    def partition(self) -> tuple[str, ...] | None: ...

    def former(self) -> Certificate | None:
        """The certificate of the export that is there now; None where there is none of the same format."""
        ...

    def path_of(self, table: int) -> str:
        """The path of a table's data by its number, as the user would write it."""
        ...

    def errors(self) -> AbstractContextManager[None]:
        """Says what went wrong in this place: UserError where it is the user's fault, EngineError otherwise."""
        ...

    def staged(self, engine: Engine) -> AbstractContextManager[Staged]:
        """An export that is written aside.

        Raises UserError where something stands there that is no earlier export, or one that is not to be replaced.
        """
        ...
