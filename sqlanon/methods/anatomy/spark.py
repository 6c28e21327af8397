"""Anatomy of rows on Spark. Such rows have no row numbers and no order, so stored random numbers order them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError
from sqlanon.methods.anatomy import assign_groups
from sqlanon.methods.anatomy.assign_groups import is_of_value, slot_of
from sqlanon.methods.anatomy.bucketize import Dealing
from sqlanon.methods.anatomy.method import AnatomyMethod, Options, unequal_buckets
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.shared.bucket_tables import code_name, numbered
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, big, infix, order_by, same, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.classes.rows import Rows

# Numbers of rows and buckets on an engine that keeps the rows in many parts, without an order.
#
# Rows are numbered within their region and value, in the order of stored random numbers; `shared/bucket_tables.py`
# numbers the buckets. So no step needs all rows in one part, and none depends on the part that has a row.


def value_counts(drawn_rows: str, draw: str) -> exp.Select:
    """SELECT of (region, code, n, draw): n rows of the region have this value of the first attribute; draw is a random
    number.
    """
    names = [column("region"), column(code_name(0))]
    counted = select(names[0], alias(names[1], "code"), alias(f.count(), "n"), of=relation(drawn_rows), group_by=names)
    query = select(*map(column, ("region", "code", "n")), alias(f.call(draw, 0), "draw"))
    return extend(query, of=subquery(counted, "counted"))


def rows_in_slots(drawn_rows: str, starts: str, columns: Sequence[str]) -> exp.Select:
    """SELECT of slot, region and the `columns` of `assign_groups.drawn_rows`: each row with its slot.

    `starts` is the table of `assign_groups.starts`.
    """
    shared = [column("region"), column(code_name(0))]
    number = window(f.row_number(), partition_by=shared, order=order_by(ascending(column("draw"))))
    numbered = select(column("region"), *map(column, columns), alias(big(number), "number"), of=relation(drawn_rows))
    rank = infix(column("number", "row"), "-", 1)
    query = select(alias(slot_of(rank), "slot"), column("region", "row"), *(column(name, "row") for name in columns))
    return extend(query, of=subquery(numbered, "row"), joins=[inner_join(relation(starts, as_="start"), is_of_value())])


def slots(in_slots: str, groups: str) -> exp.Select:
    """SELECT of slot, base, chunk, chunks, first: the table of `assign_groups.slots`, made from the rows of
    `rows_in_slots`.

    Each slot has a row. There may be too many slots to list them in DuckDB.
    """
    occurring = select(column("slot"), column("region"), distinct=True, of=relation(in_slots))
    query = select(
        column("slot", "occurring"),
        column("base", "region"),
        alias(column("slot", "occurring") - column("base", "region"), "chunk"),
        alias(column("groups", "region"), "chunks"),
        alias(column("slot", "occurring"), "first"),
        of=subquery(occurring, "occurring"),
    )
    return extend(query, joins=[inner_join(relation(groups, as_="region"), same("region", "occurring", "region"))])


def class_values(rows: Rows) -> exp.Select:
    """SELECT of (class_id, value, n): n counts the rows of `assign_groups.class_rows` by class and value."""
    keys = [column("class_id"), column("value")]
    return select(*keys, alias(big(f.sum(column("n"))), "n"), of=rows.relation, group_by=keys)


def drawn_buckets(slots: str, draw: str) -> exp.Select:
    """SELECT of slot, draw: the first slot of each bucket, with a random number."""
    heads = select(column("slot"), alias(f.call(draw, 0), "draw"), of=relation(slots))
    return extend(heads, where=[column("slot").eq(column("first"))])


class AnatomyOnSpark(AnatomyMethod):
    """METHOD anatomy for rows on Spark."""

    def _dealing(self) -> type[Dealing]:
        return SparkDealing

    def _words(self, task: Task) -> dict[str, str]:
        """Returns an empty mapping, because only DuckDB has the type ENUM."""
        return {}

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Whether each bucket has as many rows as values, and lists each of its values once.

        The order is not checked, because Spark writes rows in random order.
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
            drawn_counts = temp.rows("drawn_counts", value_counts(rows, draw))
        counts = temp.table("value_counts", select(exp.Star(), of=relation(drawn_counts)))
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
