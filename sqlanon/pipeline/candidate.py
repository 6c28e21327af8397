"""A table or view before it is published: where it is made, and what it will be called."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.temp_tables import Scratch
from sqlanon.inputs.source import own_object
from sqlanon.inputs.target_names import fragment_name

__all__ = ["Candidate", "candidate"]


@dataclass(frozen=True)
class Candidate:
    """A table or view before it is published: `stands` is its full name, `name` what it will be called."""

    fragment: str | None
    name: QualifiedName
    stands: QualifiedName


def candidate(scratch: Scratch, release: QualifiedName, fragment: str | None = None, number: int = 0) -> Candidate:
    """A name beside that of the release, which no table has."""
    beside = QualifiedName((release.parts[0], f"__sqlanon_candidate_{scratch.key}_{number}"))
    stands = own_object(scratch.engine, beside)
    return Candidate(fragment, fragment_name(release, fragment), stands)
