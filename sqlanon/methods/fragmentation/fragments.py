"""Fragments: columns that must not be seen together are published in tables of their own.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations: respecting privacy in data publishing (2010). No value is changed; nothing
that is published says which rows of two fragments are one row of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.domain.policy import Requirement
from sqlanon.domain.report import Assumption
from sqlanon.domain.values import Value
from sqlanon.methods.base import PublishedTables, Structure, Task, Wording
from sqlanon.methods.fragmentation.choice import Fragmented
from sqlanon.methods.fragmentation.constraints import fragments_of, limits_of_fragments, loss_of
from sqlanon.methods.fragmentation.reasons import kept_apart as said_of
from sqlanon.methods.fragmentation.tables import apart, require_free_tables
from sqlanon.methods.fragmentation.verify import FIGURES, kept_apart
from sqlanon.methods.fragmentation.wording import FRAGMENT_TABLES, PUBLISHED
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.arguments import parsed
from sqlanon.methods.shared.loss_definitions import DEFINITIONS
from sqlanon.methods.shared.source_rows import rows_of_source
from sqlanon.sqlgen.release.multi_table_query import TablesQuery

__all__ = [
    "OPTIONS",
    "Options",
    "assumes",
    "choose",
    "compile",
    "encoding",
    "limits",
    "options",
    "promises",
    "reasons",
    "verify",
    "why",
    "wording",
]


@dataclass(frozen=True)
class Options:
    """METHOD fragments, which takes no arguments."""


OPTIONS = Options


def options(arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the method's arguments; raises PolicyError for any."""
    return parsed("fragments", Options, arguments)


def promises(_: Options) -> tuple[Requirement, ...]:
    """Nothing of classes: what is CONFIDENTIAL is kept apart, which `verify` counts."""
    return ()


def assumes(_: Options, __: Sequence[str]) -> tuple[Assumption, ...]:
    """Nothing: whichever rows of two tables belong together, no table has all columns of a CONFIDENTIAL set."""
    return ()


def limits(_: Options) -> Limits:
    """What fragments can promise."""
    return limits_of_fragments()


def encoding(_: Task, __: Options) -> None:
    """None: values are published as they are."""
    return


def choose(task: Task, _: Options) -> Fragmented:
    """The fragments: those that the user named, or the fewest. Raises PolicyError where they cannot be published."""
    policy, named = task.policy, task.sets
    fragmentation = fragments_of(policy, named, "fragments")
    rows = rows_of_source(task.engine, policy)
    loss = loss_of(policy, fragmentation.fragments, rows, 0)
    choice = Fragmented(
        fragmentation.fragments, bool(named), fragmentation.least, fragmentation.proven, rows, loss=loss
    )
    require_free_tables(task, choice)
    return choice


def why(_: Task, __: Fragmented) -> None:
    """None: nothing else was looked at."""
    return


def reasons(_: Task, choice: Fragmented, __: None) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): which columns are published together, and how loosely they are associated."""
    yield from (("solve", item, detail) for item, detail in said_of(choice))


def compile(task: Task, choice: Fragmented, release_id: str, _: Mapping[str, str]) -> TablesQuery:
    """A table for each fragment, and the association where rows were put into groups."""
    return apart(task.policy, choice, release_id)


def verify(published: PublishedTables, _: Options) -> Structure:
    """How many of the policy's sets the tables keep."""
    return kept_apart(published)


def wording(_: Options) -> Wording:
    """What a certificate says of the release."""
    return Wording(PUBLISHED, DEFINITIONS, FIGURES, FRAGMENT_TABLES)
