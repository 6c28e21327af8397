"""Releases that are folders of Parquet files: what the catalog calls a table is a stand-in, and a folder beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.parquet_folder import ParquetFolder
from sqlanon.engines.federated.stand_ins import PARQUET, comment_on, stand_in
from sqlanon.engines.spark import columns_of
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.engines.spark_sql import quoted
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import InternalError
from sqlanon.sql.build.ddl import drop, dropped
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.sql_files import sql_file


class ParquetReleases:
    """Releases that this transaction has written, and others, whose stand-ins say where their files are."""

    def __init__(self, local: DuckDBEngine, folder: ParquetFolder) -> None:
        self._local = local
        self._folder = folder
        self._candidates: dict[tuple[str, ...], str] = {}

    def path(self, table: exp.Expr) -> str | None:
        """Where the Parquet files of a table are: a candidate, or a release; None for another table."""
        if not isinstance(table, exp.Table) or not table.db:
            return None
        name = _name(table)
        if path := self._candidates.get(_key(name)):
            return path
        comments = self._local.rows(sql_file("statements", "parquet_release"), name.parts)
        return str(comments[0][0]).removeprefix(PARQUET) if comments else None

    def rows_at(self, path: str) -> DataFrame:
        """The rows of a folder. Raises EngineError where there is none."""
        return self._folder.rows_at(path)

    def copy_to(self, path: str, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the files of a folder to one of this machine, under other names, which are returned."""
        return self._folder.copy_to(path, folder, named)

    def write(self, table: exp.Table, rows: DataFrame, columns: Sequence[Column]) -> None:
        """Writes a candidate with these columns under a name that nobody looks for."""
        path, name = self._folder.hidden_path(), _name(table)
        self._folder.write(rows, path)
        self._candidates[_key(name)] = path
        self._stand(name, columns, path)

    def alter(self, statement: exp.Alter) -> None:
        """Renames a candidate, which is published by that, or drops a column of it."""
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
        """All is done and checked: files of what was dropped are taken away, and those of what is published named."""
        self._folder.before_commit()

    def end(self, *, committed: bool) -> None:
        """The transaction is over: what it did to files is final, or undone."""
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
        """Writes a candidate again without a column that it had for its check; rows keep their order in each file."""
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
        """Makes the stand-in of a candidate or a release."""
        self._local.run(stand_in(self._full(name), columns, f"Parquet files in {path}", temporary=False))

    def _full(self, name: QualifiedName) -> QualifiedName:
        """The name with the database's: without it the temporary stand-in of a source would come first."""
        return QualifiedName((current_database(self._local), *name.parts))

    def _forget(self, name: QualifiedName) -> None:
        """Drops the stand-in of a candidate or a release."""
        self._local.run(drop("VIEW", relation(self._full(name))))
        self._candidates.pop(_key(name), None)


def _name(table: exp.Table) -> QualifiedName:
    return QualifiedName((table.db, table.name))


def _key(name: QualifiedName) -> tuple[str, ...]:
    return tuple(map(fold, name.parts))
