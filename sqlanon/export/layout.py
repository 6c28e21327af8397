"""Where the files of an export lie.

The path of EXPORT names a folder, and the export is then all that is in it: the data file, named
after the release, with `certificate.json` and `certificate.md`. A path that ends like a
file of the format (`x.parquet`) names the data file, and the certificates stand beside
it as `x.parquet.certificate.json` and `x.parquet.certificate.md`. The dictionary is `dictionary.csv`, or
`x.parquet.dictionary.csv`. A release that is partitioned has a folder in the place of the data file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import UserError
from sqlanon.export.formats.base import export_format, suffixes
from sqlanon.export.paths import local_path

# A folder of a version or a year, release.2026, is none.
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}")
_DEFAULT = "parquet"
_LONGEST_NAME = 150  # bytes: file systems allow 255


@dataclass(frozen=True)
class Layout:
    """`path` is the path as the user wrote it, `target` the folder or the data file that it means.

    `data`, `certificate`, `markdown` and `dictionary` are the files' names, `others` those of the further
    data files of a release of several tables, which takes a folder. With a `partition`, the columns by whose values the
    rows are in several files, or none, `data` is the name of the folder with these.
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
        """What is written about the data files."""
        return self.certificate, self.markdown, *((self.dictionary,) if self.has_dictionary else ())

    @property
    def tables(self) -> tuple[str, ...]:
        """The data files, one for each table."""
        return self.data, *self.others

    @property
    def folder(self) -> Path:
        """The folder that the files lie in."""
        return self.target if self.is_folder else self.target.parent

    def path_of(self, name: str) -> str:
        """The path of one of the files as the user would write it, with forward slashes."""
        path = Path(self.path)
        return (path / name if self.is_folder else path.with_name(name)).as_posix()


def format_of(path: str) -> str:
    """The format of the files that a path names by its suffix; parquet for any other path.

    Raises UserError for a path that no file can have.
    """
    return suffixes().get(Path(path).suffix.lower(), _DEFAULT) if _names_file(path) else _DEFAULT


def _names_file(path: str) -> bool:
    """Whether a path may name a file: it does not say that it is a folder, and none of that name exists."""
    return not path.endswith(("/", os.sep)) and not local_path(path).is_dir()


def layout_of(
    path: str,
    format_: str,
    table: str,
    *others: str,
    partition: tuple[str, ...] | None = None,
    has_dictionary: bool = False,
) -> Layout:
    """The files of an export of one table, or several.

    Raises UserError for a path that cannot be one, that fits another format, or that names one file where there are
    several.
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
    """What is called after a data file: the certificates, that for programs and that for people, and the dictionary."""
    return f"{data}.certificate.json", f"{data}.certificate.md", f"{data}.dictionary.csv"


def names_of_export(data: Path) -> list[str]:
    """The names of a data file, its certificates, and its dictionary where it has one."""
    *certificates, dictionary = names_beside(data.name)
    return [data.name, *certificates, *([dictionary] if data.with_name(dictionary).exists() else [])]


def _target(path: str) -> Path:
    """The folder or file that the path of an export means. Raises UserError for a path that cannot be one."""
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
    """The file for the report of what is exported to a path: beside it, for what is in a folder may be given away.

    Raises UserError for a path that cannot be one.
    """
    target = _target(path)
    return target.with_name(f"{target.name}.report.html")


def report_text(path: str) -> str:
    """The path of the report as the user would write it, with forward slashes. Raises as `report_path` does."""
    report, written = report_path(path), Path(path)
    # A path such as '.' does not have the name of what it means.
    is_named = report.name == f"{written.name}.report.html"
    return (written.with_name(report.name) if is_named else report).as_posix()


def require_known_suffix(layout: Layout) -> None:
    """Raises UserError for a path that looks like a file of another format, and would be the name of a folder."""
    suffix = layout.target.suffix
    if layout.is_folder and _SUFFIX.fullmatch(suffix) and _names_file(layout.path):
        raise UserError(
            f"{layout.path} looks like a file, and no export has the suffix {suffix}",
            hint=f"write one of {', '.join(suffixes())}, or name a folder by a slash at its end: '{layout.path}/'",
        )


def _file_names(tables: Sequence[str]) -> list[str]:
    """A name for the file of each table; names that would mean one file get a number."""
    names: list[str] = []
    for table in tables:
        plain = name = _file_name(table)
        number = 2
        while name.casefold() in (other.casefold() for other in names):
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names


def _file_name(table: str) -> str:
    """The table's name as any file system can have it; the certificate states the name itself."""
    plain = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in table)
    return plain.encode()[:_LONGEST_NAME].decode(errors="ignore") or "release"
