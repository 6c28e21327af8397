"""m-invariance: the releases of a series, in which everybody has the same values to choose from each time.

Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007). Rows are published in
buckets, as by Anatomy. Each bucket has m values or more, each once; some may be counterfeits, which no row has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Requirement, Role
from sqlanon.domain.report import Assumption, Measurement
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.base import Encoding, Figure, Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, OF_BUCKETS, Limits, Refusal
from sqlanon.methods.m_invariance.choice import Invariant
from sqlanon.methods.m_invariance.deal import Deal
from sqlanon.methods.m_invariance.ranges import RANGE_ROWS, ROWS
from sqlanon.methods.m_invariance.reasons import dealt_out
from sqlanon.methods.m_invariance.tables import COUNTERFEIT_TABLE, COUNTERFEITS, invariant_tables
from sqlanon.methods.m_invariance.verify import UNIQUE, verified_buckets, verified_ranges
from sqlanon.methods.shared.arguments import Kind, argument
from sqlanon.methods.shared.bucket_tables import BUCKET_TABLES, bucket_names, require_names
from sqlanon.methods.shared.loss_definitions import DEFINITIONS
from sqlanon.methods.shared.partition.solve import MOST_ATTRIBUTES, cuts_of, points_of
from sqlanon.methods.shared.partition.solve import Options as Mondrian
from sqlanon.methods.shared.random_worlds import of_buckets
from sqlanon.methods.shared.task import Task
from sqlanon.sources.source import qualified
from sqlanon.sql.release.multi_table_query import TablesQuery

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
        "how many values everybody has to choose from, at the least", Kind.WHOLE, least=2, most=1_000_000, example=3
    )
    changed: Literal["refuse", "new_signature"] = argument(
        "what becomes of respondents with another value than any that they had to choose from before",
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
    without_related=CAN,
    view=OF_BUCKETS.view,
    series=CAN,
    without_series=Refusal(
        "METHOD {method} gives respondents the same values to choose from as before, which only the ledger of a "
        "series knows",
        "begin one, CREATE SERIES name ON POLICY policy KEY 'variable', and write IN SERIES name behind the method",
    ),
    unconstrained=CAN,
    requirements=CAN,
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
    pseudonyms=Refusal(
        "m_invariance: publish => 'ranges' has counterfeits among the rows, which have no token, and {column} is a "
        "pseudonym",
        "leave PSEUDONYM out, or use publish => 'buckets'",
    ),
    min_level=_NO_LEVELS,
    max_level=_NO_LEVELS,
)


class MInvarianceMethod(Method[Options, Invariant]):
    """METHOD m_invariance."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """The limits of buckets of respondents who are known again."""
        return _RANGE_LIMITS if options.publish == "ranges" else _BUCKET_LIMITS

    def promises(self, options: Options) -> tuple[Requirement, ...]:
        """What a bucket keeps by itself: none of its values is likelier than 1/m."""
        return (Requirement("l_diversity", (("l", options.m), ("variant", "probabilistic"))),)

    def assumes(self, options: Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """What the figures of a release rest on; `sensitive` are its columns of that role."""
        return (of_buckets(sensitive),)

    def encoding(self, task: Task, options: Options) -> Encoding | None:
        """Ranks, where ranges are published; else None: values are published as they are.

        Raises PolicyError for other than one sensitive attribute, for names that clash, and for columns of which
        counterfeits have no value.
        """
        policy = task.policy
        if len(policy.sensitive) != 1:
            raise PolicyError(
                f"{policy.policy}: m_invariance is about one SENSITIVE column, and the policy has "
                f"{len(policy.sensitive)}",
                hint="mark one as SENSITIVE, and leave the others out or have them IDENTIFIER",
            )
        ranges = options.publish == "ranges"
        tables = [ROWS, COUNTERFEITS] if ranges else bucket_names(policy, [COUNTERFEITS])
        require_names(task.engine, "m_invariance", policy, qualified(task.engine, task.name), tables, free=not task.dry)
        if not ranges:
            return None
        if others := [bound.column for bound in policy.published if bound.role is Role.INSENSITIVE]:
            raise PolicyError(
                f"m_invariance: publish => 'ranges' has counterfeits among the rows, which have no {', '.join(others)}",
                hint="mark such columns as QUASI IDENTIFIER or IDENTIFIER, or use publish => 'buckets'",
                part=("policy",),
            )
        if len(policy.quasi_identifiers) > MOST_ATTRIBUTES:
            raise PolicyError(f"m_invariance: publish => 'ranges' cuts at most {MOST_ATTRIBUTES} quasi-identifiers")
        return Encoding(flat=True)

    def choose(self, task: Task, options: Options) -> Invariant:
        """The buckets. Raises PolicyError and PrivacyViolation as `Deal.invariant` does."""
        if task.signatures is None:
            raise InternalError("m_invariance is asked for a release outside of a series; nothing was published")
        cuts = cuts_of(task, points_of(task, Mondrian())) if options.publish == "ranges" else None
        deal = Deal(
            engine=task.engine,
            policy=task.policy,
            signatures=task.signatures(),
            scratch=task.scratch,
            m=options.m,
            respondent=_respondent(task.policy),
            new_signature=options.changed == "new_signature",
            cuts=cuts,
        )
        return deal.invariant()

    def reasons(self, task: Task, choice: Invariant, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): whose values stay, and how many counterfeits there are."""
        yield from (("solve", item, detail) for item, detail in dealt_out(choice))

    def compile(self, task: Task, choice: Invariant, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The tables of the rows, of the values unless rows have them, and of the numbers of counterfeits."""
        return invariant_tables(task.policy, choice, release_id, tokens)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Whether each bucket has m values or more, each once, and as many rows and counterfeits together.

        What several releases come to together is checked by the series.
        """
        measured = verified_ranges if options.publish == "ranges" else verified_buckets
        structure = measured(published, options.m)
        if options.changed == "new_signature":
            structure = replace(structure, measurements=(*structure.measurements, _changed(published)))
        return structure

    def wording(self, options: Options) -> Wording:
        """What a certificate says of the release."""
        unique = "Each bucket has this many values or more, and none of them twice."
        counterfeits = "As many values of the buckets are no row's as the table of counterfeits says."
        changed = (
            "This many respondents have another value than any that they had to choose from in earlier releases: "
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
    """The column of the respondents until the release is published: no released column has its name."""
    return free_name(_RESPONDENT, (bound.column for bound in policy.published))


def _changed(published: PublishedTables) -> Measurement:
    """How many respondents had other values to choose from before. Only the ledger knew of them, when it was made."""
    if isinstance(published.choice, Invariant):
        return Measurement(_CHANGED, None, None, float(published.choice.changed), True)
    known = [reached for reached in published.recorded if reached.question == _CHANGED]
    return Measurement(_CHANGED, None, None, known[0].achieved if known else None, bool(known))
