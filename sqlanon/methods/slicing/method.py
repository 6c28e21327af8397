"""Slicing: attributes in columns, rows in buckets, and each column permuted within the buckets by itself.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012). No value is changed;
which values of two columns are one row's is known by bucket only. A class is a bucket and the values that stand beside
a sensitive value in its column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Requirement
from sqlanon.domain.report import Assumption, Measurement
from sqlanon.domain.values import Value
from sqlanon.methods.base import Encoding, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, OF_BUCKETS, Limits, Refusal
from sqlanon.methods.shared.diversity import promised_diversity
from sqlanon.methods.shared.partition.solve import points_of
from sqlanon.methods.shared.random_worlds import of_buckets
from sqlanon.methods.shared.source_rows import rows_of_source
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing import bucket_sql
from sqlanon.methods.slicing.bucketize import (
    Bucketed,
    at_random,
    bucket_numbers,
    by_number,
    by_regions,
    rows_by_region,
)
from sqlanon.methods.slicing.choice import Sliced
from sqlanon.methods.slicing.choose_columns import choose_columns, contingency_of_source
from sqlanon.methods.slicing.column_regions import ColumnRegions, column_regions, least_repeated
from sqlanon.methods.slicing.correlation import Correlations
from sqlanon.methods.slicing.fakes import column_names, joined_tuples, with_fakes
from sqlanon.methods.slicing.feasibility import BUCKETS, beside, require_feasible
from sqlanon.methods.slicing.matching import Matching
from sqlanon.methods.slicing.matching_sql import TOLERANCE
from sqlanon.methods.slicing.named_columns import named_columns, require_apart
from sqlanon.methods.slicing.options import Options, is_matched, is_wide, require_fitting, require_together
from sqlanon.methods.slicing.reasons import sliced_up
from sqlanon.methods.slicing.tables import carried_columns, require_names, sliced, table_names, unequal
from sqlanon.methods.slicing.wording import FAKES, MATCHING, REPEATED, certificate_wording
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.release.multi_table_query import TablesQuery

# Sums of doubles depend on the order of their parts: so many digits do not.
_DIGITS = 9


_LIMITS = replace(
    OF_BUCKETS,
    columns=CAN,
    pseudonyms=Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one: a token would say which rows of a "
        "bucket are one respondent's",
        "leave PSEUDONYM out",
    ),
    jointly=Refusal(
        "slicing cannot meet {requirement}: it asks each sensitive attribute by itself",
        "leave out jointly, and it is asked of each by itself",
    ),
)


class SlicingMethod(Method[Options, Sliced]):
    """METHOD slicing."""

    OPTIONS = Options

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments; raises PolicyError for those that contradict each other, too."""
        options = super().options(arguments)
        require_together(options)
        return options

    def limits(self, options: Options) -> Limits:
        """The limits of buckets and columns: they know the source's rows only."""
        return _LIMITS

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """What the method itself promises of each class, whatever the policy requires."""
        return (promised_diversity(options),) if options.diversity == "bucket" else ()

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """What the figures of a release rest on; `sensitive` are its columns of that role."""
        return (of_buckets(sensitive),)

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Ranks of the quasi-identifiers, and codes of all else that is published.

        Raises PolicyError for names that clash, for COLUMNS that do not fit the policy, and for more
        quasi-identifiers than can be cut.
        """
        require_names(task.policy, by_number=is_wide(task.policy))
        return self._encoded(task, options, carried_columns(task.policy))

    def _encoded(self, task: Task, options: Options, besides: tuple[BoundAttribute, ...]) -> Encoding:
        policy = task.policy
        require_fitting(policy, options)
        if task.columns:
            named_columns(policy, task.columns)
        return Encoding(flat=True, besides=besides, quasi_identifiers=not is_wide(policy))

    def choose(self, task: Task, options: Options) -> Sliced:
        """The columns and buckets. Raises PrivacyViolation where all rows as one bucket violate a requirement."""
        policy = task.policy
        matched = options.diversity == "matching"
        # All rows in one bucket are what everybody matches, and of Mondrian's regions everybody matches one: there
        # buckets are asked for what the rows that match somebody are to have.
        promised = bind_requirement(promised_diversity(options), [bound.column for bound in policy.sensitive])
        bucketwise = replace(task, requirements=(*task.requirements, *promised)) if matched else task
        columns, reasons = choose_columns(bucketwise, options, self._contingency)
        if matched:
            require_apart(columns, "diversity => 'matching'", "write diversity => 'bucket'")
        if options.fake_tuples:
            require_apart(columns, "fake_tuples", "leave fake_tuples out")
        if options.column_k > 1:
            require_apart(columns, "column_k", "leave column_k out")
        if not task.dry:
            require_free(task.engine, qualified(task.engine, task.name), table_names(columns))
        require_feasible(bucketwise, columns, promised_diversity(options).model)
        cut = task if options.grouping == "random" else bucketwise
        bucketed, matching = self._bucketed(cut, columns, options)
        rows = self._published_rows(task, bucketed)
        numbers = self._numbers(task, rows.points)
        ranges = self._column_regions(task, columns, options.column_k) if options.column_k > 1 else {}
        count, smallest, largest = map(int, task.engine.rows(bucket_sql.sizes(numbers))[0])
        return Sliced(
            columns=columns,
            points=rows.points,
            numbers=numbers,
            count=count,
            smallest=smallest,
            largest=largest,
            # Not added up from the buckets: the stages compare it with the rows that are published.
            rows=rows_of_source(task.engine, task.policy),
            single=rows.single,
            by_number=rows.by_number,
            by_value=rows.by_value,
            likeliest=matching.likeliest(rows_by_region(bucketed.points)) if matched and matching else None,
            reasons=(*reasons, *(("column_k", str(regions)) for regions in ranges.values())),
            ranges=ranges,
        )

    def reasons(self, task: Task, choice: Sliced, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the attributes of each column, and the number of buckets."""
        yield from (("solve", item, detail) for item, detail in sliced_up(choice))

    def compile(self, task: Task, choice: Sliced, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """A table for each column."""
        return sliced(task, choice, release_id)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Whether the tables belong together: each bucket has as many rows in each of them.

        How likely a value is for anybody, with diversity => 'matching', is known of the source's rows only: it was
        measured and recorded when the release was made.
        """
        tables = [table.copy() for table in published.tables.values()]
        if int(published.engine.rows(unequal(tables))[0][0]):
            return Structure(misfit="their buckets have other numbers of rows")
        measured = [_matching(published, options.l)] if options.diversity == "matching" else []
        measured += [_fakes(published, options.fake_tuples)] if options.fake_tuples else []
        measured += [_repeated(published, options.column_k)] if options.column_k > 1 else []
        return Structure(tuple(measured))

    def on_spark(self) -> Method[Options, Sliced]:
        """Slicing by the cells, of rows that keep their values."""
        from sqlanon.methods.slicing.spark import SlicingOnSpark

        return SlicingOnSpark(self.name)

    def _contingency(self, task: Task, intervals: int) -> Correlations:
        return contingency_of_source(task, intervals)

    def _bucketed(
        self, task: Task, columns: Sequence[Sequence[str]], options: Options
    ) -> tuple[Bucketed, Matching | None]:
        """The rows in buckets, and what tells who matches them, which is for policies that are not wide."""
        policy = task.policy
        parts = beside(policy, columns)
        if is_wide(policy):
            return by_number(task, parts, options.bucket_size), None
        points = points_of(task, BUCKETS, parts, [bound.column for bound in self._carried(task)])
        if not is_matched(options):
            if options.grouping == "random":
                return at_random(task, points, options.bucket_size, None), None
            return by_regions(task, points), None
        matching = Matching.of(task, columns, points)
        if options.grouping == "random":
            judge = partial(matching.violating_regions, l=options.l)
            return at_random(task, matching.points, options.bucket_size, judge), matching
        if options.fake_tuples:
            return with_fakes(task, matching, options.fake_tuples), matching
        return by_regions(task, matching.points), matching

    def _carried(self, task: Task) -> Sequence[BoundAttribute]:
        """The published attributes that nothing is asked about, which rows are found by."""
        return carried_columns(task.policy)

    def _published_rows(self, task: Task, bucketed: Bucketed) -> Bucketed:
        """The buckets with what is published of their rows."""
        return bucketed

    def _numbers(self, task: Task, points: str) -> str:
        return bucket_numbers(task, points)

    def _column_regions(self, task: Task, columns: Sequence[Sequence[str]], k: int) -> dict[int, ColumnRegions]:
        return column_regions(task, columns, k)

    def wording(self, options: Options) -> Wording:
        """What a certificate says of the release."""
        return certificate_wording(options)


def _matching(published: PublishedTables, l: int) -> Measurement:  # noqa: E741 - the papers' name
    """For which l everybody's p(t,s) is at most 1/l; without a row there is nobody."""
    choice = published.choice
    if isinstance(choice, Sliced):
        likeliest = choice.likeliest or 0
        achieved, met = (round(1 / likeliest, _DIGITS) if likeliest else None), likeliest * l <= 1 + TOLERANCE
    else:
        known = [m for m in published.recorded if m.question == MATCHING and m.required == l]
        achieved, met = (known[0].achieved, known[0].satisfied is True) if known else (None, False)
    return Measurement(MATCHING, None, float(l), achieved, met)


def _fakes(published: PublishedTables, ratio: Decimal) -> Measurement:
    """How many tuples more than rows, for each row, the tables can be joined to; equal rows count, which is less."""
    engine, tables = published.engine, published.tables.values()
    slices = [(table, BUCKET, column_names(engine, table)) for table in tables]
    joined = float(engine.rows(joined_tuples(slices))[0][0])
    rows = int(engine.rows(exp.select(f.count()).from_(next(iter(tables)).copy()))[0][0])
    achieved = joined / rows - 1 if rows else None
    return Measurement(FAKES, None, float(ratio), achieved, achieved is None or achieved >= float(ratio))


def _repeated(published: PublishedTables, k: int) -> Measurement:
    """How often the rarest combination of a column's quasi-identifiers occurs in its table."""
    quasi = {fold(attribute.name) for attribute in published.policy.quasi_identifiers}
    names = {
        name: [part for part in column_names(published.engine, table) if fold(part) in quasi]
        for name, table in published.tables.items()
    }
    least = least_repeated(published.engine, published.tables, names)
    return Measurement(REPEATED, None, float(k), None if least is None else float(least), least is None or least >= k)
