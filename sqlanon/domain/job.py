"""A job: a script that is run again and again, and what its last run to the end was on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
