"""The statements about files that leave, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName
from sqlanon.syntax._placed import Placed

__all__ = ["CheckExport", "ExportRelease"]


@dataclass(frozen=True)
class ExportRelease(Placed):
    """EXPORT name TO 'path' [(FORMAT format [, DELIMITER 'character'] [, QUOTE 'character']
    [, PARTITION_BY (column, ...)] [, TEXT true] [, DICTIONARY true] [, REPLACE true] [, REPORT true]
    [, SIGN KEY 'variable'])].

    Without a format it is that of the path's suffix, and Parquet where the path names a folder. `sign_key` names the
    environment variable with the private key that signs the certificate. Of the columns `partition` each combination of
    values has files of its own. With a `dictionary`, a file says what each column is. With `text` quasi-identifiers are
    text, whatever their levels. `delimiter` and `quote` are those of a CSV file; None for the comma and double quote.
    """

    name: QualifiedName
    path: str
    format: str | None = None
    replace: bool = False
    report: bool = False
    sign_key: str | None = None
    partition: tuple[str, ...] = ()
    dictionary: bool = False
    text: bool = False
    delimiter: str | None = None
    quote: str | None = None


@dataclass(frozen=True)
class CheckExport(Placed):
    """CHECK 'path' [SIGNED BY 'file']: an export, by its folder, a data file or its certificate.

    `key` is a file with the public key of who has to have signed it.
    """

    path: str
    key: str | None = None
