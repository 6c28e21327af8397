"""What a release is made from whose tables have their own SELECTs: several, or one.

A table's name is the suffix of the release's, as `qi` is in `hospital_qi`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.sql.classes.buckets import BucketRows, BucketValues, bucket_rows, values_of_table


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a published table, how it is read, and the attribute behind it where there is one.

    `level` is that of the attribute's hierarchy if all rows have the same.
    """

    name: str
    role: Role
    reading: Reading
    bound: BoundAttribute | None = None
    level: int | None = None


@dataclass(frozen=True)
class PublishedTable:
    """One of the tables, whose `name` is the suffix of the release's name, None for the only one of a release.

    `query` gives its rows in any order; if `ordered`, in the order of their own values, which tells nothing more. The
    rows are published in the order of the column `by`, if there is one, and else in a random order. `words` are the
    columns that `query` gives as words of a dictionary, None where nobody has looked for them.
    """

    name: str | None
    columns: tuple[PublishedColumn, ...]
    query: exp.Select
    ordered: bool = False
    by: str | None = None
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TablesQuery:
    """What a release of tables is made from; the first of them has a row for each row of the source.

    `tokens` maps a column to a table of value and token. `respondent` is a column of the first table's query that
    has the respondents, for the ledger of a series: it is not published.
    """

    policy: BoundPolicy
    release_id: str
    tables: tuple[PublishedTable, ...]
    tokens: Mapping[str, str] = field(default_factory=dict)
    respondent: str | None = None

    @property
    def is_one_table(self) -> bool:
        """Whether there is one table, which has the release's own name."""
        return self.tables[0].name is None

    @property
    def values(self) -> dict[str, BucketValues]:
        """Where the values of each sensitive attribute are."""
        by_attribute: dict[str, BucketValues] = {}
        for table in self.tables:
            columns = [(part.name, part.bound.column if part.bound else None, part.reading) for part in table.columns]
            sensitive = [p.bound.column for p in table.columns if p.bound and p.role is Role.SENSITIVE]
            by_attribute |= values_of_table(table.name or "", columns, sensitive)
        return by_attribute

    @property
    def bucket_rows(self) -> BucketRows | None:
        """Where the rows of buckets are, if some of the buckets' values are counterfeits."""
        return bucket_rows(
            {table.name or "": [(part.name, part.reading) for part in table.columns] for table in self.tables}
        )
