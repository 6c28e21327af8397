"""Builds a release of one or several tables, each with its own SELECT.

A table's name is a suffix of the release's name, such as `qi` in `hospital_qi`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.buckets import BucketRows, BucketValues, bucket_rows, values_of_table


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a published table, with its reading and the attribute behind it, if it has one.

    `level` is the level of the attribute's hierarchy if all rows have the same level.
    """

    name: str
    role: Role
    reading: Reading
    bound: BoundAttribute | None = None
    level: int | None = None


@dataclass(frozen=True)
class PublishedTable:
    """One of the tables; `name` is the suffix after the release's name, or None for the only table of a release.

    `query` returns its rows in any order, or, if `ordered` is true, in the order of their own values, which reveals
    nothing more. The rows are published in the order of the column `by`, if it is given, else in a random order.
    `words` are the columns that `query` returns as words of a dictionary; None if they are not yet determined.
    """

    name: str | None
    columns: tuple[PublishedColumn, ...]
    query: exp.Select
    ordered: bool = False
    by: str | None = None
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TablesQuery:
    """The query of a release of tables; the first table has a row for each row of the source.

    `tokens` maps a column to a table of value and token. `respondent` is a column of the first table's query with the
    respondents, for the ledger of a series; this column is not published.
    """

    policy: BoundPolicy
    release_id: str
    tables: tuple[PublishedTable, ...]
    tokens: Mapping[str, str] = field(default_factory=dict)
    respondent: str | None = None

    @property
    def is_one_table(self) -> bool:
        """Whether there is only one table; this table has the name of the release."""
        return self.tables[0].name is None

    @property
    def values(self) -> dict[str, BucketValues]:
        """Finds the values of each sensitive attribute."""
        by_attribute: dict[str, BucketValues] = {}
        for table in self.tables:
            columns = [(part.name, part.bound.column if part.bound else None, part.reading) for part in table.columns]
            sensitive = [p.bound.column for p in table.columns if p.bound and p.role is Role.SENSITIVE]
            by_attribute |= values_of_table(table.name or "", columns, sensitive)
        return by_attribute

    @property
    def bucket_rows(self) -> BucketRows | None:
        """Finds the rows of buckets, if some of the values in buckets are counterfeits."""
        return bucket_rows(
            {table.name or "": [(part.name, part.reading) for part in table.columns] for table in self.tables}
        )


# Rows are sorted with short words in place of long texts, because sorting moves rows, and texts are expensive to move.
#
# While rows are sorted, a column of few different texts has a type of its own, an ENUM of these texts. In the sorted
# rows the texts replace the words again.


def different_texts(texts: Sequence[BoundAttribute], source: exp.Table, rows: int) -> exp.Query:
    """Returns an estimate of the number of different values of each column among `rows` rows of the source."""
    return filled_query(
        'SELECT approx_count_distinct({names}) FROM (SELECT $values AS "{names}" FROM "{source}" LIMIT $rows) AS some',
        names={"names": [f"text_{index}" for index in range(len(texts))], "source": source},
        values=[published_value(bound) for bound in texts],
        rows=rows,
    )


def texts_of(bound: BoundAttribute, source: exp.Table) -> exp.Select:
    """Returns value: the different texts of a column, NULL among them."""
    return select(alias(published_value(bound), "value"), of=source, distinct=True)


def word_table(texts: str, kind: str) -> exp.Select:
    """Returns value, word: the texts in a table of `texts_of`, and the same texts in the type `kind`."""
    word = cast(column("value"), exp.DataType(this=exp.DType.USERDEFINED, kind=kind))
    return select(column("value"), alias(word, "word"), of=relation(texts))


def coded(query: exp.Select, words: Mapping[str, str]) -> exp.Select:
    """Returns the rows with words in the columns for which `words` has a table of `word_table`."""
    of = {name: f"word_{index}" for index, name in enumerate(words)}
    outputs = [
        alias(column("word", of[name]), name) if name in of else column(name, "released") for name in _names(query)
    ]
    return filled_select(
        "SELECT {outputs} FROM released"
        ' JOIN "{tables}" AS "{of}" ON {released.names} IS NOT DISTINCT FROM "{of}".value',
        tables={"released": query},
        names={"outputs": outputs, "names": [*words], "tables": [*words.values()], "of": [*of.values()]},
    )


def spelled(query: exp.Select, rows: exp.Select, words: Collection[str]) -> exp.Select:
    """Returns `rows`, which have the columns of `query`, with texts again in the columns of words."""
    outputs = [
        filled('CAST({coded.name} AS VARCHAR) AS "{name}"' if name in words else "{coded.name}", names={"name": name})
        for name in _names(query)
    ]
    return filled_select("SELECT {outputs} FROM coded", tables={"coded": rows}, names={"outputs": outputs})


def _names(query: exp.Select) -> list[str]:
    return [each.alias_or_name for each in query.selects]
