"""An export where its receiver has it: the data files, and the certificate that names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.formats.base import COMMAS, CsvFields, ExportFile, Format, export_format, files_in, suffixes
from sqlanon.export.previous_export import CERTIFICATE_VERSION, RepeatedMemberError, certificate_content, file_hash

__all__ = ["Export", "export_at", "files_of", "require_known_format", "tables_of"]

# What any connection can read.
READ = ("parquet", "csv")
_BESIDE = ".certificate.json"
_OF_FOLDER = "certificate.json"


@dataclass(frozen=True)
class Export:
    """The data files, one for each table or several for one that is partitioned, their format and their certificate.

    What any connection can read `needs_reader` does not have: any other is read on one of its own, that of `kind`.
    """

    data: tuple[Path, ...]
    format: str
    stated: dict[str, Any]
    kind: Format

    @property
    def needs_reader(self) -> bool:
        return self.format not in READ


def export_at(engine: Engine, path: Path, formats: Sequence[str] = READ) -> Export:
    """The data files, in one of these formats, and their certificate.

    The path is that of a folder, of a data file or of the certificate.
    """
    if (path / _OF_FOLDER).is_file():
        path /= _OF_FOLDER
    if not path.is_file():
        problem = f"{path} is a folder without {_OF_FOLDER}" if path.is_dir() else f"there is no file {path}"
        raise UserError(problem, hint="name the folder of an export, a data file, or its certificate in JSON")
    if path.suffix.lower() == ".json":
        stated = _certificate(path, path.read_text(encoding="utf-8", errors="replace"))
        return _with_data(path, stated, formats)
    format_ = suffixes().get(path.suffix.lower(), "")
    if format_ not in formats:
        raise UserError(
            f"{path} is no file that an estimate or a check reads", hint="export the release as parquet or csv"
        )
    for beside in (path.with_name(path.name + _BESIDE), path.with_name(_OF_FOLDER)):
        if beside.is_file():
            stated = _certificate(beside, beside.read_text(encoding="utf-8", errors="replace"))
            if path.name in _names(stated):
                return _with_data(beside, stated, formats)
    kind = export_format(format_)
    texts = kind.certificate(engine, ExportFile(path, "", ())) if format_ in READ else kind.carried(path)
    if not texts:
        raise UserError(f"{path} has no certificate", hint=f"put {path.name}{_BESIDE} beside it")
    if len(texts) > 1:
        raise PrivacyViolation(f"{path} has several certificates", hint="take the file from who published it again")
    stated = _certificate(path, texts[0])
    if "tables" in stated or "partitioned_by" in stated:
        raise UserError(f"{path} is one of several files", hint="keep it beside the others and their certificate.json")
    return Export((path,), format_, stated, kind)


def require_known_format(export: Export, path: str) -> None:
    """Raises UserError for a certificate of another format than the one that this sqlanon writes and reads."""
    if export.stated.get("format_version") != CERTIFICATE_VERSION:
        raise UserError(
            f"{path}: its certificate is of another format than {CERTIFICATE_VERSION}, the one that this sqlanon reads",
            hint="read it with the version of sqlanon that the certificate names, or with a newer one",
        )


def tables_of(stated: dict[str, Any]) -> list[dict[str, Any]]:
    """What the certificate says of each table, in its order."""
    return stated.get("tables") or [{"name": stated["release"], "columns": stated["columns"]}]


def files_of(export: Export) -> list[ExportFile]:
    """The files with the names of their tables and columns, in the certificate's order."""
    tables, partition = tables_of(export.stated), _partition(export.stated)
    paths = export.data
    if partition is not None:
        paths = _folders(export.data, partition)
    return [
        ExportFile(
            path,
            str(table["name"]),
            tuple((str(c["name"]), str(c["type"])) for c in table["columns"]),
            partition,
            _csv_fields(export.stated),
        )
        for path, table in zip(paths, tables, strict=True)
    ]


def _csv_fields(stated: dict[str, Any]) -> CsvFields:
    """How fields are told apart in the data files. Raises ValueError for characters that no export has there."""
    if "csv" not in stated:
        return COMMAS
    fields = CsvFields(str(stated["csv"]["delimiter"]), str(stated["csv"]["quote"]))
    if fields.why_not:
        raise ValueError(fields.why_not[1])
    return fields


def _partition(stated: dict[str, Any]) -> tuple[str, ...] | None:
    """The columns by whose values the rows are in several files, if by any; None where each table is one file."""
    return tuple(map(str, stated["partitioned_by"])) if "partitioned_by" in stated else None


def _certificate(path: Path, text: str) -> dict[str, Any]:
    try:
        stated = certificate_content(text)
    except RepeatedMemberError:
        raise PrivacyViolation(
            f"the certificate of {path} says something twice in one object, of which programs read one or the other",
            hint="ask who published it for the export again",
        ) from None
    if not stated:
        raise UserError(f"{path} is no certificate of an export", hint="name the file of an export, or its certificate")
    return stated


def _entries(stated: dict[str, Any]) -> list[dict[str, Any]]:
    """What the certificate says of each file that it names."""
    files = stated.get("files")
    return [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []


def _names(stated: dict[str, Any]) -> list[str]:
    return [str(entry.get("name")) for entry in _entries(stated)]


def _with_data(path: Path, stated: dict[str, Any], formats: Sequence[str]) -> Export:
    """The data files that a certificate names, if they still are the ones that were certified."""
    partition = _partition(stated)
    export: list[tuple[Path, str]] = []
    for entry in _entries(stated):
        data = _data_path(path, str(entry.get("name")), partition)
        format_ = suffixes().get(data.suffix.lower())
        if format_ not in formats:
            raise UserError(
                f"{data} is no file that an estimate or a check reads", hint="export the release as parquet or csv"
            )
        if set(str(data)) & set("*?["):
            # DuckDB would read whatever other files fit the pattern.
            raise UserError(
                f"{data} has a name that DuckDB takes for a pattern", hint="move it to a path without *, ? and ["
            )
        if not data.is_file():
            raise UserError(f"there is no file {data}, which the certificate {path} names")
        if file_hash(data) != entry.get("sha256"):
            raise PrivacyViolation(f"{data} is not the file that {path} certifies", hint="take both from one export")
        export.append((data, str(format_)))
    if not export:
        raise UserError(f"the certificate {path} names no file")
    if partition is not None:
        _require_complete([data for data, _ in export], partition, path)
    _require_dictionary(path, stated.get("dictionary"))
    return Export(tuple(data for data, _ in export), export[0][1], stated, export_format(export[0][1]))


def _require_dictionary(certificate: Path, entry: Any) -> None:
    """Raises UserError where the dictionary that a certificate names is missing, PrivacyViolation for another one."""
    if isinstance(entry, dict):
        file = _data_path(certificate, str(entry.get("name")), None)
        if not file.is_file():
            raise UserError(f"there is no file {file}, which the certificate {certificate} names")
        if file_hash(file) != entry.get("sha256"):
            raise PrivacyViolation(
                f"{file} is not the file that {certificate} certifies", hint="take both from one export"
            )


def _data_path(certificate: Path, name: str, partition: tuple[str, ...] | None) -> Path:
    """A data file beside the certificate, or in a folder for each of so many columns in a folder beside it.

    Raises UserError for a name of another place.
    """
    if partition is None:
        if name != Path(name).name or name in ("", ".", ".."):
            raise UserError(f"the certificate {certificate} names a file that is not beside it")
        return certificate.with_name(name)
    parts = PurePosixPath(name).parts
    data = certificate.parent.joinpath(*parts)
    folders = [data, *data.parents][: len(parts)]
    if len(parts) != len(partition) + 2 or {"..", "/"} & set(parts) or any(folder.is_symlink() for folder in folders):
        raise UserError(f"the certificate {certificate} names a file that is not beside it")
    return data


def _folders(files: Sequence[Path], partition: tuple[str, ...]) -> tuple[Path, ...]:
    """The folder of each table, in the order of its files."""
    return tuple(dict.fromkeys(file.parents[len(partition)] for file in files))


def _require_complete(files: Sequence[Path], partition: tuple[str, ...], certificate: Path) -> None:
    """Raises PrivacyViolation where the folder of a table has other files than those that are certified.

    Whoever reads the folder reads these as well.
    """
    for folder in _folders(files, partition):
        if set(files_in(folder)) != {file for file in files if folder in file.parents}:
            raise PrivacyViolation(
                f"{folder} has other files than {certificate} certifies", hint="remove what is not of it"
            )
