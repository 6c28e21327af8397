"""Anatomy of rows that lie on Spark: these have no numbers and no order, and are numbered by draws that they keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError
from sqlanon.methods.anatomy import assign_groups, merge_groups, numbered_rows
from sqlanon.methods.anatomy.bucketize import Dealing
from sqlanon.methods.anatomy.method import AnatomyMethod, Options, unequal_buckets
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.shared.numbered_draws import numbered
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.classes.rows import Rows


class AnatomyOnSpark(AnatomyMethod):
    """METHOD anatomy of rows on Spark."""

    def _dealing(self) -> type[Dealing]:
        return SparkDealing

    def _words(self, task: Task) -> dict[str, str]:
        """None: words are a type of DuckDB's."""
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
            drawn_counts = scratch.rows("drawn_counts", numbered_rows.value_counts(rows, draw))
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
        return self._scratch.rows("rows_in_slots", numbered_rows.rows_in_slots(rows, starts, columns))

    def _slots(self, in_slots: str, groups: str) -> str:
        return self._scratch.rows("slots", numbered_rows.slots(in_slots, groups))

    def _numbers(self, slots: str) -> str:
        scratch = self._scratch
        with registered(self._engine, "random_draw") as draw:
            drawn = scratch.rows("drawn_buckets", numbered_rows.drawn_buckets(slots, draw))
        return scratch.rows("numbers", numbered(scratch, drawn, ["slot"], "bucket"))

    def _class_rows(self, tally: str, slots: str, codes: str, attribute: str) -> Rows:
        """The buckets with the values of one attribute, counted before requirements are asked.

        Spark computes a step anew for each one that reads it.
        """
        rows = merge_groups.class_rows(tally, slots, codes, attribute)
        counts = self._scratch.rows("class_values", numbered_rows.class_values(rows))
        return replace(rows, relation=relation(counts), counted=True)
