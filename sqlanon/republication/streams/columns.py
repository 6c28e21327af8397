"""Reads the arguments of a stream, and binds the columns of its source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.catalog import migrations, streams
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.series import Stream
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, about
from sqlanon.methods.shared.arguments import Kind, argument, called, parsed
from sqlanon.republication.series.respondents import has_known_text
from sqlanon.sources.bind_policy import bind, policy_source
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import qualified
from sqlanon.sql.build.names import relation
from sqlanon.sql.cells.labels import listed_twice
from sqlanon.syntax.texts import typed_name

# The arguments of METHOD stream(k => ..., delay => ..., reuse => ...).


METHOD = "stream"


@dataclass(frozen=True)
class Options:
    """Checked arguments of a stream's method."""

    k: int = argument("each class has rows of at least this many different respondents", Kind.WHOLE, least=2)
    delay: int | str = argument(
        "the delay of a row: a number of later rows, or a time",
        Kind.SPAN,
        example=1000,
    )
    reuse: bool = argument(
        "a row that finds no class in time is published under the label of an earlier one that covers it",
        Kind.FLAG,
        default=True,
    )


def options_of(name: str, arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the arguments of a stream. Raises PolicyError for another method, and for a delay that is too short for a
    class of k respondents.
    """
    if fold(name) != METHOD:
        raise PolicyError(
            f"a stream is published by METHOD {METHOD}, not by {name}",
            hint=f"write METHOD {called(METHOD, {'k': 5, 'delay': 1000})}; CREATE ANONYMIZED TABLE takes other methods",
            part=("method", name),
        )
    options = parsed(METHOD, Options, arguments)
    if isinstance(options.delay, int) and options.delay < options.k:
        raise PolicyError(
            f"{METHOD}: with delay => {options.delay} a row never meets the {options.k - 1} others that "
            f"k => {options.k} asks for",
            hint=f"a delay is {options.k} rows or more, and a longer delay gives narrower classes",
            part=("method", METHOD, "delay"),
        )
    return options


# The columns that a stream reads from its source, and the conditions on its policy.


BATCH = "batch"

_TIMESTAMP = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE")
_TIMESTAMP_WITH_ZONE = "TIMESTAMP WITH TIME ZONE"
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\d+\)")


def is_timestamp(kind: str) -> bool:
    """Whether a type is a date or a timestamp, to which an INTERVAL can be added."""
    return bool(_TIMESTAMP.fullmatch(kind))


@dataclass(frozen=True)
class Columns:
    """The columns that a stream reads: the timestamp of arrival, and the policy's attributes except
    IDENTIFIERs.

    The stream's tables call them `value_0` (the timestamp), `value_1`, and so on.
    """

    policy: BoundPolicy
    order_column: str
    order_type: str

    @property
    def attributes(self) -> tuple[BoundAttribute, ...]:
        """The attributes that are read: the respondent, and all published attributes."""
        return tuple(b for b in self.policy.attributes if b.role is not Role.IDENTIFIER)

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """The names and the types of the columns that are read, with the timestamp of arrival first."""
        return ((self.order_column, self.order_type), *((b.column, b.published_type) for b in self.attributes))

    def value(self, bound: BoundAttribute) -> str:
        """Returns the name of an attribute's column in the stream's tables."""
        return f"value_{self.attributes.index(bound) + 1}"


def require_admitted(policy: Policy, options: Options) -> None:
    """Raises PolicyError for a policy with a requirement or a clause that a stream does not support; does not read a
    row.
    """
    parts: dict[str, object] = {"PIVOT": policy.pivot, "AGAINST": policy.against, "CONFIDENTIAL": policy.confidential}
    parts["JOINED"] = policy.joined
    for name in [*(name for name, part in parts.items() if part), *(["VISIBLE"] if policy.visible else [])]:
        raise PolicyError(
            f"{policy} says {name}, which streams do not support",
            hint="make a policy without it for the stream, or a release with CREATE ANONYMIZED TABLE",
            part=("policy",),
        )
    if secret := [a.name for a in policy.attributes if a.pseudonym]:
        raise PolicyError(
            f"a stream does not publish pseudonyms ({', '.join(secret)}): they would link the rows of a respondent "
            "through all of its classes",
            hint="leave PSEUDONYM, MASK and SHIFT out",
            part=("policy",),
        )
    if coarse := [a.name for a in policy.attributes if a.is_coarse]:
        raise PolicyError(
            f"a stream recognizes rows by their values, and labels of {coarse[0]} change with their hierarchy",
            hint="publish the labels as a column of the policy's query, ON (SELECT ...)",
            part=("policy",),
        )
    for requirement in resolve_requirements(policy):
        if requirement.on and requirement.question.name == "k_anonymity":
            raise PolicyError(
                f"{policy} requires {requirement}, but the classes of a stream have all quasi-identifiers",
                hint="leave on => (...) out: k_anonymity of all of them has it of some of them, too",
                part=("policy",),
            )
        if requirement.question_name != "k_anonymity":
            raise PolicyError(
                f"{policy}: a stream supports only k_anonymity, not {requirement}: rows published later could violate "
                "it in a class that is already published",
                hint=f"a policy for a stream requires k_anonymity(k => {options.k}), or less",
                part=("policy",),
            )
        if requirement.required > options.k:
            raise PolicyError(
                f"{policy} requires {requirement}, and METHOD {METHOD} has k => {options.k}",
                hint=f"write METHOD {METHOD}(k => {requirement.required:.0f}, ...), or require less",
                part=("method", METHOD, "k"),
            )


def bound_columns(
    engine: Engine,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    order_column: str,
    delay: int | str,
    temp: TempTables,
    *,
    copy: bool = True,
) -> Columns:
    """Binds the columns of the source as it is now; copies its rows first, unless it is a table or `copy` is false.

    Raises PolicyError for a column that cannot be read in order, recognized again or published, and DataError for a
    hierarchy that lists a value under several texts.
    """
    source = policy_source(engine, policy, temp, copy=copy)
    bound = bind(policy, source, dict(hierarchies), fingerprint="")
    known = {fold(name): (name, without_enums(kind)) for name, kind in source.columns}
    with about("order", order_column):
        if fold(order_column) not in known:
            raise PolicyError(
                f"the source {policy.source.called} has no column {order_column}, which says when a row arrived",
                hint=nearest(order_column, [name for name, _ in known.values()])
                or f"it has {', '.join(name for name, _ in known.values())}",
            )
        name, kind = known[fold(order_column)]
        _require_order(bound, name, kind, delay)
    _require_columns(bound)
    for b in bound.quasi_identifiers:
        _require_readable(engine, b)
    return Columns(bound, name, kind)


def _require_order(policy: BoundPolicy, name: str, kind: str, delay: int | str) -> None:
    """Raises PolicyError unless a column orders the rows, and the release does not publish this order."""
    if not is_timestamp(kind) and not _NUMBER.fullmatch(kind):
        raise PolicyError(
            f"rows arrive in the order of {name}, and it is {kind}",
            hint="ORDER BY takes a DATE, a TIMESTAMP or a whole number: cast it in a query, ON (SELECT ...)",
        )
    if isinstance(delay, str) and not is_timestamp(kind):
        raise PolicyError(
            f"a delay of {delay} is one of time, and {name} is {kind}",
            hint="ORDER BY a DATE or a TIMESTAMP, or give the delay as a number of rows: delay => 1000",
        )
    for b in policy.published:
        if b.column == name and b.role is not Role.QUASI_IDENTIFIER:
            raise PolicyError(
                f"{name} identifies the rows of the source, and would be published unchanged",
                hint=f"make {name} a QUASI IDENTIFIER, or leave it out of the policy: ALTER POLICY ... DROP {name}",
            )


def _require_columns(policy: BoundPolicy) -> None:
    """Raises PolicyError for a column name that the stream uses, and for types whose values have several texts."""
    for b in policy.published:
        if same_name(b.column, BATCH):
            raise PolicyError(
                f"a stream has a column {BATCH} of its own, and the policy publishes one of that name",
                hint="give it another name in a query, ON (SELECT ...)",
                part=("policy",),
            )
        if _TIMESTAMP_WITH_ZONE in b.published_type and b.published_type != _TIMESTAMP_WITH_ZONE:
            raise PolicyError(
                f"a stream cannot recognize rows by {b.column}: texts of {b.published_type} depend on the time zone "
                "of the session",
                hint="cast it in a query, ON (SELECT ...), or leave it out of the policy",
                part=("policy",),
            )
    entity = policy.entity
    if entity is not None and not has_known_text(entity.published_type, rounded=False):
        raise PolicyError(
            f"a stream cannot recognize {entity.column}, because equal values of {entity.published_type} may have "
            "different texts",
            hint=f"cast it in a query, ON (SELECT CAST({entity.column} AS VARCHAR) AS {entity.column}, ...)",
            part=("policy",),
        )


def _require_readable(engine: Engine, bound: BoundAttribute) -> None:
    """Raises DataError for a hierarchy with contradictory labels for a value."""
    if not bound.stored or bound.published_type == "VARCHAR":
        return
    twice = listed_twice(bound, relation(("anon", "hierarchy_value"))).limit(1)
    if engine.rows(twice):
        assert bound.hierarchy is not None
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lists values of {bound.column}, of type {bound.published_type}, "
            "under several texts",
            hint=f"keep one text of each, and run CREATE OR REPLACE HIERARCHY {typed_name(bound.hierarchy.name)} again",
            part=("policy",),
        )


# A stream that a statement names, as the catalog has it.


def find_stream(engine: Engine, name: QualifiedName) -> Stream | None:
    """Finds the stream of this name; None if there is no such stream, or no catalog."""
    return streams.find(engine, qualified(engine, name)) if migrations.ready(engine) else None
