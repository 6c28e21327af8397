"""A series: releases of one policy, published one after the other, that may promise something together."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName


@dataclass(frozen=True)
class SeriesRelease:
    """A release of a series: the first has position 1. `digest` tells its rows of the ledger from others.

    So does `checksum`, sooner, and in one version of the engine alone; there is none where it is not to be believed.
    """

    position: int
    release_id: str
    name: QualifiedName
    members: int
    digest: str
    checksum: str | None = None


@dataclass(frozen=True)
class Series:
    """A series as the catalog has it.

    `entity` is the column of the respondents, whose keyed digests the ledger has, and `attributes` are the sensitive
    ones, each with its type. The key is in the environment variable `key_variable`, and
    `key_check` tells it from another. `requirements` are about all releases together.
    """

    series_id: str
    name: str
    policy: str
    entity: str
    entity_type: str
    attributes: tuple[tuple[str, str], ...]
    key_variable: str
    key_check: str
    requirements: tuple[Requirement, ...] = ()
    releases: tuple[SeriesRelease, ...] = ()
    digest: str = ""

    def __str__(self) -> str:
        return f"series {self.name}"


@dataclass(frozen=True)
class Signatures:
    """Which values the respondents of a source have had to choose from: those of their classes in a series.

    Of each respondent who is in a release of the series, `members` is a table of entity and signature, a number, in the
    latest of these. `values` has the signature, its values, and n, how often a class has the value at the most.
    `known_values` has each value that the series has had, which has this number of `releases`. `required` is
    what is required of all of them together, in words; empty for nothing.
    """

    members: str
    values: str
    known_values: str
    releases: int
    required: str
