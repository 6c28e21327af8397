"""Opens an export: finds its certificate, and compares the data with the certificate's digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.certificate_format import RepeatedMemberError, certificate_content
from sqlanon.export.destinations.postgres import export_in_schema
from sqlanon.export.formats.base import ExportFile, export_format, files_in, suffixes
from sqlanon.export.layout import file_hash, local_path
from sqlanon.export.received import READ, ReceivedExport, folders
from sqlanon.plugins import names

_BESIDE = ".certificate.json"
_OF_FOLDER = "certificate.json"


def received(engine: Engine, path: str, purpose: str = "a check") -> ReceivedExport:
    """Returns the export at a path: by its folder, a data file, its certificate, or the URL of a schema.

    No rows are read yet; `purpose` is the purpose of reading in messages. Raises UserError if the export cannot be
    read, and PrivacyViolation if the data differ from the certificate.
    """
    if is_database_url(path):
        return export_in_schema(path)
    export = export_at(engine, local_path(path), names("sqlanon.export.formats"))
    return replace(export, called=path, purpose=purpose)


def export_at(engine: Engine, path: Path, formats: Sequence[str]) -> ReceivedExport:
    """Opens the export in files of these formats. `path` is a folder, a data file or the certificate."""
    if (path / _OF_FOLDER).is_file():
        path /= _OF_FOLDER
    if not path.is_file():
        problem = f"{path} is a folder without {_OF_FOLDER}" if path.is_dir() else f"there is no file {path}"
        raise UserError(problem, hint="name the folder of an export, a data file, or its certificate in JSON")
    if path.suffix.lower() == ".json":
        return _with_data(path, _content(path), formats)
    format_ = suffixes().get(path.suffix.lower(), "")
    _require_format(path, format_, formats)
    for beside in (path.with_name(path.name + _BESIDE), path.with_name(_OF_FOLDER)):
        if beside.is_file():
            content = _content(beside)
            if path.name in (name for name, _ in _digests(content.get("files"))):
                return _with_data(beside, content, formats)
    return _with_certificate_inside(engine, path, format_)


def _with_certificate_inside(engine: Engine, path: Path, format_: str) -> ReceivedExport:
    """Returns the export of a data file with a certificate in it, because this certificate has no digest of the
    file.
    """
    kind = export_format(format_)
    texts = kind.certificate(engine, ExportFile(path, "", ())) if format_ in READ else kind.carried(path)
    if not texts:
        raise UserError(
            f"{path} has no certificate",
            hint=f"put {path.name}{_BESIDE} beside it, or name the folder of an export: EXPORT, "
            "released.export(folder) and sqlanon anonymize -o folder/ write one with its certificate",
        )
    if len(texts) > 1:
        raise PrivacyViolation(f"{path} has several certificates", hint="get the file from the publisher again")
    content = _content(path, texts[0])
    if "tables" in content or "partitioned_by" in content:
        raise UserError(f"{path} is one of several files", hint="keep it beside the others and their certificate.json")
    return ReceivedExport(str(path), (path,), format_, kind, content)


def _content(path: Path, text: str | None = None) -> dict[str, object]:
    """Returns the members of the certificate in a file, or in the text that a data file carries."""
    if text is None:
        text = path.read_text(encoding="utf-8", errors="replace")
    try:
        content = certificate_content(text)
    except RepeatedMemberError:
        raise PrivacyViolation(
            f"the certificate of {path} has a repeated key in a JSON object, which programs read differently",
            hint="ask the publisher for the export again",
        ) from None
    if not content:
        raise UserError(
            f"{path} is not a certificate of an export", hint="name the file of an export, or its certificate"
        )
    return content


def _digests(entries: object) -> list[tuple[str, str]]:
    """Returns the names and SHA-256 digests of files, as stated by a certificate of any version."""
    listed = entries if isinstance(entries, list) else []
    return [(str(entry.get("name")), str(entry.get("sha256"))) for entry in listed if isinstance(entry, dict)]


def _partition(content: dict[str, object]) -> tuple[str, ...] | None:
    """Returns the partition columns of an export; None if each table is one file."""
    columns = content.get("partitioned_by")
    return tuple(map(str, columns)) if isinstance(columns, list) else None


def _require_format(path: Path, format_: str, formats: Sequence[str]) -> None:
    if format_ not in formats:
        raise UserError(
            f"{path} is not a file that an estimate or a check reads", hint="export the release as parquet or csv"
        )


def _with_data(certificate: Path, content: dict[str, object], formats: Sequence[str]) -> ReceivedExport:
    """Returns the export with the certificate's data files, if they are still the certified files."""
    partition = _partition(content)
    files: list[Path] = []
    format_ = ""
    for name, digest in _digests(content.get("files")):
        data = _data_path(certificate, name, partition)
        suffix = suffixes().get(data.suffix.lower(), "")
        _require_format(data, suffix, formats)
        if set(str(data)) & set("*?["):
            # DuckDB would read all other files that match the pattern.
            raise UserError(
                f"{data} has a name that DuckDB takes for a pattern", hint="move it to a path without *, ? and ["
            )
        _require_certified(certificate, data, digest)
        files.append(data)
        format_ = format_ or suffix
    if not files:
        raise UserError(f"the certificate {certificate} names no file")
    if partition is not None:
        _require_complete(files, partition, certificate)
    for name, digest in _digests([content.get("dictionary")]):
        _require_certified(certificate, _data_path(certificate, name, None), digest)
    return ReceivedExport(str(certificate), tuple(files), format_, export_format(format_), content)


def _require_certified(certificate: Path, file: Path, digest: str) -> None:
    """Raises UserError for a missing file of the certificate, and PrivacyViolation for a file with another digest."""
    if not file.is_file():
        raise UserError(f"there is no file {file}, which the certificate {certificate} names")
    if file_hash(file) != digest:
        raise PrivacyViolation(
            f"{file} is not the file that {certificate} certifies",
            hint="use the file and the certificate of the same export",
        )


def _data_path(certificate: Path, name: str, partition: tuple[str, ...] | None) -> Path:
    """Returns the path of a data file beside the certificate, or in the folders of a partition beside it.

    Raises UserError for the name of a file in any other place.
    """
    if partition is None:
        if name != Path(name).name or name in ("", ".", ".."):
            raise UserError(f"the certificate {certificate} names a file that is not beside it")
        return certificate.with_name(name)
    parts = PurePosixPath(name).parts
    data = certificate.parent.joinpath(*parts)
    above = [data, *data.parents][: len(parts)]
    if len(parts) != len(partition) + 2 or {"..", "/"} & set(parts) or any(folder.is_symlink() for folder in above):
        raise UserError(f"the certificate {certificate} names a file that is not beside it")
    return data


def _require_complete(files: Sequence[Path], partition: tuple[str, ...], certificate: Path) -> None:
    """Raises PrivacyViolation if the folder of a table has files that the certificate does not list.

    Programs that read the folder would also read these files.
    """
    for folder in folders(files, partition):
        if set(files_in(folder)) != {file for file in files if folder in file.parents}:
            raise PrivacyViolation(
                f"{folder} has other files than {certificate} certifies",
                hint="remove the files that do not belong to the export",
            )
