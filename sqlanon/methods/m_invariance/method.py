"""m-invariance: releases of a series in which each respondent has the same candidate values each time.

Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007). Rows are published in
buckets, as by Anatomy. Each bucket has at least m different values; some may be counterfeits, which belong to no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Requirement, Role
from sqlanon.domain.release import Assumption, Measurement, Reading
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.base import Encoding, Figure, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, OF_BUCKETS, Limits, Refusal
from sqlanon.methods.m_invariance.deal import Deal
from sqlanon.methods.m_invariance.ranges import RANGE_ROWS, ROWS, Invariant, ranges_table, step
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.bucket_tables import (
    BUCKET_TABLES,
    BUCKETS,
    QUASI_IDENTIFIERS,
    bucket_names,
    require_names,
    rows_table,
    sensitive_names,
    values_table,
)
from sqlanon.methods.shared.partition.solve import MOST_ATTRIBUTES, cuts_of, points_of
from sqlanon.methods.shared.partition.solve import Options as Mondrian
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import DEFINITIONS, loss_text, of_buckets
from sqlanon.sources.source import qualified
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, big, entry, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

_CHANGED = "changed_values"
_RESPONDENT = "__sqlanon_respondent"
_PAPER = "Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007)"
_PUBLISHED = (
    "The quasi-identifiers are the source's own values, so who is in the table can be told. Sensitive values are in a "
    "table of their own, by bucket, each once. Some of them may be counterfeits, which no row has: how many each "
    "bucket has is in a third table, and which they are is not published."
)

_IN_RANGES = (
    "Each row shows the ranges of the values that the people of its bucket have, and a sensitive value that somebody "
    "of the bucket may have. Some rows may be counterfeits, which are nobody's: how many each bucket has is in a "
    "second table, and which they are is not published."
)


@dataclass(frozen=True)
class Options:
    """METHOD m_invariance(m, changed, publish)."""

    m: int = argument(
        "the least number of candidate values of each respondent", Kind.WHOLE, least=2, most=1_000_000, example=3
    )
    changed: Literal["refuse", "new_signature"] = argument(
        "the treatment of respondents whose new value is not among their earlier candidate values",
        Kind.CHOICE,
        default="refuse",
        choices=("refuse", "new_signature"),
    )
    publish: Literal["buckets", "ranges"] = argument(
        "whether rows show their own values and their buckets the sensitive ones, or rows the ranges of their buckets, "
        "and counterfeits are rows among them",
        Kind.CHOICE,
        default="buckets",
        choices=("buckets", "ranges"),
    )


_BUCKET_LIMITS = Limits(
    labels=CAN,
    without_related=CAN,
    view=OF_BUCKETS.view,
    series=CAN,
    without_series=Refusal(
        "METHOD {method} gives respondents the same signature as before, which only the ledger of a series knows",
        "begin one, CREATE SERIES name ON POLICY policy KEY 'variable', and write IN SERIES name behind the method",
    ),
    unconstrained=CAN,
    requirements=CAN,
    shifts=CAN,
    respondents=CAN,
    pseudonyms=CAN,
    max_level=CAN,
    jointly=Refusal(
        "METHOD {method} cannot meet {requirement}: it is about several sensitive columns, and buckets have the "
        "values of one",
        "leave out jointly, and mark one column as SENSITIVE",
    ),
)
_NO_LEVELS = Refusal(
    "m_invariance: publish => 'ranges' has no levels, and {column} has a MIN LEVEL or MAX LEVEL",
    "leave it out of the policy",
)
_RANGE_LIMITS = replace(
    _BUCKET_LIMITS,
    shifts=Refusal(
        "m_invariance: publish => 'ranges' adds counterfeits to the rows, and counterfeits have no respondent, but "
        "{column} has SHIFT",
        "leave SHIFT out, or use publish => 'buckets'",
    ),
    pseudonyms=Refusal(
        "m_invariance: publish => 'ranges' adds counterfeits to the rows, and counterfeits have no token, but {column} "
        "is a pseudonym",
        "leave {clause} out, or use publish => 'buckets'",
    ),
    min_level=_NO_LEVELS,
    max_level=_NO_LEVELS,
)


class MInvarianceMethod(Method[Options, Invariant]):
    """METHOD m_invariance: publishes buckets whose candidate values a respondent keeps in all releases of a series."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """Returns the limits of METHOD m_invariance, which depend on `publish`."""
        return _RANGE_LIMITS if options.publish == "ranges" else _BUCKET_LIMITS

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """Returns the promise of each bucket: none of its values is likelier than 1/m."""
        return (Requirement("l_diversity", (("l", options.m), ("variant", "probabilistic"))),)

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumptions behind the figures of a release; `sensitive` are its sensitive columns."""
        return (of_buckets(sensitive),)

    def encoding(self, task: Task, options: Options) -> Encoding | None:
        """Encodes values as ranks if ranges are published; otherwise returns None.

        Raises PolicyError unless there is one sensitive attribute, for conflicting names, and for columns in which
        counterfeits would have no value.
        """
        policy = task.policy
        if len(policy.sensitive) != 1:
            raise PolicyError(
                f"{policy.policy}: m_invariance needs exactly one SENSITIVE column, and the policy has "
                f"{len(policy.sensitive)}",
                hint="mark one as SENSITIVE, and leave the others out or have them IDENTIFIER",
            )
        for bound in policy.published:
            if bound.role is Role.SENSITIVE and bound.attribute.is_shifted:
                raise PolicyError(
                    f"{policy.policy}: m_invariance shows each row beside its quasi-identifiers as they are, and "
                    f"{bound.column} is SENSITIVE: its date would be known to within the width of its SHIFT",
                    hint=f"leave it out, or write {bound.column} INSENSITIVE SHIFT (...) if readers may learn that",
                    part=("column", bound.attribute.name, "shift"),
                )
        ranges = options.publish == "ranges"
        tables = [ROWS, COUNTERFEITS] if ranges else bucket_names(policy, [COUNTERFEITS])
        require_names(task.engine, "m_invariance", policy, qualified(task.engine, task.name), tables, free=not task.dry)
        if not ranges:
            return None
        if others := [bound.column for bound in policy.published if bound.role is Role.INSENSITIVE]:
            raise PolicyError(
                f"m_invariance: publish => 'ranges' adds counterfeits to the rows, and counterfeits have no "
                f"{', '.join(others)}",
                hint="mark such columns as QUASI IDENTIFIER or IDENTIFIER, or use publish => 'buckets'",
                part=("policy",),
            )
        if len(policy.quasi_identifiers) > MOST_ATTRIBUTES:
            raise PolicyError(f"m_invariance: publish => 'ranges' cuts at most {MOST_ATTRIBUTES} quasi-identifiers")
        return Encoding(flat=True)

    def choose(self, task: Task, options: Options) -> Invariant:
        """Makes the buckets. Raises PolicyError and PrivacyViolation as `Deal.invariant` does."""
        if task.signatures is None:
            raise InternalError("m_invariance is asked for a release outside of a series; nothing was published")
        cuts = cuts_of(task, points_of(task, Mondrian())) if options.publish == "ranges" else None
        deal = Deal(
            engine=task.engine,
            policy=task.policy,
            signatures=task.signatures(),
            temp=task.temp,
            m=options.m,
            respondent=_respondent(task.policy),
            new_signature=options.changed == "new_signature",
            cuts=cuts,
        )
        return deal.invariant()

    def reasons(self, task: Task, choice: Invariant, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the respondents who keep their values, the newcomers, and the counterfeits."""
        yield from (("solve", item, detail) for item, detail in assignment_in_words(choice))

    def compile(self, task: Task, choice: Invariant, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECTs of the tables: rows, values (unless the rows have them), and numbers of counterfeits."""
        return invariant_tables(task.policy, choice, release_id, tokens)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Checks that each bucket has at least m different values, and as many values as rows and counterfeits
        together.

        The series itself checks several releases together.
        """
        measured = verified_ranges if options.publish == "ranges" else verified_buckets
        structure = measured(published, options.m)
        if options.changed == "new_signature":
            structure = replace(structure, measurements=(*structure.measurements, _changed(published)))
        return structure

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        unique = "Each bucket has at least this many values, and no value twice."
        counterfeits = "As many values of the buckets are no row's as the table of counterfeits says."
        changed = (
            "This many respondents have a value that was not in their signature in earlier releases: "
            "nothing is promised of them, nor of those who shared a bucket with them."
        )
        if options.publish == "ranges":
            counterfeits = "This many rows are nobody's, as the table of counterfeits says: of no bucket all."
        figures = {
            UNIQUE: Figure(unique, _PAPER, parameter="m"),
            COUNTERFEITS: Figure(counterfeits, _PAPER),
            _CHANGED: Figure(changed, _PAPER, "the ledger of the series, when the release was made"),
        }
        if options.publish == "ranges":
            return Wording(_IN_RANGES, DEFINITIONS, figures, (RANGE_ROWS, COUNTERFEIT_TABLE))
        return Wording(_PUBLISHED, DEFINITIONS, figures, (*BUCKET_TABLES, COUNTERFEIT_TABLE))


def _respondent(policy: BoundPolicy) -> str:
    """A name for the respondents' column that no published column has."""
    return free_name(_RESPONDENT, (bound.column for bound in policy.published))


def _changed(published: PublishedTables) -> Measurement:
    """Counts the respondents with a value other than their former candidates, from the choice or the recorded
    measurement.
    """
    if isinstance(published.choice, Invariant):
        return Measurement(_CHANGED, None, None, float(published.choice.changed), True)
    known = [reached for reached in published.recorded if reached.question == _CHANGED]
    return Measurement(_CHANGED, None, None, known[0].achieved if known else None, bool(known))


def assignment_in_words(choice: Invariant) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the respondents who keep their values, the newcomers, and the counterfeits."""
    yield "respondents", f"{choice.staying} keep their signature, {choice.newcomers} are newcomers"
    if choice.changed:
        who = "1 has" if choice.changed == 1 else f"{choice.changed} have"
        yield (
            "changed values",
            f"{who} a value that was not in their signature: nothing is promised of them, nor of those who were "
            "in a bucket with them",
        )
    yield "buckets", f"{choice.buckets}, with {counted(choice.counterfeits, 'counterfeit')}"
    yield "suppressed rows", f"0 of {choice.rows}"
    if choice.ranges is not None:
        yield "granularity loss", f"{loss_text(choice.loss)}, not proven to be the least"


# The figures of an m-invariant release, recomputed from its tables.

UNIQUE = "m_uniqueness"
_MISFIT = "some buckets have other numbers of counterfeits than are stated"


def verified_buckets(published: PublishedTables, m: int) -> Structure:
    """Checks that each bucket has at least m different values, and as many values as rows and counterfeits together."""
    [values] = published.values.values()
    tables = {
        "row_of_bucket": _all(published.tables[QUASI_IDENTIFIERS]),
        "values_of_bucket": _all(published.tables[values.table]),
        "counterfeits_of_bucket": _all(published.tables[COUNTERFEITS]),
    }
    stated, counterfeits, misfits = map(int, published.engine.rows(step("fit", tables))[0])
    of_buckets = Measurement(COUNTERFEITS, None, float(stated), float(counterfeits), stated == counterfeits)
    return Structure((_unique(published, tables, m), of_buckets), _MISFIT if misfits else None)


def verified_ranges(published: PublishedTables, m: int) -> Structure:
    """Checks that each bucket has at least m rows with different values, equal ranges, and at least one real
    respondent.

    Counterfeit rows are known only while the release is made; then their number must equal the stated one.
    """
    [values] = published.values.values()
    rows, choice = published.tables[ROWS], published.choice
    respondent = choice.respondent if isinstance(choice, Invariant) else None
    named = (values.value, BUCKET, respondent)
    names = [name for name, _ in published.engine.columns(select(exp.Star(), of=rows))]
    ranges = exp.Struct(expressions=[entry(name, column(name)) for name in names if name not in named])
    nobody = exp.Null() if respondent is None else big(is_null(column(respondent)))
    rows_shown = select(column(BUCKET), alias(ranges, "ranges"), alias(nobody, "nobody"), of=rows)
    value = select(column(BUCKET), alias(column(values.value), VALUE), alias(big(literal(1)), COUNT))
    tables = {
        "row_of_bucket": rows_shown,
        "values_of_bucket": extend(value, of=rows),
        "counterfeits_of_bucket": _all(published.tables[COUNTERFEITS]),
    }
    stated, misfits = map(int, published.engine.rows(step("rows_fit", tables))[0])
    known = [reached.achieved for reached in published.recorded if reached.question == COUNTERFEITS]
    required = known[0] if known else float(stated)
    of_buckets = Measurement(COUNTERFEITS, None, required, float(stated), required == stated)
    return Structure((_unique(published, tables, m), of_buckets), _MISFIT if misfits else None)


def _unique(published: PublishedTables, tables: Mapping[str, exp.Query], m: int) -> Measurement:
    least, once = published.engine.rows(step("unique", tables))[0]
    achieved = None if least is None else float(least) if once else 1.0
    return Measurement(UNIQUE, None, float(m), achieved, achieved is None or achieved >= m)


def _all(table: exp.Table | exp.Subquery) -> exp.Select:
    return select(exp.Star(), of=table)


# How the columns in the table of counterfeits are read.
COUNTERFEIT_TABLE = (Reading.BUCKET, Reading.COUNTERFEITS)

# The name of the table, and of its column.
COUNTERFEITS = "counterfeits"


def invariant_tables(policy: BoundPolicy, choice: Invariant, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
    """The SELECTs of the rows, the values of each bucket, and the number of its counterfeits, which no table
    identifies.

    If buckets have ranges, rows and counterfeits are in one table, each with its value.
    """
    if choice.ranges is not None:
        tables = (ranges_table(policy, choice), _counterfeits(choice))
        return TablesQuery(policy, release_id, tables, tokens, choice.respondent)
    [sensitive] = policy.sensitive
    rows = rows_table(policy, choice.rows_in_buckets, tokens, None, choice.respondent)
    once = select(column("bucket"), column("code"), alias(big(literal(1)), "n"), of=relation(choice.in_bucket))
    name = sensitive_names([sensitive.column])[sensitive.column]
    values = values_table(sensitive, name, once, choice.codes, ordered=True)
    return TablesQuery(policy, release_id, (rows, values, _counterfeits(choice)), tokens, choice.respondent)


def _counterfeits(choice: Invariant) -> PublishedTable:
    count = alias(f.count(), COUNTERFEITS)
    query = select(alias(column("bucket"), BUCKET), count, of=relation(choice.in_bucket))
    extend(query, where=[is_null(column("row_no"))], group_by=[column("bucket")])
    extend(query, order_by=[ascending(column("bucket"))])
    columns = (BUCKETS, PublishedColumn(COUNTERFEITS, Role.INSENSITIVE, Reading.COUNTERFEITS))
    return PublishedTable(COUNTERFEITS, columns, query, ordered=True)
