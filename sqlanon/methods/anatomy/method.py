"""Anatomy: rows in buckets, quasi-identifiers in one table and sensitive values in another.

Xiao and Tao, Anatomy: Simple and Effective Privacy Preservation (2006). No value is changed, but the tables no longer
show which sensitive value of a bucket belongs to which of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.explanation import Explanation
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Requirement
from sqlanon.domain.release import Assumption
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.anatomy.bucketize import Dealing
from sqlanon.methods.anatomy.tables import Bucketization, bucketized, differing, misplaced, out_of_place, unequal
from sqlanon.methods.anatomy.tables import (
    out_of_order as not_ascending,
)
from sqlanon.methods.base import Encoding, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, OF_BUCKETS, Limits, Refusal
from sqlanon.methods.shared.arguments import Diversity, Kind, argument, promised_diversity
from sqlanon.methods.shared.bucket_tables import BUCKET_TABLES, QUASI_IDENTIFIERS, bucket_names, carried, require_names
from sqlanon.methods.shared.partition import solve as mondrian
from sqlanon.methods.shared.partition.region_labels import region_map
from sqlanon.methods.shared.respondents import require_one_row_each
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import DEFINITIONS, of_buckets
from sqlanon.sources.column_types import words_of
from sqlanon.sources.requirement_columns import listed_taxonomy
from sqlanon.sources.source import qualified
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.release.multi_table_query import TablesQuery

GROUPINGS = ("random", "near")
_PUBLISHED = (
    "The quasi-identifiers are the source's own values, so they show who is in the table. Sensitive values are "
    "in separate tables, by bucket: the requirements hold for the rows of a bucket. Random bits of the "
    "operating system determine the numbers and the orders of buckets."
)

# Mondrian's options for the regions of rows near each other.
_REGIONS = mondrian.Options(publish="none")


@dataclass(frozen=True)
class Options(Diversity):
    """METHOD anatomy(l, variant, c, grouping).

    `l` and `variant` (with `c`, for 'recursive') are the l-diversity that every bucket has in every sensitive
    attribute. If `grouping` is 'random', any rows may share a bucket; if it is 'near', only rows that are close in the
    quasi-identifiers do.
    """

    grouping: str = argument(
        "which rows share a bucket: any, or those near each other in the quasi-identifiers",
        Kind.CHOICE,
        default=GROUPINGS[0],
        choices=GROUPINGS,
    )

    @property
    def least(self) -> int:
        """Returns the least number of rows, all with different values, that satisfy the requested variant of
        l-diversity.

        s rows of s different values satisfy distinct, probabilistic (because 1/s <= 1/l) and entropy l-diversity
        (because their entropy is log s) iff s >= l. They satisfy recursive (c,l)-diversity iff 1 < c (s - l + 1): from
        s = l if c > 1, else from s = l + floor(1/c).
        """
        if self.variant != "recursive" or self.c > 1:
            return self.l
        return self.l + int(1 / Fraction(self.c))


_LIMITS = replace(
    OF_BUCKETS,
    pseudonyms=CAN,
    whole=CAN,
    jointly=Refusal(
        "anatomy cannot meet {requirement}: the sensitive values of a row are never published together",
        "leave out jointly, and it is asked of each by itself",
    ),
)
_NO_NEAR_SCRIPT = Refusal(
    "its buckets have rows that are near each other, whose regions a snapshot does not keep",
    "let any rows share a bucket: grouping => 'random'",
)
_NO_NEAR_WHOLE = Refusal(
    "anatomy cannot meet {requirement} with grouping => 'near': it puts buckets together region by region, and this is "
    "about all buckets of a release together",
    "let any rows share a bucket: grouping => 'random'",
)


class AnatomyMethod(Method[Options, Bucketization]):
    """METHOD anatomy: publishes rows and sensitive values in separate tables, linked by buckets."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """The limits of methods with buckets; `grouping` 'near' also refuses scripts, and requirements about all
        buckets together.
        """
        if options.grouping == "near":
            return replace(_LIMITS, scripted=_NO_NEAR_SCRIPT, whole=_NO_NEAR_WHOLE)
        return replace(_LIMITS, scripted=CAN)

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """Returns the promises of the method itself, whatever the policy requires."""
        return (promised_diversity(options),)

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumptions behind the figures of a release; `sensitive` are its sensitive columns."""
        return (of_buckets(sensitive),)

    def encoding(self, task: Task, options: Options) -> Encoding | None:
        """Encodes values as ranks for grouping => 'near'; returns None otherwise.

        Raises PolicyError for conflicting names, for respondents with several rows, and for more quasi-identifiers than
        can be compared.
        """
        require_one_row_each(task, "METHOD anatomy")
        if options.grouping == "near" and len(task.policy.quasi_identifiers) > mondrian.MOST_ATTRIBUTES:
            raise PolicyError(
                f"anatomy: grouping => 'near' compares at most {mondrian.MOST_ATTRIBUTES} quasi-identifiers"
            )
        name, tables = qualified(task.engine, task.name), bucket_names(task.policy)
        require_names(task.engine, "anatomy", task.policy, name, tables, free=not task.dry)
        return Encoding(flat=True) if options.grouping == "near" else None

    def choose(self, task: Task, options: Options) -> Bucketization:
        """Chooses the buckets. Raises PrivacyViolation if even all rows as one bucket do not meet the requirements."""
        engine, policy, requirements, temp = task.engine, task.policy, task.requirements, task.temp
        background = _background(task)
        words = self._words(task)
        names = [bound.column for bound in policy.sensitive]
        promised = [bound for promise in self.promises(options) for bound in bind_requirement(promise, names)]
        dealing = self._dealing()(engine, policy, requirements, promised, background, task.temp)
        dealing.require_feasible(options.variant, options.l, options.c)
        regions, count = None, 1
        if task.cells is not None and task.cells.rows:
            partition = mondrian.solve(task, _REGIONS)
            regions, count = temp.table("region_map", region_map(policy, partition)), partition.count
        different = options.l if options.variant == "distinct" else None
        return dealing.deal(regions, count, options.least, different, words)

    def reasons(
        self, task: Task, bucketization: Bucketization, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the number and the sizes of the buckets."""
        yield from (("solve", item, detail) for item, detail in dealt_out(bucketization))

    def compile(
        self, task: Task, bucketization: Bucketization, release_id: str, tokens: Mapping[str, str]
    ) -> TablesQuery:
        """The SELECTs of the release's tables: one of the quasi-identifiers, and one for each sensitive attribute."""
        return bucketized(task.policy, bucketization, release_id, tokens)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that the tables fit together: each bucket has as many rows as values, and lists each of its values
        once.

        When a release is made, its rows must also be sorted by bucket, because another order could reveal how rows were
        assigned.
        """
        if unequal_buckets(published.engine, published.tables, published.values, as_stored=True):
            return Structure(misfit="their buckets have other numbers of rows")
        if published.choice is not None and out_of_order(published.engine, published.tables):
            return Structure(misfit="their rows are out of order")
        return Structure()

    def on_spark(self) -> Method[Options, Bucketization]:
        """Returns the method's variant for Spark, where rows keep their random numbers."""
        from sqlanon.methods.anatomy.spark import AnatomyOnSpark

        return AnatomyOnSpark(self.name)

    def _dealing(self) -> type[Dealing]:
        return Dealing

    def _words(self, task: Task) -> dict[str, str]:
        """The word tables of the published columns that are dictionary-encoded, by column."""
        return words_of(task.engine, task.temp, relation(task.policy.relation), carried(task.policy))

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        return Wording(_PUBLISHED, DEFINITIONS, tables=BUCKET_TABLES)


def _background(task: Task) -> Background:
    """Returns the taxonomies and ranges that requirements read besides rows; none is copied for the release yet."""
    engine, policy, requirements = task.engine, task.policy, task.requirements
    return Background(
        taxonomies={b.column: listed_taxonomy(engine, policy, b, requirements, task.temp) for b in policy.sensitive},
        ranges={index: select(exp.Star(), of=relation(table)) for index, table in policy.ranges},
    )


def dealt_out(bucketization: Bucketization) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the number and the sizes of the buckets, and the suppressed rows."""
    mean = f", {bucketization.rows / bucketization.count:.1f} rows each in the mean" if bucketization.count else ""
    where = f", within {bucketization.regions} regions" if bucketization.regions > 1 else ""
    sizes = f"the largest has {counted(bucketization.largest, 'row')}, the smallest {bucketization.smallest}"
    yield "buckets", f"{bucketization.count}{where}{mean}; {sizes}"
    yield "suppressed rows", f"0 of {bucketization.rows}"


# Checks that the buckets of Anatomy's tables fit together.

# The tables of a release, by the suffixes of their names.
Sources = Mapping[str, exp.Table | exp.Subquery]


def unequal_buckets(
    engine: Engine, sources: Sources, values: Mapping[str, BucketValues], *, as_stored: bool = False
) -> int:
    """Counts the buckets whose number of rows differs from the number in the table of an attribute's values.

    If `as_stored` is true (on DuckDB only), tables that are stored in the order of buckets and values are compared row
    by row, without groupings.
    """
    exact = sources[QUASI_IDENTIFIERS]
    count = 0
    for where in values.values():
        sensitive = sources[where.table]
        in_order = as_stored and _none(engine, not_ascending(sensitive.copy()))
        if in_order and _none(engine, misplaced(exact.copy(), sensitive.copy())):
            continue
        count += _number(engine, (differing if in_order else unequal)(exact.copy(), sensitive.copy()))
    return count


def out_of_order(engine: Engine, sources: Sources) -> int:
    """Counts the rows of the quasi-identifiers' table, in stored order, with a bucket less than the bucket of the
    previous row.
    """
    return _number(engine, out_of_place(sources[QUASI_IDENTIFIERS].copy()))


def _none(engine: Engine, query: exp.Query) -> bool:
    return _number(engine, query) == 0


def _number(engine: Engine, query: exp.Query) -> int:
    return int(engine.rows(query)[0][0])
