"""Releases as folders of Parquet files; the catalog's table is a stand-in with the path of the folder."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.stand_ins import PARQUET, comment_on, stand_in
from sqlanon.engines.portable import quoted
from sqlanon.engines.spark import columns_of, spark_errors
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import EngineError, InternalError, UserError
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import drop, dropped
from sqlanon.sql.build.sql_files import sql_file

# Releases as folders of Parquet files, in a file system that Spark's executors write to.
#
# A folder is written inside one that its owner alone can open. Published and dropped folders are renamed just before
# the transaction is committed, so readers have the former release until then. If the transaction fails, the renames are
# undone; dropped folders are deleted after the commit.


# Spark and Arrow skip names with this prefix. Other readers, such as DuckDB, find releases by */*/*.parquet, and hidden
# folders are one level deeper.
_HIDDEN = "_sqlanon_"
_BELOW_HIDDEN = "candidate"
_OWNER_ALONE = 0o700
_SUFFIX = ".parquet"
# Characters that make a path a pattern when Spark reads it; when Spark writes it, they have no meaning.
_PATTERN = frozenset("*?[]{}\\")
# Replaces the source's metadata of columns: comments, and labels that an encoder has found. It is not empty because
# Spark may remove an alias that adds nothing.
_METADATA = {"comment": ""}


class ParquetFolder:
    """The folder with a folder for each release; `path` is a path of Hadoop's file systems.

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
        """Returns the path of a release's files. Raises UserError if the user has given no folder."""
        return "/".join((self._root(), *(_folder_name(part) for part in name.parts[-2:])))

    def hidden_path(self) -> str:
        """Returns an unused path below a private folder."""
        return f"{self._root()}/{_HIDDEN}{secrets.token_hex(16)}/{_BELOW_HIDDEN}/{secrets.token_hex(16)}"

    def write(self, rows: DataFrame, path: str) -> None:
        """Writes rows to a hidden path, without the metadata of the source's columns, except names and types."""
        self._undo.append(lambda: self._delete(_outermost(path)))
        with spark_errors():
            self._make_private(path)
            bare = (rows[quoted(name)].alias(name, metadata=_METADATA) for name in rows.columns)
            rows.select(*bare).write.mode("errorifexists").parquet(path)

    def rows_at(self, path: str) -> DataFrame:
        """Returns the rows of a folder. Raises EngineError if the folder does not exist."""
        with spark_errors():
            return self._session.read.parquet(path)

    def copy_to(self, path: str, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the Parquet files of a folder to a local folder, under names given by `named`; returns these names."""
        names: list[str] = []
        with spark_errors():
            system, hadoop = self._file_system(path)
            files = sorted(str(status.getPath()) for status in system.listStatus(hadoop) if status.isFile())
            for file in (file for file in files if file.endswith(_SUFFIX)):
                names.append(named(len(names)))
                _, target = self._file_system((folder / names[-1]).as_uri())
                # Without the checksum files that Hadoop would write beside them.
                system.copyToLocalFile(False, self._file_system(file)[1], target, True)
        return names

    def publish(self, path: str, target: str) -> None:
        """Records that a checked folder gets the path `target` at the commit.

        Raises UserError if that path exists, unless this transaction has dropped it.
        """
        if target not in self._dropped:
            self._require_free(target)
        self._published[path] = target

    def drop(self, path: str) -> None:
        """Drops a folder; a hidden folder is deleted at once. A missing folder is not an error."""
        if path.startswith(f"{self._root()}/{_HIDDEN}"):
            self._published.pop(path, None)
            self._delete(_outermost(path))
        else:
            self._dropped.append(path)

    def before_commit(self) -> None:
        """Hides dropped folders, and renames published folders to their targets.

        Raises UserError if another folder has a target meanwhile, and EngineError if a folder cannot be renamed.
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
        """Deletes dropped folders after a commit; otherwise undoes all changes, beginning with the last."""
        actions = self._finish if committed else self._undo[::-1]
        self._undo, self._finish, self._dropped, self._published = [], [], [], {}
        for action in actions:
            action()

    def _root(self) -> str:
        if self._path is None:
            raise UserError(
                "no folder is named for the Parquet files of releases",
                hint="connect(engine='spark', releases='/path') or sqlanon run --releases /path",
            )
        return self._path.rstrip("/")

    def _file_system(self, path: str) -> tuple[Any, Any]:
        """Returns the file system of a path and the path, as objects of Hadoop."""
        jvm: Any = self._session._jvm
        hadoop = jvm.org.apache.hadoop.fs.Path(path)
        return hadoop.getFileSystem(self._session._jsc.hadoopConfiguration()), hadoop

    def _exists(self, path: str) -> bool:
        with spark_errors():
            system, hadoop = self._file_system(path)
            return bool(system.exists(hadoop))

    def _delete(self, path: str) -> None:
        with spark_errors():
            system, hadoop = self._file_system(path)
            system.delete(hadoop, True)

    def _make_private(self, path: str) -> None:
        """Creates the outermost folder of a hidden path, which only its owner can open."""
        jvm: Any = self._session._jvm
        system, outermost = self._file_system(_outermost(path))
        permission = jvm.org.apache.hadoop.fs.permission.FsPermission(_OWNER_ALONE)
        system.mkdirs(outermost, permission)
        # The umask of the process may have removed permissions.
        system.setPermission(outermost, permission)

    def _rename(self, path: str, to: str) -> None:
        """Renames a folder. Raises EngineError if it does not get the new name, because an existing folder would take
        it in.
        """
        with spark_errors():
            system, hadoop = self._file_system(path)
            _, target = self._file_system(to)
            _, inside = self._file_system(f"{to}/{hadoop.getName()}")
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
    """Returns a name as the name of one folder, even if it has special characters; names that are equal in DuckDB give
    the same folder.
    """
    folded = quote(fold(part), safe="")
    return folded if folded[0] not in "_." else f"%{ord(folded[0]):02X}{folded[1:]}"


class ParquetReleases:
    """Candidates that this transaction has written, and releases whose stand-ins have the paths of their files."""

    def __init__(self, local: DuckDBEngine, folder: ParquetFolder) -> None:
        self._local = local
        self._folder = folder
        self._candidates: dict[tuple[str, ...], str] = {}

    def path(self, table: exp.Expr) -> str | None:
        """Returns the path of the Parquet files of a candidate or a release; None for another table."""
        if not isinstance(table, exp.Table) or not table.db:
            return None
        name = _name(table)
        if path := self._candidates.get(_key(name)):
            return path
        comments = self._local.rows(sql_file("statements", "parquet_release"), name.parts)
        return str(comments[0][0]).removeprefix(PARQUET) if comments else None

    def rows_at(self, path: str) -> DataFrame:
        """Returns the rows of a folder. Raises EngineError if the folder does not exist."""
        return self._folder.rows_at(path)

    def copy_to(self, path: str, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the Parquet files of a folder to a local folder, under names given by `named`; returns these names."""
        return self._folder.copy_to(path, folder, named)

    def write(self, table: exp.Table, rows: DataFrame, columns: Sequence[Column]) -> None:
        """Writes a candidate with these columns under a hidden name."""
        path, name = self._folder.hidden_path(), _name(table)
        self._folder.write(rows, path)
        self._candidates[_key(name)] = path
        self._stand(name, columns, path)

    def alter(self, statement: exp.Alter) -> None:
        """Publishes a candidate by renaming it, or drops a column of it."""
        (action,) = statement.args["actions"]
        name, path = _name(statement.this), str(self.path(statement.this))
        if isinstance(action, exp.AlterRename):
            target = QualifiedName((name.parts[0], action.this.name))
            self._publish(name, path, target)
        elif isinstance(action, exp.Drop):
            (dropped_column,) = dropped(action)
            self._narrow(name, path, dropped_column.name)
        else:
            raise InternalError("a table of Parquet files would be changed in a way that is not known")

    def drop(self, statement: exp.Drop) -> None:
        """Drops candidates with their files, and releases, whose files stay until the transaction is committed."""
        for table in dropped(statement):
            assert isinstance(table, exp.Table)
            path = str(self.path(table))
            self._forget(_name(table))
            self._folder.drop(path)

    def before_commit(self) -> None:
        """Hides the files of dropped releases and renames the files of published releases, after all checks."""
        self._folder.before_commit()

    def end(self, *, committed: bool) -> None:
        """Makes the transaction's changes to files final, or undoes them."""
        self._candidates.clear()
        self._folder.end(committed=committed)

    def _publish(self, name: QualifiedName, path: str, target: QualifiedName) -> None:
        where = self._folder.path_of(target)
        columns = self._columns(path)
        self._forget(name)
        self._stand(target, columns, where)
        self._local.run(comment_on(self._full(target), where))
        self._folder.publish(path, where)
        # Until the transaction is committed the files are where they were written.
        self._candidates[_key(target)] = path

    def _narrow(self, name: QualifiedName, path: str, dropped: str) -> None:
        """Writes the files of a candidate again without the column `dropped`, which only the check of the candidate
        needed.

        Rows keep their order in each file.
        """
        narrower = self._folder.hidden_path()
        with spark_errors():
            rows = self._folder.rows_at(path)
            columns = [rows[quoted(part)] for part in rows.columns if part != dropped]
        self._folder.write(rows.select(*columns), narrower)
        self._forget(name)
        self._folder.drop(path)
        self._candidates[_key(name)] = narrower
        self._stand(name, self._columns(narrower), narrower)

    def _columns(self, path: str) -> list[Column]:
        with spark_errors():
            return columns_of(self._folder.rows_at(path))

    def _stand(self, name: QualifiedName, columns: Sequence[Column], path: str) -> None:
        """Creates the stand-in of a candidate or a release."""
        self._local.run(stand_in(self._full(name), columns, f"Parquet files in {path}", temporary=False))

    def _full(self, name: QualifiedName) -> QualifiedName:
        """Returns the name qualified by the database, because a temporary stand-in would otherwise come first."""
        return QualifiedName((current_database(self._local), *name.parts))

    def _forget(self, name: QualifiedName) -> None:
        """Drops the stand-in of a candidate or a release."""
        self._local.run(drop("VIEW", relation(self._full(name))))
        self._candidates.pop(_key(name), None)


def _name(table: exp.Table) -> QualifiedName:
    return QualifiedName((table.db, table.name))


def _key(name: QualifiedName) -> tuple[str, ...]:
    return tuple(map(fold, name.parts))
