"""What policies are on, where their rows are on Spark: tables and views of the session, and Parquet files."""

from __future__ import annotations

from pyspark.sql import DataFrame

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.stand_ins import stand_in
from sqlanon.engines.spark import SparkEngine, columns_of
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.engines.spark_sql import quoted
from sqlanon.errors import UserError

__all__ = ["Sources"]


class Sources:
    """The sources that statements have named, by the names of their stand-ins, which are temporary views."""

    def __init__(self, local: DuckDBEngine, spark: SparkEngine) -> None:
        self._local = local
        self._spark = spark
        self._views: dict[tuple[str, ...], str] = {}

    def view_of(self, key: tuple[str, ...]) -> str | None:
        """The view of Spark's with the rows of a relation, by its folded name; None for another relation."""
        return self._views.get(key)

    def declare(self, source: QualifiedName, *, in_duckdb: bool) -> None:
        """Makes a stand-in for a source as it is now. A name with a slash is the path of Parquet files.

        `in_duckdb` says that DuckDB has a relation of this name. Raises UserError where it is no stand-in, and for a
        name that Spark has no relation of.
        """
        name = source.name
        key = ("temp", "main", fold(name))
        if in_duckdb and key not in self._views:
            raise UserError(
                f"{source} is a table or view of DuckDB's, and releases on Spark are made of what is there",
                hint="connect without engine => 'spark', or give the one that is meant another name",
            )
        if len(source.parts) > 1:
            raise UserError(
                f"a source on Spark is named by one name, and {source} has several",
                hint="name it by a view: session.table('...').createOrReplaceTempView('people')",
            )
        view = self._views.get(key) or f"__sqlanon_source_{len(self._views)}_{id(self):x}"
        with spark_errors():
            rows = self._rows(name)
            rows.createOrReplaceTempView(view)
            columns = columns_of(rows)
        self._local.run(stand_in(QualifiedName((name,)), columns, "on Spark", temporary=True))
        self._views[key] = view

    def _rows(self, name: str) -> DataFrame:
        session = self._spark.connection
        if "/" in name:
            return session.read.parquet(name)
        if not session.catalog.tableExists(quoted(name)):
            raise UserError(
                f"the Spark session has no table or view {name}",
                hint="the path of Parquet files is a name with a slash, in double quotes",
            )
        return session.table(quoted(name))
