"""Fragments: columns that must not be seen together are published in tables of their own.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations: respecting
privacy in data publishing (2010). No value is changed; the tables do not show which rows of two fragments are one row
of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlanon.domain.explanation import Explanation
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.fragmentation.minimal_fragmentation import (
    FRAGMENT_TABLES,
    OF_FRAGMENTS,
    PUBLISHED,
    fragments_of,
    loss_of,
)
from sqlanon.methods.fragmentation.tables import Fragmented, apart, require_free_tables
from sqlanon.methods.fragmentation.tables import kept_apart as fragments_in_words
from sqlanon.methods.fragmentation.verify import FIGURES, kept_apart
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.task import Task, rows_of_source
from sqlanon.methods.shared.wording import DEFINITIONS
from sqlanon.sql.release.multi_table_query import TablesQuery


@dataclass(frozen=True)
class Options:
    """METHOD fragments, which takes no arguments."""


class FragmentsMethod(Method[Options, Fragmented]):
    """METHOD fragments: publishes sets of columns in separate tables, without a column that links their rows."""

    OPTIONS = Options

    def limits(self, options: Options) -> Limits:
        """Returns the common limits of the methods that publish fragments."""
        return OF_FRAGMENTS

    def choose(self, task: Task, options: Options) -> Fragmented:
        """Takes the fragments that the statement names, or finds the fewest. Raises PolicyError if they cannot be
        published.
        """
        policy, named = task.policy, task.sets
        fragmentation = fragments_of(policy, named, "fragments")
        rows = rows_of_source(task.engine, policy)
        loss = loss_of(policy, fragmentation.fragments, rows, 0)
        choice = Fragmented(
            fragmentation.fragments, bool(named), fragmentation.least, fragmentation.proven, rows, loss=loss
        )
        require_free_tables(task, choice)
        return choice

    def reasons(self, task: Task, choice: Fragmented, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail): the columns published together, and the suppressed rows."""
        yield from (("solve", item, detail) for item, detail in fragments_in_words(choice))

    def compile(self, task: Task, choice: Fragmented, release_id: str, tokens: Mapping[str, str]) -> TablesQuery:
        """The SELECT of each fragment's table."""
        return apart(task.policy, choice, release_id)

    def verify(self, published: PublishedTables, options: Options) -> Structure:
        """Counts the policy's CONFIDENTIAL and VISIBLE sets that the tables keep."""
        return kept_apart(published)

    def wording(self, options: Options) -> Wording:
        """Returns the texts that the certificate has about the release."""
        return Wording(PUBLISHED, DEFINITIONS, FIGURES, FRAGMENT_TABLES)
