"""Generalization of related tables: one level of its hierarchy for each attribute of all tables.

Nergiz, Clifton and Nergiz, Multirelational k-anonymity (2007). The source has a row for each person, and related tables
have any number of rows about each. People are counted. The node of least loss among those that meet the requirements
after leaving out at most a given fraction of the people, with all their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlanon.domain.explanation import Explanation
from sqlanon.domain.reading import Reading
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Encoding, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal, only_on_duckdb
from sqlanon.methods.multirelational.choice import RelatedLevels
from sqlanon.methods.multirelational.loss import DEFINITION, NAME
from sqlanon.methods.multirelational.search import best_levels, reasons_of
from sqlanon.methods.multirelational.tables import tables_of
from sqlanon.methods.multirelational.verify import structure_of
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.lattice.timed_search import TimedSearches
from sqlanon.methods.shared.task import Task
from sqlanon.sql.questions.known import by_known
from sqlanon.sql.release.multi_table_query import TablesQuery

_LIMITS = Limits(
    related=CAN,
    view=Refusal(
        "a live view is one query, and {policy} has related tables, WITH TABLE {table}, whose rows are linked by "
        "numbers drawn when they are published",
        "make a snapshot, CREATE ANONYMIZED TABLE {release}",
    ),
    series=Refusal(
        "{policy} has related tables, WITH TABLE {table}, and a series is about one: its ledger says in which one "
        "class a respondent was",
        "make another policy on a query that joins them, or leaves them out: ON (SELECT ...)",
    ),
    without_series=CAN,
    unconstrained=CAN,
    requirements=CAN,
    respondents=CAN,
    pseudonyms=Refusal(
        "{policy} is on several tables, whose people have numbers drawn anew; {column} is a pseudonym",
        "leave PSEUDONYM out",
    ),
    min_level=CAN,
    max_level=CAN,
    on_spark=only_on_duckdb("{policy} has related tables, whose rows are linked by numbers that are drawn"),
    scripted=Refusal("its policy has related tables", "export the release, and load it there"),
)


@dataclass(frozen=True)
class Options:
    """METHOD multirelational(suppression => fraction, time_limit => seconds)."""

    suppression: Decimal = argument(
        "the share of people that may be left out, with all their rows",
        Kind.FRACTION,
        default=Decimal("0.02"),
        example=Decimal("0.05"),
    )
    time_limit: Decimal | None = argument(
        "how long the search may take before the best levels so far are published",
        Kind.NUMBER,
        default=None,
        above=0,
        unit="of seconds",
        example=60,
    )


class MultirelationalMethod(Method[Options, RelatedLevels]):
    """METHOD multirelational."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """The limits of levels of several tables, whose rows are linked by numbers."""
        return _LIMITS

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Codes along the hierarchies of each table. Raises PolicyError for people that cannot be left out."""
        if not task.requirements:
            raise PolicyError(
                f"{task.policy.policy} requires nothing of its several tables", hint="say REQUIRE k_anonymity(k => 5)"
            )
        if options.suppression:
            _require_suppressible(task, options.suppression)
        return Encoding()

    def choose(self, task: Task, options: Options) -> RelatedLevels:
        """The levels of least loss, or the best before the time limit. Raises as `best_levels` does."""
        return best_levels(task, options.suppression, TimedSearches(options.time_limit, task.watching))

    def reasons(
        self, task: Task, choice: RelatedLevels, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the levels of each table, who is left out, and what each reader could know."""
        return reasons_of(task, choice)

    def compile(self, task: Task, choice: RelatedLevels, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of each table."""
        return tables_of(task, choice, release_id)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Whether the tables belong together."""
        return structure_of(published)

    def wording(self, options: Options) -> Wording:
        """What a certificate says of the release, whose columns state their levels."""
        return Wording(None, {NAME: DEFINITION}, tables=((Reading.EXACT, Reading.LABEL, Reading.RESPONDENT),))


def _require_suppressible(task: Task, suppression: Decimal) -> None:
    """Raises PolicyError where leaving somebody out would change what is known of others."""
    known = list(by_known(task.requirements))
    hint = "say METHOD multirelational(suppression => 0)"
    for each in known:
        if not each.is_partition:
            raise PolicyError(
                f"suppression => {suppression} leaves people out, and with knows => {each.written} each of "
                "them is one among whom others hide",
                hint=f"{hint}, or require knows => 'values', which is stricter",
            )
    if len(known) > 1:
        raise PolicyError(
            f"suppression => {suppression} leaves people out by what is known of them, and the requirements "
            f"say {' and '.join(f'knows => {each.written}' for each in known)}",
            hint=hint,
        )
