"""Anatomy of rows that lie on Spark: these have no numbers and no order, and are numbered by draws that they keep."""

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
from sqlanon.sql.classes.rows import Rows

# Rows and buckets numbered where tables have no order: on an engine that keeps the rows in many parts.
#
# A row's number is counted among the rows with its region and its value, in the order of draws that were made once and
# kept; `shared/bucket_tables.py` numbers the buckets. So no step has all rows in one part, and none depends on where
# a
# row lies.


def value_counts(drawn_rows: str, draw: str) -> exp.Select:
    """region, code, n, draw: how many rows of each region have each value of the first attribute, each with a draw."""
    names = [column("region"), column(code_name(0))]
    counted = exp.select(names[0], alias(names[1], "code"), alias(f.count(), "n")).from_(relation(drawn_rows))
    counted.group_by(*(name.copy() for name in names), copy=False)
    query = exp.select(*map(column, ("region", "code", "n")), alias(f.call(draw, 0), "draw"))
    return query.from_(counted.subquery("counted", copy=False), copy=False)


def rows_in_slots(drawn_rows: str, starts: str, columns: Sequence[str]) -> exp.Select:
    """slot, region, and these columns of `assign_groups.drawn_rows`: every row in its slot.

    `starts` is the table of `assign_groups.starts`.
    """
    shared = [column("region"), column(code_name(0))]
    number = window(f.row_number(), partition_by=shared, order=order_by(ascending(column("draw"))))
    numbered = exp.select(column("region"), *map(column, columns), alias(big(number), "number"))
    numbered.from_(relation(drawn_rows), copy=False)
    rank = infix(column("number", "row"), "-", 1)
    query = exp.select(
        alias(slot_of(rank), "slot"), column("region", "row"), *(column(name, "row") for name in columns)
    )
    query.from_(numbered.subquery("row", copy=False), copy=False)
    return query.join(relation(starts, as_="start"), on=is_of_value(), copy=False)


def slots(in_slots: str, groups: str) -> exp.Select:
    """slot, base, chunk, chunks, first: as `merge_groups.slots`, of the rows of `rows_in_slots`.

    There are too many slots to list them on another engine than that of the rows. Each of them has a row.
    """
    occurring = exp.select(column("slot"), column("region")).distinct(copy=False).from_(relation(in_slots))
    query = exp.select(
        column("slot", "occurring"),
        column("base", "region"),
        alias(column("slot", "occurring") - column("base", "region"), "chunk"),
        alias(column("groups", "region"), "chunks"),
        alias(column("slot", "occurring"), "first"),
    ).from_(occurring.subquery("occurring", copy=False), copy=False)
    return query.join(relation(groups, as_="region"), on=same("region", "occurring", "region"), copy=False)


def class_values(rows: Rows) -> exp.Select:
    """class_id, value, n: the rows of `merge_groups.class_rows`, those of one class and value as one."""
    keys = [column("class_id"), column("value")]
    query = exp.select(*keys, alias(big(f.sum(column("n"))), "n")).from_(rows.relation.copy(), copy=False)
    return query.group_by(*(key.copy() for key in keys), copy=False)


def drawn_buckets(slots: str, draw: str) -> exp.Select:
    """slot, draw: the first slot of each bucket, with a draw."""
    heads = exp.select(column("slot"), alias(f.call(draw, 0), "draw")).from_(relation(slots))
    return heads.where(column("slot").eq(column("first")), copy=False)


class AnatomyOnSpark(AnatomyMethod):
    """METHOD anatomy of rows on Spark."""

    def _dealing(self) -> type[Dealing]:
        return SparkDealing

    def _words(self, task: Task) -> dict[str, str]:
        """Returns an empty mapping: ENUMs are a type of DuckDB's."""
        return {}

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Whether each bucket has as many rows as values, and has each of its values once.

        Rows on Spark are written in a random order, or not at all.
        """
        unequal = unequal_buckets(published.engine, published.tables, published.values)
        return Structure(misfit="their buckets have other numbers of rows" if unequal else None)


class SparkDealing(Dealing):
    """The steps of `Dealing` by draws that rows on Spark keep."""

    def _drawn(self, regions: str | None, words: Mapping[str, str]) -> tuple[str, str]:
        """The tables of the rows and of how many have each value, both with draws, which are made as rows are kept."""
        scratch = self._scratch
        with registered(self._engine, "random_draw") as draw:
            query = assign_groups.drawn_rows(self._policy, self._sensitive, self._codes, regions, draw)
            rows = scratch.rows("drawn_rows", query)
            drawn_counts = scratch.rows("drawn_counts", value_counts(rows, draw))
        counts = scratch.table("value_counts", exp.select(exp.Star()).from_(relation(drawn_counts)))
        self._require_all(counts)
        return rows, counts

    def _require_all(self, counts: str) -> None:
        """Raises InternalError unless there are as many rows with their codes and regions as the source has."""
        source_rows, coded_rows = (
            self._number(exp.select(f.sum(column("n"))).from_(relation(table))) for table in (self._codes[0], counts)
        )
        if source_rows != coded_rows:
            raise InternalError(
                f"{coded_rows} rows of {source_rows} have their values and regions; nothing was published"
            )

    def _in_slots(self, rows: str, starts: str, columns: Sequence[str]) -> str:
        return self._scratch.rows("rows_in_slots", rows_in_slots(rows, starts, columns))

    def _slots(self, in_slots: str, groups: str) -> str:
        return self._scratch.rows("slots", slots(in_slots, groups))

    def _numbers(self, slots: str) -> str:
        scratch = self._scratch
        with registered(self._engine, "random_draw") as draw:
            drawn = scratch.rows("drawn_buckets", drawn_buckets(slots, draw))
        return scratch.rows("numbers", numbered(scratch, drawn, ["slot"], "bucket"))

    def _class_rows(self, tally: str, slots: str, codes: str, attribute: str) -> Rows:
        """The buckets with the values of one attribute, counted before requirements are asked.

        Spark computes a step anew for each one that reads it.
        """
        rows = assign_groups.class_rows(tally, slots, codes, attribute)
        counts = self._scratch.rows("class_values", class_values(rows))
        return replace(rows, relation=relation(counts), counted=True)
