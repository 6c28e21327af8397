"""A stream: rows of a table that grows, published in classes no later than a given delay after they have arrived."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName


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
    """What one ADVANCE has read and published, in rows, and how many rows wait after it.

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
