"""What is at the target of an export: nothing, an earlier export, or something that is never replaced."""

from __future__ import annotations

import os
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.engines.database_logs import DUCKDB_LOGS, SQLITE_LOGS, logs_beside
from sqlanon.errors import UserError
from sqlanon.export.layout import Layout
from sqlanon.export.previous_export import listed_files, why_not_certificate, why_not_data, why_not_markdown

_DATABASES = "SELECT database_name, path FROM system.main.duckdb_databases() WHERE path IS NOT NULL"
# What DuckDB writes beside a database, now or later.
_BESIDE = ("", *DUCKDB_LOGS, ".tmp")
_SHOWN = 10


def require_no_database(engine: Engine, layout: Layout) -> None:
    """Raises UserError where the target is a database that is open here, or a file that belongs to one.

    A database may have other names too: links, and paths that are written in another way.
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
    """The names of the files of an earlier export that may be replaced; none where the target is free.

    Raises UserError where anything else does, and for an earlier export unless it may be replaced.
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
        raise UserError(_said(layout, reasons), hint="choose another path, or remove what is there yourself")
    return present


def _present(layout: Layout) -> set[str]:
    """What is in the target's folder, or which of the files to be written are there."""
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
    """The paths below a folder, with slashes: of all that is no folder, and of folders with nothing in them."""
    names: set[str] = set()
    for path, folders, files in os.walk(folder):
        here = Path(path)
        links = [name for name in folders if (here / name).is_symlink()]
        if here != folder and not folders and not files:
            names.add(here.relative_to(folder).as_posix())
        names.update((here / name).relative_to(folder).as_posix() for name in (*files, *links))
    return names


def _why_not(layout: Layout, name: str) -> str | None:
    """What speaks against a file's belonging to the earlier export of this target."""
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


def _said(layout: Layout, reasons: dict[str, str]) -> str:
    listed = [f"{name} {why}" for name, why in list(reasons.items())[:_SHOWN]]
    rest = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    return f"{layout.path} is taken: {', '.join(listed)}{rest}; nothing but an earlier export is replaced"


def _require_no_log(layout: Layout) -> None:
    """Raises for a log without its database: whoever opens a file that takes the database's place applies it."""
    if layout.is_folder:
        return
    for log in logs_beside(layout.target, (*DUCKDB_LOGS, *SQLITE_LOGS)):
        raise UserError(
            f"{layout.path_of(log.name)} is the log of a database that was not closed; nothing was exported",
            hint="choose another path, or open that database and close it again, or remove the log if its database is "
            "gone",
        )
