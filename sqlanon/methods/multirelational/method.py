"""Generalization of related tables: one level of its hierarchy for each attribute of all tables.

Nergiz, Clifton and Nergiz, Multirelational k-anonymity (2007). The source has a row for each person, and related tables
have any number of rows about each. People are counted, not rows. The release has the node of least loss among the nodes
that meet the requirements after leaving out at most a given fraction of the people, with all their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.release import Reading
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.base import Encoding, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, Limits, Refusal, only_on_duckdb
from sqlanon.methods.multirelational.nodes import DEFINITION, NAME, RelatedLevels
from sqlanon.methods.multirelational.search import best_levels, reasons_of, tables_of
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.lattice.timed_searches import TimedSearches
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import named
from sqlanon.sql.build.names import column
from sqlanon.sql.build.queries import anti_join, select
from sqlanon.sql.questions.models import by_known
from sqlanon.sql.release.multi_table_query import TablesQuery

_LIMITS = Limits(
    labels=CAN,
    related=CAN,
    view=Refusal(
        "a live view is one query, and {policy} has related tables, WITH TABLE {table}, whose rows are linked "
        "by random numbers of a release",
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
    shifts=CAN,
    pseudonyms=CAN,
    min_level=CAN,
    max_level=CAN,
    on_spark=only_on_duckdb("{policy} has related tables, whose rows are linked by random numbers"),
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
    """METHOD multirelational: publishes levels for a table of people and the tables related to it."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD multirelational."""
        return _LIMITS

    def encoding(self, task: Task, options: Options) -> Encoding:
        """Requests codes along the hierarchies of each table. Raises PolicyError if people cannot be left out."""
        if not task.requirements:
            raise PolicyError(f"{task.policy.policy} has no requirement", hint="write REQUIRE k_anonymity(k => 5)")
        if options.suppression:
            _require_suppressible(task, options.suppression)
        return Encoding()

    def choose(self, task: Task, options: Options) -> RelatedLevels:
        """Chooses the levels of least loss, or the best levels found before the time limit. Raises the errors of
        `best_levels`.
        """
        return best_levels(task, options.suppression, TimedSearches(options.time_limit, task.watching))

    def reasons(
        self, task: Task, choice: RelatedLevels, explained: Explanation | None
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the levels of each table, the people left out, and the smallest class for each
        reader.
        """
        return reasons_of(task, choice)

    def compile(self, task: Task, choice: RelatedLevels, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of each table."""
        return tables_of(task, choice, release_id, tokens)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that the tables fit together, as `structure_of` describes."""
        return structure_of(published)

    def wording(self, options: Options) -> Wording:
        """Returns the certificate's texts about the release, without a sentence on levels, because the columns state
        them.
        """
        return Wording(None, {NAME: DEFINITION}, tables=((Reading.EXACT, Reading.LABEL, Reading.RESPONDENT),))


def _require_suppressible(task: Task, suppression: Decimal) -> None:
    """Raises PolicyError if leaving out a person would change the knowledge about other people."""
    known = list(by_known(task.requirements))
    hint = "write METHOD multirelational(suppression => 0)"
    for each in known:
        if not each.is_partition:
            raise PolicyError(
                f"suppression => {suppression} leaves people out, and with knows => {each.written} other people rely "
                "on them to look alike",
                hint=f"{hint}, or require knows => 'values', which is stricter",
            )
    if len(known) > 1:
        raise PolicyError(
            f"suppression => {suppression} leaves people out by the readers' knowledge, and the requirements have "
            f"different knowledge, {' and '.join(f'knows => {each.written}' for each in known)}",
            hint=hint,
        )


def structure_of(published: PublishedTables) -> Structure:
    """Checks that the tables fit together: each row is about one published person, and no person is published twice.

    The numbers of rows are compared only while the release is made.
    """
    policy = published.policy
    if policy.entity is None:
        raise InternalError("a policy on several tables has no ENTITY")
    names = policy.tables_in_order(tuple(published.tables))
    if names is None:
        return Structure(misfit=f"its tables are {', '.join(published.tables)}")
    called = _number_of(published, names[0], policy.entity.name)
    people = published.tables[names[0]]
    rows, numbers, unknown = published.engine.rows(
        select(
            f.count(),
            f.count_distinct(column(called)),
            f.count() - f.count(column(called)),
            of=people,
        )
    )[0]
    if unknown or rows != numbers:
        return Structure(
            misfit=f"{counted(int(rows - numbers), 'row')} of {names[0]} are of nobody, or of somebody twice"
        )
    for name in names[1:]:
        same = column(called, "about").eq(column(called, "of_person"))
        joins = [anti_join(named(people, "of_person"), same)]
        nobody = select(f.count(), of=named(published.tables[name], "about"), joins=joins)
        ((number,),) = published.engine.rows(nobody)
        if number:
            return Structure(misfit=f"{counted(int(number), 'row')} of {name} are about nobody in {names[0]}")
    return Structure(misfit=_miscounted(published, names))


def _number_of(published: PublishedTables, table: str, called: str) -> str:
    """The column with the people's numbers, as the table spells it."""
    columns = published.engine.columns(select(exp.Star(), of=published.tables[table]))
    return next((name for name, _ in columns if same_name(name, called)), called)


def _miscounted(published: PublishedTables, names: Sequence[str]) -> str | None:
    """Names a table whose number of rows differs from the choice; None if there is none, or the choice is unknown."""
    if not isinstance(published.choice, RelatedLevels):
        return None
    released: Mapping[str, int] = published.choice.released
    for name in names:
        ((rows,),) = published.engine.rows(select(f.count(), of=published.tables[name]))
        if rows != released[name]:
            return f"{name} has {counted(int(rows), 'row')}, and {released[name]} were chosen"
    return None
