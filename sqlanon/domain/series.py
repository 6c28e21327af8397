"""Releases that are made again: series, streams and jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName

# A series: releases of one policy, published one after the other, that may promise something together.


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
    """The values that the respondents of a source have had to choose from: those of their classes in a series.

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


# A stream: rows of a table that grows, published in classes no later than a given delay after they have arrived.


@dataclass(frozen=True)
class Stream:
    """A stream as the catalog has it.

    `order_column` is the column of the source that says when a row arrived. `columns` are those that are read, each
    with its type, as `published` are those of its table, where `quasi_identifiers` are labels. A `delay` that is a
    number counts rows that arrive later, a text is an interval of time. `salt` makes the digests of its respondents
    others than those of another stream. `batch` is the number of the last ADVANCE, `position` that of the last row
    that was read, and `watermark` the text of the moment before which all rows have been read, None before the first.
    With `moment_over` all rows of that moment have been, too: others of it may be some that were read, and deleted.
    """

    stream_id: str
    name: QualifiedName
    policy: str
    policy_fingerprint: str
    order_column: str
    columns: tuple[tuple[str, str], ...]
    published: tuple[tuple[str, str], ...]
    quasi_identifiers: tuple[str, ...]
    k: int
    delay: int | str
    reuse: bool
    salt: str
    batch: int = 0
    position: int = 0
    watermark: str | None = None
    moment_over: bool = False

    def __str__(self) -> str:
        return f"stream {self.name}"

    @property
    def order_type(self) -> str:
        """The type of the column that says when a row arrived, which is the first that is read."""
        return self.columns[0][1]

    def table(self, purpose: str) -> QualifiedName:
        """A table of the stream's state, beside the catalog's own."""
        return QualifiedName(("anon", f"stream_{purpose}_{self.stream_id}"))


@dataclass(frozen=True)
class Batch:
    """The numbers of rows that one ADVANCE has read and published, and of those that wait after it.

    A row is read once: then it waits, and it leaves in a class, under a label that was there, or withheld. Of the
    withheld ones `late_rows` came with a moment before one that had been read. `vanished_rows` were read and are not
    in the source any more. `digest` tells the rows that were published from others.
    """

    batch: int
    read_rows: int
    released_rows: int
    reused_rows: int
    withheld_rows: int
    late_rows: int
    vanished_rows: int
    waiting_rows: int
    classes: int
    digest: str = ""


# A job: a script that is run again and again, and what its last run to the end was on.


@dataclass(frozen=True)
class FinishedJob:
    """The last run of a job that came to its end.

    `script` is the SHA-256 of its text and of the versions of what runs it, `inputs` that of all rows that its
    statements read and of checks of their keys, empty where nobody can tell what they read. `releases` has the names
    of the releases that it made, with the identifiers that they had then, `exported` is the SHA-256 of the files that
    it exported. `finished_at` is UTC without a time zone.
    """

    name: str
    script: str
    inputs: str
    releases: tuple[tuple[str, str], ...] = ()
    exported: str = ""
    finished_at: datetime | None = None
