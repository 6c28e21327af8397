"""Chooses the paths of an export's files.

The path of EXPORT names a folder, and the export is its whole content: the data file, named after the release, with
`certificate.json` and `certificate.md`. A path with a suffix of the format (`x.parquet`) names the data file, and the
certificates are beside it as `x.parquet.certificate.json` and `x.parquet.certificate.md`. The dictionary is
`dictionary.csv`, or `x.parquet.dictionary.csv`. A partitioned release has a folder in place of the data file.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import ENAMETOOLONG
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DUCKDB_LOGS, SQLITE_LOGS, logs_beside
from sqlanon.engines.postgres_url import require_no_url
from sqlanon.errors import SqlanonError, UserError, about, not_encodable
from sqlanon.export.certificate_format import Certificate, RepeatedMemberError, certificate_content, certificate_of
from sqlanon.export.formats.base import export_format, suffixes
from sqlanon.export.markdown import MARKDOWN_TITLE

# Paths as users write them.


_SHOWN_PATHS = 60


def local_path(path: str) -> Path:
    """Expands ~ in a path.

    Raises UserError for an unknown user after ~, for a URL, and for a name that is invalid in the file system.
    """
    with about("path"):
        require_no_url(path, hint="export to a folder, then copy its files there")
    try:
        local = Path(path).expanduser()
    except RuntimeError:
        user = path.partition("/")[0]
        hint = f"write the whole path, or './{path}' for a folder that is called so"
        raise UserError(f"{user} is not a user's home directory on this machine", hint=hint, part=("path",)) from None
    try:
        os.fsencode(local)
    except UnicodeEncodeError as error:
        # Half of a surrogate pair is in no name in any encoding.
        with about("path"):
            raise not_encodable(error) from None
    # A null character is left to the caller, who reports it.
    with suppress(ValueError):
        try:
            os.lstat(local)
        except OSError as error:
            if error.errno == ENAMETOOLONG:
                name = f"{path[:_SHOWN_PATHS]}..."
                raise UserError(
                    f"{name} is too long a name for a file", hint="write a shorter path", part=("path",)
                ) from None
    return local


# The number in the name of a folder, such as release.2026, is not a suffix.
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}")
_DEFAULT = "parquet"
_LONGEST_NAME = 150  # bytes: file systems allow 255


@dataclass(frozen=True)
class Layout:
    """`path` is the path as the user wrote it, and `target` is the folder or the data file that it means.

    `data`, `certificate`, `markdown` and `dictionary` are the files' names. `others` has the names of the further data
    files of a release of several tables, which needs a folder. If there is a `partition`, `data` is the name of a
    folder with several files; `partition` has the columns whose values name the files, and is empty if no values do.
    """

    path: str
    target: Path
    is_folder: bool
    data: str
    certificate: str = "certificate.json"
    markdown: str = "certificate.md"
    dictionary: str = "dictionary.csv"
    others: tuple[str, ...] = ()
    partition: tuple[str, ...] | None = None
    has_dictionary: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return *self.tables, *self.beside

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the files that describe the data files."""
        return self.certificate, self.markdown, *((self.dictionary,) if self.has_dictionary else ())

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the data files, one for each table."""
        return self.data, *self.others

    @property
    def folder(self) -> Path:
        """The folder with the files."""
        return self.target if self.is_folder else self.target.parent

    def path_of(self, name: str) -> str:
        """Returns the path of one of the files as the user would write it, with forward slashes."""
        path = Path(self.path)
        return (path / name if self.is_folder else path.with_name(name)).as_posix()


def format_of(path: str) -> str:
    """Returns the format of the files that a path names by its suffix; it is parquet for any other path.

    Raises UserError for a path that a file cannot have.
    """
    return suffixes().get(Path(path).suffix.lower(), _DEFAULT) if _names_file(path) else _DEFAULT


def _names_file(path: str) -> bool:
    """Whether a path may name a file: it does not end with a slash, and is not an existing folder."""
    return not path.endswith(("/", os.sep)) and not local_path(path).is_dir()


def layout_of(
    path: str,
    format_: str,
    table: str,
    *others: str,
    partition: tuple[str, ...] | None = None,
    has_dictionary: bool = False,
) -> Layout:
    """Returns the layout of an export of one or several tables.

    Raises UserError for an invalid path, a path with the suffix of another format, and a path of one file for several
    tables.
    """
    target = _target(path)
    as_file = suffixes().get(target.suffix.lower())
    if as_file is None or not _names_file(path):
        suffix = export_format(format_).SUFFIXES[0] if partition is None else ""
        names = [name + suffix for name in _file_names((table, *others))]
        further = tuple(names[1:])
        return Layout(path, target, True, names[0], others=further, partition=partition, has_dictionary=has_dictionary)
    if as_file != format_:
        raise UserError(
            f"{path} names a {as_file} file, but the format is {format_}",
            hint=f"write (FORMAT {as_file}), another suffix, or a folder such as 'out/'",
        )
    if others:
        raise UserError(
            f"{path} names one file, and the release has {len(others) + 1} tables", hint="name a folder, such as 'out/'"
        )
    if partition is not None:
        raise UserError(f"{path} names one file, and the export has several", hint="name a folder, such as 'out/'")
    return Layout(path, target, False, target.name, *names_beside(target.name), has_dictionary=has_dictionary)


def names_beside(data: str) -> tuple[str, str, str]:
    """Returns the names that follow from a data file: the certificates for programs and for people, and the
    dictionary.
    """
    return f"{data}.certificate.json", f"{data}.certificate.md", f"{data}.dictionary.csv"


def names_of_export(data: Path) -> list[str]:
    """Returns the names of a data file, its certificates, and its dictionary if it has one."""
    *certificates, dictionary = names_beside(data.name)
    return [data.name, *certificates, *([dictionary] if data.with_name(dictionary).exists() else [])]


def _target(path: str) -> Path:
    """Returns the folder or file of an export's path. Raises UserError for an invalid path."""
    if not path.strip() or "\0" in path:
        raise UserError("the path of an export names a folder or a file", hint="write TO 'out/'")
    target = local_path(path)
    if target.is_symlink():
        raise UserError(f"{path} is a symbolic link", hint="write the path that it leads to")
    meant = Path(os.path.realpath(target))
    if not meant.name:
        raise UserError(f"{path} is the root of the file system, and no folder of an export", hint="write TO 'out/'")
    return meant


def report_path(path: str) -> Path:
    """Returns the path of the report beside an export, because the folder of the export may be given away.

    Raises UserError for an invalid path.
    """
    target = _target(path)
    return target.with_name(f"{target.name}.report.html")


def report_text(path: str) -> str:
    """Returns the path of the report as the user would write it, with forward slashes. Raises the errors of
    `report_path`.
    """
    report, written = report_path(path), Path(path)
    # A path such as '.' does not show the folder's name.
    is_named = report.name == f"{written.name}.report.html"
    return (written.with_name(report.name) if is_named else report).as_posix()


def require_known_suffix(layout: Layout) -> None:
    """Raises UserError for a path that looks like a file of another format, and would therefore become the name of a
    folder.
    """
    suffix = layout.target.suffix
    if layout.is_folder and _SUFFIX.fullmatch(suffix) and _names_file(layout.path):
        raise UserError(
            f"{layout.path} looks like a file, and no export has the suffix {suffix}",
            hint=f"write one of {', '.join(suffixes())}, or name a folder by a slash at its end: '{layout.path}/'",
        )


def _file_names(tables: Sequence[str]) -> list[str]:
    """Returns a file name for each table; equal names, whatever their case, get a number."""
    names: list[str] = []
    for table in tables:
        plain = name = _file_name(table)
        number = 2
        while name.casefold() in (other.casefold() for other in names):
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names


def _file_name(table: str) -> str:
    """Returns a table's name in letters that all file systems accept; the certificate states the exact name."""
    plain = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in table)
    return plain.encode()[:_LONGEST_NAME].decode(errors="ignore") or "release"


# Distinguishes an earlier export from other people's files.
#
# A data file belongs to an export if a certificate says so: the certificate beside it, by the file's hash, or the
# certificate in the file. A file that was changed since then belongs to its owner.


# The prefix of folders in which exports are written; killed exports leave such folders.
UNFINISHED = ".sqlanon-"

# Folders in which some systems show the files that this process has open.
_OPEN = ("/proc/self/fd", "/dev/fd")


def file_hash(file: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def is_open(path: Path) -> bool:
    """Whether this process has the file open, under any name; false if the system does not show this.

    The file itself is not opened, because closing it would release the locks that a database holds on it.
    """
    with suppress(OSError):
        file_status = os.stat(path)
        for folder in filter(os.path.isdir, _OPEN):
            return any(os.path.samestat(file_status, status) for status in _described(folder))
    return False


def _described(folder: str) -> Iterator[os.stat_result]:
    for name in os.listdir(folder):
        # The descriptor that read the folder itself is closed by now.
        with suppress(OSError, ValueError):
            yield os.fstat(int(name))


def why_not_data(file: Path, certificate: Path) -> str | None:
    """Explains why a file is not the data file of the export that `certificate` certifies; None if it is."""
    try:
        if not _is_own(file):
            return "is not a file of its own"
        if is_open(file):
            return "is open in this process"
        if (is_certified := _certified(file, certificate)) is not None:
            return None if is_certified else "was changed since it was exported"
        # A killed export may have left its certificates in its working folder.
        left = file.parent.glob(f"{UNFINISHED}*/*/{glob.escape(certificate.name)}")
        if _carries_certificate(file) or any(_certified(file, certificate_left) for certificate_left in left):
            return None
    except OSError:
        return "cannot be read"
    return "has no certificate of an export"


def why_not_certificate(file: Path) -> str | None:
    """Explains why a file is not the JSON certificate of an export; None if it is one."""
    return None if _is_own(file) and _content(file) else "is not a certificate of an export"


def why_not_markdown(file: Path) -> str | None:
    """Explains why a file is not the Markdown certificate of an export; None if it is one."""
    with suppress(OSError, ValueError):
        if _is_own(file) and file.read_text(encoding="utf-8").startswith(MARKDOWN_TITLE):
            return None
    return "is not a certificate of an export"


def listed_files(certificate: Path) -> dict[str, str]:
    """Returns the data files and the dictionary in a certificate, with their hashes; empty for any other file."""
    content = _content(certificate) if _is_own(certificate) else {}
    files, dictionary = content.get("files"), content.get("dictionary")
    named = [*(files if isinstance(files, list) else []), dictionary]
    entries = [entry for entry in named if isinstance(entry, dict)]
    return {str(entry.get("name")): str(entry.get("sha256")) for entry in entries}


def _certified(file: Path, certificate: Path) -> bool | None:
    """Whether a file has the hash that a certificate states for it; None if the certificate does not name the file."""
    folder = certificate.parent
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    expected = listed_files(certificate).get(name)
    return None if expected is None else file_hash(file) == expected


def _carries_certificate(file: Path) -> bool:
    format_ = suffixes().get(file.suffix.lower())
    if format_ is None:
        return False
    try:
        texts = export_format(format_).carried(file)
        return len(texts) == 1 and bool(_stated(texts[0]))
    except SqlanonError:
        # No export wrote this file.
        return False


def _is_own(file: Path) -> bool:
    """Whether a path is a regular file instead of a link."""
    return file.is_file() and not file.is_symlink()


def previous_certificate(file: Path) -> Certificate | None:
    """Returns the certificate of an earlier export; None if the file is not a certificate, or one of another format."""
    with suppress(ValueError):
        return certificate_of(_content(file))
    return None


def _content(file: Path) -> dict[str, object]:
    """Returns the members of a certificate; empty if the file is not a certificate."""
    with suppress(OSError, ValueError):
        return _stated(file.read_text(encoding="utf-8"))
    return {}


def _stated(text: str) -> dict[str, object]:
    try:
        return certificate_content(text)
    except RepeatedMemberError:
        return {}


# What is at the target of an export: nothing, an earlier export, or something that is never replaced.


_DATABASES = "SELECT database_name, path FROM system.main.duckdb_databases() WHERE path IS NOT NULL"
# Suffixes of files that DuckDB writes beside a database, now or later.
_BESIDE = ("", *DUCKDB_LOGS, ".tmp")
_SHOWN = 10


def require_no_database(engine: Engine, layout: Layout) -> None:
    """Raises UserError if the target is a database that is open here, or that is a file beside such a database.

    Links and differently written paths to the database are recognized.
    """
    for name, path in engine.rows(_DATABASES):
        database = Path(os.path.realpath(path))
        taken = {database.with_name(database.name + end) for end in _BESIDE}
        for part in (layout.target, *layout.target.parents):
            if part in taken or (part.is_file() and database.is_file() and os.path.samefile(part, database)):
                raise UserError(
                    f"{layout.path} belongs to the database {name}, which is open; nothing was exported",
                    hint="choose another path: an export is a file of its own",
                )


def require_free(layout: Layout, *, replace: bool) -> set[str]:
    """Returns the names of the files of an earlier export that may be replaced; empty if the target is free.

    Raises UserError if the target holds anything else, and, unless `replace` is true, for an earlier export.
    """
    _require_no_log(layout)
    present = _present(layout)
    reasons = {name: why for name in sorted(present) if (why := _why_not(layout, name))}
    if present and not reasons and not replace:
        raise UserError(
            f"{_called(layout, present)} exists already",
            hint="it is an earlier export: choose another path, or replace it with (REPLACE true), "
            "on the command line with --replace",
        )
    if reasons:
        raise UserError(_reasons_text(layout, reasons), hint="choose another path, or remove what is there yourself")
    return present


def _present(layout: Layout) -> set[str]:
    """Returns the names in the target's folder, or, for files without their own folder, the names of the existing files
    that the export would write.
    """
    if not layout.is_folder:
        return {name for name in {*layout.names, layout.dictionary} if os.path.lexists(layout.folder / name)}
    if not os.path.lexists(layout.target):
        return set()
    if not layout.target.is_dir():
        raise UserError(f"{layout.path} exists and is not a folder", hint="choose another path")
    if layout.target == Path(os.path.realpath(os.curdir)):
        raise UserError(f"{layout.path} is the current folder", hint="name a folder for the export, such as 'out/'")
    return content_names(layout.target)


def content_names(folder: Path) -> set[str]:
    """Returns the paths of all files and empty folders below a folder, with slashes."""
    names: set[str] = set()
    for path, folders, files in os.walk(folder):
        here = Path(path)
        links = [name for name in folders if (here / name).is_symlink()]
        if here != folder and not folders and not files:
            names.add(here.relative_to(folder).as_posix())
        names.update((here / name).relative_to(folder).as_posix() for name in (*files, *links))
    return names


def _why_not(layout: Layout, name: str) -> str | None:
    """Explains why a file is not part of the earlier export of this target; None if it is part of it."""
    file, certificate = layout.folder / name, layout.folder / layout.certificate
    if name == layout.certificate:
        return why_not_certificate(file)
    if name == layout.markdown:
        return why_not_markdown(file)
    if layout.is_folder and name not in listed_files(certificate):
        return "does not belong to an earlier export"
    return why_not_data(file, certificate)


def _called(layout: Layout, present: set[str]) -> str:
    return layout.path if layout.is_folder else layout.path_of(min(present))


def _reasons_text(layout: Layout, reasons: dict[str, str]) -> str:
    listed = [f"{name} {why}" for name, why in list(reasons.items())[:_SHOWN]]
    rest = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    return f"{layout.path} is taken: {', '.join(listed)}{rest}; nothing but an earlier export is replaced"


def _require_no_log(layout: Layout) -> None:
    """Raises UserError for a database's log, because it would be applied to a file in the database's place."""
    if layout.is_folder:
        return
    for log in logs_beside(layout.target, (*DUCKDB_LOGS, *SQLITE_LOGS)):
        raise UserError(
            f"{layout.path_of(log.name)} is the log of a database that was not closed; nothing was exported",
            hint="choose another path, or open that database and close it again, or remove the log if its database is "
            "gone",
        )
