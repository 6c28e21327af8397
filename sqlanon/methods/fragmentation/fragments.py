"""Fragments: columns that must not be seen together are published in tables of their own.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations: respecting privacy in data publishing (2010). No value is changed; nothing
that is published says which rows of two fragments are one row of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.transformation import Fragmented
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.constraints import Sets, fragments_of, loss_of, rows_of_source

__all__ = ["KEEPS_CONSTRAINTS", "Options", "options", "solve"]

KEEPS_CONSTRAINTS = True


@dataclass(frozen=True)
class Options:
    """METHOD fragments, which takes no arguments."""


def options(arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the method's arguments; raises PolicyError for any."""
    if arguments:
        raise PolicyError(
            f"fragments has no argument {arguments[0][0]!r}",
            hint="write METHOD fragments, or METHOD fragments FRAGMENTS (zip, age), (disease)",
        )
    return Options()


def solve(engine: Engine, policy: BoundPolicy, named: Sets) -> Fragmented:
    """The fragments: those that the user `named`, or the fewest. Raises PolicyError where they cannot be published."""
    found = fragments_of(policy, named, "fragments")
    rows = rows_of_source(engine, policy)
    return Fragmented(
        found.fragments, bool(named), found.least, found.proven, rows, loss=loss_of(policy, found.fragments, rows, 0)
    )
