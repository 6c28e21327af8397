"""Releases as folders of Parquet files, in a file system that Spark's executors write to.

A folder is written inside one that its owner alone can open. What a transaction publishes or drops is renamed when all
else is done and the transaction is about to be committed, so that readers have the former release until then. The
renames are undone where the transaction fails, and what it has dropped is deleted once it is over.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.engines.spark_sql import quoted
from sqlanon.errors import EngineError, UserError

# Spark and Arrow skip names that begin with it. Readers that do not, such as DuckDB's, find releases by */*/*.parquet,
# and what is hidden lies a folder deeper.
_HIDDEN = "_sqlanon_"
_BELOW_HIDDEN = "candidate"
_OWNER_ALONE = 0o700
_SUFFIX = ".parquet"
# What Spark takes for a pattern where it reads a path, and not where it writes one.
_PATTERN = frozenset("*?[]{}\\")
# In the place of what a source says of its columns: comments, and labels that an encoder has found. It is not empty,
# since an alias that adds nothing may be taken away when Spark plans a query.
_METADATA = {"comment": ""}


class ParquetFolder:
    """The folder below which every release has one of its own; `path` is as Hadoop's file systems read it.

    Raises UserError for a path that Spark would read as a pattern.
    """

    def __init__(self, session: SparkSession, path: str | None) -> None:
        if path is not None and _PATTERN & set(path):
            raise UserError(
                f"releases is {path!r}, which Spark reads as a pattern", hint="name a folder without * ? [ ] { } \\"
            )
        self._session = session
        self._path = path
        self._dropped: list[str] = []
        self._published: dict[str, str] = {}
        self._undo: list[Callable[[], object]] = []
        self._finish: list[Callable[[], object]] = []

    def path_of(self, name: QualifiedName) -> str:
        """Where the files of a release are. Raises UserError where no folder has been named."""
        return "/".join((self._root(), *(_folder_name(part) for part in name.parts[-2:])))

    def hidden_path(self) -> str:
        """A path that nothing has, below the folder, which its owner alone can open."""
        return f"{self._root()}/{_HIDDEN}{secrets.token_hex(16)}/{_BELOW_HIDDEN}/{secrets.token_hex(16)}"

    def write(self, rows: DataFrame, path: str) -> None:
        """Writes rows to a hidden path, without what their source says of its columns besides names and types."""
        self._undo.append(lambda: self._delete(_outermost(path)))
        with spark_errors():
            self._make_private(path)
            bare = (rows[quoted(name)].alias(name, metadata=_METADATA) for name in rows.columns)
            rows.select(*bare).write.mode("errorifexists").parquet(path)

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
        """A folder that was checked is to have another name, which no folder has but one that was dropped.

        Raises UserError where there is one.
        """
        if target not in self._dropped:
            self._require_free(target)
        self._published[path] = target

    def drop(self, path: str) -> None:
        """Drops a folder; a hidden one is deleted at once. One that is gone already is no error."""
        if path.startswith(f"{self._root()}/{_HIDDEN}"):
            self._published.pop(path, None)
            self._delete(_outermost(path))
        else:
            self._dropped.append(path)

    def before_commit(self) -> None:
        """Hides what was dropped, and gives what is published its name.

        Raises UserError where another one has it meanwhile, and EngineError where a folder cannot be renamed.
        """
        for path in self._dropped:
            self._hide(path)
        for path, target in self._published.items():
            self._require_free(target)
            self._rename(path, target)
            self._undo.append(partial(self._rename, target, path))
            self._finish.append(partial(self._delete, _outermost(path)))

    def _require_free(self, target: str) -> None:
        if self._exists(target):
            raise UserError(
                f"there is a folder {target}, which is not a release of this catalog; nothing was published",
                hint="move it away, or name another folder for the releases: it is never replaced",
            )

    def _hide(self, path: str) -> None:
        if not self._exists(path):
            return
        hidden = self.hidden_path()
        with spark_errors():
            self._make_private(hidden)
        self._undo.append(lambda: self._delete(_outermost(hidden)))
        self._rename(path, hidden)
        self._undo.append(lambda: self._rename(hidden, path))
        self._finish.append(lambda: self._delete(_outermost(hidden)))

    def end(self, *, committed: bool) -> None:
        """Deletes what the transaction has dropped, or undoes all that it did, the last first."""
        actions = self._finish if committed else self._undo[::-1]
        self._undo, self._finish, self._dropped, self._published = [], [], [], {}
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

    def _make_private(self, path: str) -> None:
        """Makes the outermost folder of a hidden path, which its owner alone can open."""
        jvm: Any = self._session._jvm
        system, outermost = self._of(_outermost(path))
        permission = jvm.org.apache.hadoop.fs.permission.FsPermission(_OWNER_ALONE)
        system.mkdirs(outermost, permission)
        # The process's own mask may have taken something off.
        system.setPermission(outermost, permission)

    def _rename(self, path: str, to: str) -> None:
        """Raises EngineError unless the folder has the new name: one that is there already takes the other one in."""
        with spark_errors():
            system, hadoop = self._of(path)
            _, target = self._of(to)
            _, inside = self._of(f"{to}/{hadoop.getName()}")
            system.mkdirs(target.getParent())
            is_done = bool(system.rename(hadoop, target))
            if is_done and bool(system.exists(inside)):
                system.rename(inside, hadoop)
                is_done = False
        if not is_done:
            raise EngineError(f"the folder {path} could not be renamed to {to}; nothing was published")


def _outermost(hidden: str) -> str:
    return hidden.rsplit("/", 2)[0]


def _folder_name(part: str) -> str:
    """A name as one folder's, whatever is in it: names that DuckDB takes for one are one."""
    folded = quote(fold(part), safe="")
    return folded if folded[0] not in "_." else f"%{ord(folded[0]):02X}{folded[1:]}"
