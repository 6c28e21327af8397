"""Releases as folders of Parquet files, in a file system that Spark's executors write to.

A folder is written under a name that readers of Parquet skip, and renamed when it has been checked. What a transaction
renames or drops is undone where the transaction fails, and what it has dropped is deleted once it is over.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.errors import EngineError, UserError

__all__ = ["ParquetFolder"]

# Readers of Parquet skip names that begin with it.
_HIDDEN = "_sqlanon_"
_SUFFIX = ".parquet"


class ParquetFolder:
    """The folder below which every release has one of its own; `path` is as Hadoop's file systems read it."""

    def __init__(self, session: SparkSession, path: str | None) -> None:
        self._session = session
        self._path = path
        self._undo: list[Callable[[], object]] = []
        self._finish: list[Callable[[], object]] = []

    def path_of(self, name: QualifiedName) -> str:
        """Where the files of a release are. Raises UserError where no folder has been named."""
        return "/".join((self._root(), *(_folder_name(part) for part in name.parts[-2:])))

    def hidden_path(self) -> str:
        """A path that nothing has, below the folder, which readers skip."""
        return f"{self._root()}/{_HIDDEN}{secrets.token_hex(16)}"

    def write(self, rows: DataFrame, path: str) -> None:
        """Writes rows to a path that nothing has yet."""
        self._undo.append(lambda: self._delete(path))
        with spark_errors():
            rows.write.mode("errorifexists").parquet(path)

    def rows_at(self, path: str) -> DataFrame:
        """The rows of a folder. Raises EngineError where there is none."""
        with spark_errors():
            return self._session.read.parquet(path)

    def copy_to(self, path: str, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the files of a folder to one of this machine, under other names, which are returned."""
        names: list[str] = []
        with spark_errors():
            system, hadoop = self._of(path)
            files = sorted(str(status.getPath()) for status in system.listStatus(hadoop) if status.isFile())
            for file in (file for file in files if file.endswith(_SUFFIX)):
                names.append(named(len(names)))
                _, target = self._of((folder / names[-1]).as_uri())
                # Without the checksums that Hadoop would write beside them.
                system.copyToLocalFile(False, self._of(file)[1], target, True)
        return names

    def publish(self, path: str, target: str) -> None:
        """Renames a folder that was checked. Raises UserError where its target is there already."""
        if self._exists(target):
            raise UserError(
                f"there is a folder {target}, which is not a release of this catalog; nothing was published",
                hint="move it away, or name another folder for the releases: it is never replaced",
            )
        self._rename(path, target)
        self._undo.append(lambda: self._rename(target, path))

    def drop(self, path: str) -> None:
        """Takes a folder away; it is deleted when the transaction is over. One that is gone already is no error."""
        if not self._exists(path):
            return
        hidden = self.hidden_path()
        self._rename(path, hidden)
        self._undo.append(lambda: self._rename(hidden, path))
        self._finish.append(lambda: self._delete(hidden))

    def end(self, *, committed: bool) -> None:
        """Deletes what the transaction has dropped, or undoes all that it did, the last first."""
        actions = self._finish if committed else self._undo[::-1]
        self._undo, self._finish = [], []
        for action in actions:
            action()

    def _root(self) -> str:
        if self._path is None:
            raise UserError(
                "no folder has been named for releases, which are Parquet files there",
                hint="connect(engine='spark', releases='/path') or sqlanon run --releases /path",
            )
        return self._path.rstrip("/")

    def _of(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path, as Hadoop has them."""
        jvm: Any = self._session._jvm
        hadoop = jvm.org.apache.hadoop.fs.Path(path)
        return hadoop.getFileSystem(self._session._jsc.hadoopConfiguration()), hadoop

    def _exists(self, path: str) -> bool:
        with spark_errors():
            system, hadoop = self._of(path)
            return bool(system.exists(hadoop))

    def _delete(self, path: str) -> None:
        with spark_errors():
            system, hadoop = self._of(path)
            system.delete(hadoop, True)

    def _rename(self, path: str, to: str) -> None:
        with spark_errors():
            system, hadoop = self._of(path)
            _, target = self._of(to)
            system.mkdirs(target.getParent())
            is_done = bool(system.rename(hadoop, target))
        if not is_done:
            raise EngineError(f"the folder {path} could not be renamed to {to}; nothing was published")


def _folder_name(part: str) -> str:
    """A name as one folder's, whatever is in it: names that DuckDB takes for one are one."""
    folded = quote(fold(part), safe="")
    return folded if folded[0] not in "_." else f"%{ord(folded[0]):02X}{folded[1:]}"
