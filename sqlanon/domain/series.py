"""Releases that are made again: series, streams and jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName

# A series: releases of one policy, published one after the other, that may promise something together.


@dataclass(frozen=True)
class SeriesRelease:
    """A release of a series; the first release has position 1. `digest` identifies its rows in the ledger.

    `checksum` identifies them, too. It is faster, but valid only in one version of the engine; it is None if it is not
    trusted.
    """

    position: int
    release_id: str
    name: QualifiedName
    members: int
    digest: str
    checksum: str | None = None


@dataclass(frozen=True)
class Series:
    """A series as the catalog stores it.

    `entity` is the column of the respondents, whose keyed digests are in the ledger. `attributes` are the sensitive
    attributes, each with its type. `key_variable` names the environment variable with the key, and `key_check`
    distinguishes the key from others. `requirements` are about all releases together.
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
    """The signatures of a source's respondents: the sensitive values of their classes.

    `members` is a table of entity and signature: for each respondent of the series, it has the number of the signature
    in their latest release. `values` is a table of the signature, its values, and n, the largest number of times that a
    class has the value. `known_values` is a table of all values that occurred in the series, which has `releases`
    releases. `required` is the requirement on all releases together in words; it is empty if there is none.
    """

    members: str
    values: str
    known_values: str
    releases: int
    required: str


# A stream: rows of a table that grows, published in classes no later than a given delay after they have arrived.


@dataclass(frozen=True)
class Stream:
    """A stream as the catalog stores it.

    `order_column` is the column of the source that says when a row arrived. `columns` are the columns that are read,
    each with its type, and `published` the columns of the stream's table, where `quasi_identifiers` are labels. A
    `delay` that is a number counts rows that arrive later; a text is an interval of time. `salt` makes the digests of
    respondents differ between streams. `batch` is the number of the last ADVANCE, and `position` the number of the last
    row read. `watermark` is the text of the timestamp before which all rows have been read, or None before the first
    reading. If `moment_over` is true, further rows with this timestamp are late, because each might be a deleted row
    that came back.
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
        """The type of `order_column`, which is the first of `columns`."""
        return self.columns[0][1]

    def table(self, purpose: str) -> QualifiedName:
        """Returns the name of a table with the stream's state, in the catalog's schema."""
        return QualifiedName(("anon", f"stream_{purpose}_{self.stream_id}"))


@dataclass(frozen=True)
class Batch:
    """The numbers of rows that one ADVANCE read and published, and the number of rows that are waiting after it.

    A row is read once. It then waits, and leaves in a class, under an existing label, or as a withheld row. `late_rows`
    of the withheld rows have a timestamp before that of a row that was read earlier. `vanished_rows` were read and are
    no longer in the source. `digest` identifies the published rows.
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


# A job: a script that is run repeatedly, and the inputs of its last complete run.


@dataclass(frozen=True)
class FinishedJob:
    """The last complete run of a job.

    `script` is the SHA-256 of its text and of the versions of the software that ran it. `inputs` is the SHA-256 of all
    rows that its statements read and of checks of their keys, which is empty if the inputs are unknown. `releases` has
    the names of the releases that it made, with their identifiers at that time, and `exported` is the SHA-256 of the
    files that it exported. `finished_at` is UTC without a time zone.
    """

    name: str
    script: str
    inputs: str
    releases: tuple[tuple[str, str], ...] = ()
    exported: str = ""
    finished_at: datetime | None = None
