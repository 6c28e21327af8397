"""Anatomy of rows on Spark. Such rows have no row numbers and no order, so stored random numbers order them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError
from sqlanon.methods.anatomy import assign_groups
from sqlanon.methods.anatomy.bucketize import Dealing
from sqlanon.methods.anatomy.method import AnatomyMethod, Options, unequal_buckets
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.shared.bucket_tables import numbered
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, query_file
from sqlanon.sql.classes.rows import Rows

# Numbers of rows and buckets on an engine that keeps the rows in many parts, without an order.
#
# Rows are numbered within their region and value, in the order of stored random numbers; `shared/bucket_tables.py`
# numbers the buckets. So no step needs all rows in one part, and none depends on the part that has a row.


def rows_in_slots(drawn_rows: str, starts: str, columns: Sequence[str]) -> exp.Query:
    """SELECT of slot, region and the `columns` of `assign_groups.drawn_rows`: each row with its slot.

    `starts` is the table of `assign_groups.starts`.
    """
    text = """
        SELECT region, {columns},
          CAST(row_number() OVER (PARTITION BY region, code_0 ORDER BY draw ASC NULLS LAST) AS BIGINT) AS number
        FROM rows
    """
    numbered = filled_query(text, tables={"rows": drawn_rows}, names={"columns": columns})
    tables: dict[str, Relation] = {"rows": numbered, "starts": starts}
    names = {"columns": ["region", *columns]}
    return query_file("anatomy", "rows_in_slots", tables=tables, names=names, rank=filled("row.number - 1"))


def slots(in_slots: str, groups: str) -> exp.Query:
    """SELECT of slot, base, chunk, chunks, first: the table of `assign_groups.slots`, made from the rows of
    `rows_in_slots`.

    Each slot has a row. There may be too many slots to list them in DuckDB.
    """
    text = """
        SELECT occurring.slot, region.base, occurring.slot - region.base AS chunk, region.groups AS chunks,
          occurring.slot AS first
        FROM (SELECT DISTINCT slot, region FROM in_slots) AS occurring
        JOIN groups AS region ON occurring.region = region.region
    """
    return filled_query(text, tables={"in_slots": in_slots, "groups": groups})


def class_values(rows: Rows) -> exp.Query:
    """SELECT of (class_id, value, n): n counts the rows of `assign_groups.class_rows` by class and value."""
    text = "SELECT class_id, value, CAST(sum(n) AS BIGINT) AS n FROM bucket GROUP BY class_id, value"
    return filled_query(text, tables={"bucket": rows.relation})


def drawn_buckets(slots: str, draw: str) -> exp.Query:
    """SELECT of slot, draw: the first slot of each bucket, with a random number."""
    text = "SELECT slot, $draw AS draw FROM slots WHERE slot = first"
    return filled_query(text, tables={"slots": slots}, draw=f.call(draw, 0))


class AnatomyOnSpark(AnatomyMethod):
    """METHOD anatomy for rows on Spark."""

    def _dealing(self) -> type[Dealing]:
        return SparkDealing

    def _words(self, task: Task) -> dict[str, str]:
        """Returns an empty mapping, because only DuckDB has the type ENUM."""
        return {}

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that each bucket has as many rows as values, and lists each of its values once.

        The order of the rows is not checked, because Spark writes rows in random order.
        """
        unequal = unequal_buckets(published.engine, published.tables, published.values)
        return Structure(misfit="their buckets have other numbers of rows" if unequal else None)


class SparkDealing(Dealing):
    """The steps of `Dealing` for rows on Spark, which are ordered by stored random numbers."""

    def _drawn(self, regions: str | None, words: Mapping[str, str]) -> tuple[str, str]:
        """Makes the tables of `drawn_rows` and of `value_counts`; the random numbers are stored with the rows."""
        temp = self._temp
        with registered(self._engine, "random_draw") as draw:
            query = assign_groups.drawn_rows(self._policy, self._sensitive, self._codes, regions, draw)
            rows = temp.rows("drawn_rows", query)
            drawn_counts = temp.rows("drawn_counts", assign_groups.value_counts(rows, draw))
        counts = temp.table("value_counts", exp.select(exp.Star()).from_(relation(drawn_counts)))
        self._require_all(counts)
        return rows, counts

    def _require_all(self, counts: str) -> None:
        """Raises InternalError unless the join with codes and regions has as many rows as the source."""
        source_rows, coded_rows = (
            self._number(select(f.sum(column("n")), of=relation(table))) for table in (self._codes[0], counts)
        )
        if source_rows != coded_rows:
            raise InternalError(
                f"{coded_rows} rows of {source_rows} have their values and regions; nothing was published"
            )

    def _in_slots(self, rows: str, starts: str, columns: Sequence[str]) -> str:
        return self._temp.rows("rows_in_slots", rows_in_slots(rows, starts, columns))

    def _slots(self, in_slots: str, groups: str) -> str:
        return self._temp.rows("slots", slots(in_slots, groups))

    def _numbers(self, slots: str) -> str:
        temp = self._temp
        with registered(self._engine, "random_draw") as draw:
            drawn = temp.rows("drawn_buckets", drawn_buckets(slots, draw))
        return temp.rows("numbers", numbered(temp, drawn, ["slot"], "bucket"))

    def _class_rows(self, tally: str, slots: str, codes: str, attribute: str) -> Rows:
        """Rows with the values of one attribute, whose classes are the buckets, counted into a table first.

        Spark repeats a step for each query that reads it.
        """
        rows = assign_groups.class_rows(tally, slots, codes, attribute)
        counts = self._temp.rows("class_values", class_values(rows))
        return replace(rows, relation=relation(counts), counted=True)
