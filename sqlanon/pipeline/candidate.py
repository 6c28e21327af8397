"""A table or view before it is published: where it is made, and what it will be called."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName
from sqlanon.inputs.target_names import fragment_name

__all__ = ["Candidate", "candidate"]


@dataclass(frozen=True)
class Candidate:
    """A table or view before it is published: `stands` is where it is made, `name` what it will be called."""

    fragment: str | None
    name: QualifiedName
    stands: QualifiedName


def candidate(release: QualifiedName, fragment: str | None = None) -> Candidate:
    """A name beside that of the release, which no table has."""
    stands = QualifiedName((release.parts[0], "__sqlanon_candidate_" + secrets.token_hex(6)))
    return Candidate(fragment, fragment_name(release, fragment), stands)
