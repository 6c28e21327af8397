"""Slicing: attributes in columns, rows in buckets, and each column permuted independently within the buckets.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012). No value is changed;
only the bucket links the values of two columns. A class consists of the rows of a bucket that have the same other
values in the sensitive value's column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial, reduce

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Requirement
from sqlanon.domain.release import Assumption, Measurement, Reading
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.base import Encoding, Figure, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, OF_BUCKETS, Limits, Refusal
from sqlanon.methods.shared.arguments import promised_diversity
from sqlanon.methods.shared.partition.solve import points_of
from sqlanon.methods.shared.respondents import require_one_row_each
from sqlanon.methods.shared.task import Task, rows_of_source
from sqlanon.methods.shared.wording import DEFINITIONS, of_buckets
from sqlanon.methods.slicing import bucket_sql
from sqlanon.methods.slicing.bucketize import Bucketed, at_random, bucket_numbers, by_number, by_regions, rows_by_region
from sqlanon.methods.slicing.choose_columns import choose_columns, contingency_of_source
from sqlanon.methods.slicing.correlation import Correlations
from sqlanon.methods.slicing.feasibility import BUCKETS, beside, require_feasible
from sqlanon.methods.slicing.matching import TOLERANCE, Matching
from sqlanon.methods.slicing.options import (
    Options,
    is_matched,
    is_wide,
    named_columns,
    require_apart,
    require_fitting,
    require_together,
)
from sqlanon.methods.slicing.tables import (
    ColumnRegions,
    Sliced,
    carried_columns,
    column_regions,
    least_repeated,
    require_names,
    sliced,
    table_names,
    unequal,
)
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import require_free
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.release.multi_table_query import TablesQuery

# The number of digits that the order of its parts does not change in a sum of doubles.
_DIGITS = 9


_LIMITS = replace(
    OF_BUCKETS,
    columns=CAN,
    pseudonyms=Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one: a token would say which rows of a "
        "bucket are one respondent's",
        "leave {clause} out",
    ),
    jointly=Refusal(
        "slicing cannot meet {requirement}: it asks each sensitive attribute by itself",
        "leave out jointly, and it is asked of each by itself",
    ),
)


class SlicingMethod(Method[Options, Sliced]):
    """METHOD slicing: publishes sets of columns in separate tables, linked by buckets of rows."""

    OPTIONS = Options

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Options:
        """Checks the arguments. Raises PolicyError for invalid or contradictory ones."""
        options = super().options(arguments)
        require_together(options)
        return options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD slicing."""
        return _LIMITS

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """Returns the diversity of each class as the method's own promise, if `diversity` is 'bucket'; otherwise
        nothing.
        """
        return (promised_diversity(options),) if options.diversity == "bucket" else ()

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumptions behind the figures of a release; `sensitive` are its sensitive columns."""
        return (of_buckets(sensitive),)

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Requests ranks of the quasi-identifiers, and codes of the other published columns.

        Raises PolicyError for conflicting names, for respondents with several rows, for COLUMNS that do not fit the
        policy, and for more quasi-identifiers than can be cut.
        """
        require_names(task.policy, by_number=is_wide(task.policy))
        return self._encoded(task, options, carried_columns(task.policy))

    def _encoded(self, task: Task, options: Options, besides: tuple[BoundAttribute, ...]) -> Encoding:
        policy = task.policy
        require_one_row_each(task, "METHOD slicing")
        require_fitting(policy, options)
        if task.columns:
            named_columns(policy, task.columns)
        return Encoding(flat=True, besides=besides, quasi_identifiers=not is_wide(policy))

    def choose(self, task: Task, options: Options) -> Sliced:
        """Chooses the columns and buckets. Raises PrivacyViolation if all rows as one bucket violate a requirement."""
        policy = task.policy
        matched = options.diversity == "matching"
        # Every person matches a bucket of all rows, or exactly one Mondrian region. So in these cases each bucket must
        # satisfy the l-diversity that the buckets of a person must satisfy together.
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
            # Counted independently of the buckets, because the stages compare it with the published rows.
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
        yield from (("solve", item, detail) for item, detail in columns_in_words(choice))

    def compile(self, task: Task, choice: Sliced, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of each column's table."""
        return sliced(task, choice, release_id)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that the tables fit together: each bucket has equally many rows in all of them.

        If `diversity` is 'matching', the greatest probability of a value depends on the source's rows, so it is
        measured and recorded when the release is made.
        """
        tables = [table.copy() for table in published.tables.values()]
        if int(published.engine.rows(unequal(tables))[0][0]):
            return Structure(misfit="their buckets have other numbers of rows")
        measured = [_matching(published, options.l)] if options.diversity == "matching" else []
        measured += [_fakes(published, options.fake_tuples)] if options.fake_tuples else []
        measured += [_repeated(published, options.column_k)] if options.column_k > 1 else []
        return Structure(tuple(measured))

    def on_spark(self) -> Method[Options, Sliced]:
        """Returns the method's variant for Spark, where rows keep their values."""
        from sqlanon.methods.slicing.spark import SlicingOnSpark

        return SlicingOnSpark(self.name)

    def _contingency(self, task: Task, intervals: int) -> Correlations:
        return contingency_of_source(task, intervals)

    def _bucketed(
        self, task: Task, columns: Sequence[Sequence[str]], options: Options
    ) -> tuple[Bucketed, Matching | None]:
        """Makes the buckets, and the matching of rows if this is measured. Wide policies do not allow this
        measurement.
        """
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
        """The published attributes without a requirement, whose codes the points keep."""
        return carried_columns(task.policy)

    def _published_rows(self, task: Task, bucketed: Bucketed) -> Bucketed:
        """The buckets with the published values of their rows."""
        return bucketed

    def _numbers(self, task: Task, points: str) -> str:
        return bucket_numbers(task, points)

    def _column_regions(self, task: Task, columns: Sequence[Sequence[str]], k: int) -> dict[int, ColumnRegions]:
        return column_regions(task, columns, k)

    def wording(self, options: Options) -> Wording:
        """Returns the certificate's wording about the release."""
        return certificate_wording(options)


def _matching(published: PublishedTables, l: int) -> Measurement:  # noqa: E741 - the papers' name
    """Measures the greatest l for which every respondent's p(t,s) is at most 1/l; its value is None if there are no
    rows.

    The number is read from the choice, or from the record of an earlier measurement.
    """
    choice = published.choice
    if isinstance(choice, Sliced):
        likeliest = choice.likeliest or 0
        achieved, met = (round(1 / likeliest, _DIGITS) if likeliest else None), likeliest * l <= 1 + TOLERANCE
    else:
        known = [m for m in published.recorded if m.question == MATCHING and m.required == l]
        achieved, met = (known[0].achieved, known[0].satisfied is True) if known else (None, False)
    return Measurement(MATCHING, None, float(l), achieved, met)


def _fakes(published: PublishedTables, ratio: Decimal) -> Measurement:
    """Measures how many tuples per row the tables can be joined to, besides the rows; equal rows count once."""
    engine, tables = published.engine, published.tables.values()
    slices = [(table, BUCKET, column_names(engine, table)) for table in tables]
    joined = float(engine.rows(joined_tuples(slices))[0][0])
    rows = int(engine.rows(select(f.count(), of=next(iter(tables))))[0][0])
    achieved = joined / rows - 1 if rows else None
    return Measurement(FAKES, None, float(ratio), achieved, achieved is None or achieved >= float(ratio))


def _repeated(published: PublishedTables, k: int) -> Measurement:
    """Counts the rows of the rarest combination of a column's quasi-identifiers in its table."""
    quasi = {fold(attribute.name) for attribute in published.policy.quasi_identifiers}
    names = {
        name: [part for part in column_names(published.engine, table) if fold(part) in quasi]
        for name, table in published.tables.items()
    }
    least = least_repeated(published.engine, published.tables, names)
    return Measurement(REPEATED, None, float(k), None if least is None else float(least), least is None or least >= k)


def columns_in_words(choice: Sliced) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the columns with the reasons, and the number and the sizes of the buckets."""
    yield "columns", ", ".join(f"({', '.join(names)})" for names in choice.columns)
    yield from choice.reasons
    mean = f", {choice.rows / choice.count:.1f} rows each in the mean" if choice.count else ""
    sizes = f"the largest has {counted(choice.largest, 'row')}, the smallest {choice.smallest}"
    whole = (
        "; all rows are in it, for no two buckets meet what is required"
        if choice.count == 1 and choice.rows > 1
        else ""
    )
    yield "buckets", f"{choice.count}{mean}; {sizes}{whole}"
    yield "suppressed rows", f"0 of {choice.rows}"


# A table for each column, with its rows' buckets.
_TABLES = ((Reading.BUCKET, Reading.BUCKET_VALUE, Reading.BUCKET_RANGE),)
_PUBLISHED = (
    "Values are the source's own, and those of one column of attributes stand together as they do in the source; which "
    "rows of two columns belong together is known by bucket only. The requirements hold of the rows of a bucket that "
    "agree on what stands beside the sensitive value. The operating system drew the numbers and orders of the buckets."
)

_MATCHING_PUBLISHED = (
    "Values are the source's own, and those of one column of attributes stand together as they do in the source; which "
    "rows of two columns belong together is known by bucket only. Of somebody whose quasi-identifiers are known, but "
    "not the bucket, no sensitive value is likelier than what is stated. The operating system drew the numbers and "
    "orders of the buckets."
)
_RANGES_PUBLISHED = (
    "Quasi-identifiers are published as ranges of the values of rows near each other, those of one column of "
    "attributes together; all other values are the source's own. Which rows of two columns belong together is known "
    "by bucket only. The requirements hold of the rows of a bucket that agree on what stands beside the sensitive "
    "value. The operating system drew the numbers and orders of the buckets."
)
MATCHING = "matching_l_diversity"
FAKES = "fake_tuples"
REPEATED = "column_k_anonymity"
FIGURES: Mapping[str, Figure] = {
    MATCHING: Figure(
        "For a person whose quasi-identifiers are known, no sensitive value is likelier than one in this "
        "number, over all buckets that have these quasi-identifiers in each column.",
        "Li, Li, Zhang and Molloy 2012, definition 7; a bucket counts with its rows",
        # The published tables do not show which combinations of values are rows of the source.
        "source's rows, when it was made",
        parameter="l",
    ),
    FAKES: Figure(
        "For each row at least this many tuples that are not in the source can be joined from the columns of "
        "the buckets: a reader who finds that somebody's values match a bucket cannot be sure that the person "
        "is in the table.",
        "Li, Li, Zhang and Molloy 2012, section 5",
        parameter="ratio",
    ),
    REPEATED: Figure(
        "Each combination of quasi-identifiers that a table shows is that of so many of its rows, at least: nobody is "
        "seen to be in the table by being the only one with such values.",
        "Li, Li, Zhang and Molloy 2012, section 4.2",
        parameter="k",
    ),
}


def certificate_wording(options: Options) -> Wording:
    """Returns the certificate's wording about the release."""
    if options.column_k > 1:
        return Wording(_RANGES_PUBLISHED, DEFINITIONS, FIGURES, _TABLES)
    return Wording(_PUBLISHED if options.diversity == "bucket" else _MATCHING_PUBLISHED, DEFINITIONS, FIGURES, _TABLES)


# Tuples to which the columns of a bucket can be joined: with more of them, membership in the table is hidden better.
#
# Li, Li, Zhang and Molloy, Slicing (2012), section 5. Regions of Mondrian do not overlap, so no tuple matches two of
# them, and the numbers of all regions add up.

# The rows of one column's table, the name of the bucket's column, and the names of the values' columns.
Slice = tuple[exp.Table | exp.Subquery, str, Sequence[str]]


def joined_tuples(slices: Sequence[Slice]) -> exp.Query:
    """SELECT of the number of tuples to which the columns can be joined, a DOUBLE.

    It is the sum over buckets of the product of their numbers of distinct values in each column.
    """
    text = """
        SELECT bucket, CAST(count(*) AS DOUBLE) AS n
        FROM (SELECT DISTINCT {bucket} AS bucket, {values} FROM slice) AS different GROUP BY bucket
    """
    names = [f"slice_{index}" for index in range(len(slices))]
    counted = [
        filled_query(text, tables={"slice": rows}, names={"bucket": bucket, "values": values})
        for rows, bucket, values in slices
    ]
    numbers: list[exp.Expr] = [column("n", name) for name in names]
    return filled_query(
        "SELECT coalesce(sum($product), 0) FROM slice_0"
        ' JOIN "{others}" AS "{names}" ON slice_0.bucket = "{names}".bucket',
        tables={"slice_0": counted[0]},
        names={"others": counted[1:], "names": names[1:]},
        product=reduce(lambda first, second: exp.Mul(this=first, expression=second), numbers),
    )


def with_fakes(task: Task, matching: Matching, ratio: Decimal) -> Bucketed:
    """Makes Mondrian's regions whose columns can be joined to at least `ratio` fake tuples for each row.

    The minimum size of regions doubles until there are enough tuples. Raises PrivacyViolation if not even all rows as
    one region have enough.
    """
    rows, size = task.encoded.rows, 1
    while True:
        least = bind_requirement(Requirement("k_anonymity", (("k", size),))) if size > 1 else ()
        bucketed = by_regions(replace(task, requirements=(*task.requirements, *least)), matching.points)
        made = [(relation(bucketed.points), "region", names) for names in matching.slices]
        joined = float(task.engine.rows(joined_tuples(made))[0][0])
        if joined >= (1 + float(ratio)) * rows:
            return bucketed
        if 2 * size > rows:
            raise PrivacyViolation(
                f"fake_tuples => {ratio} cannot be met: all rows as one bucket can be joined to {joined:.0f} tuples, "
                f"{joined / rows - 1:.3f} fake ones for each of the {rows} rows; nothing was published",
                hint="ask for fewer, or name more columns: fewer attributes stand together then",
            )
        size *= 2


def column_names(engine: Engine, table: exp.Table | exp.Subquery) -> list[str]:
    """The columns of a published table, except the column of the bucket."""
    return [name for name, _ in engine.columns(select(exp.Star(), of=table)) if name != BUCKET]
