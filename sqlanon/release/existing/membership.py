"""Finds the tuples that a join of a release's tables gives, which a reader may take for rows of the source.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012), sections 5 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import LABELS, Reading
from sqlanon.errors import PolicyError
from sqlanon.release.existing.estimable import RecordedColumn, RecordedTable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, identical, real
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled_query, filled_select, query_file

# The form of columns that do not show the source's values, in words.
_OTHER_VALUES = (
    ((*LABELS, Reading.RANGE, Reading.CENTROID, Reading.BUCKET_RANGE), "recoded"),
    ((Reading.ITEM_LABELS,), "as labels of the items in lists"),
    ((Reading.LOWER_BOUND, Reading.UPPER_BOUND), "as ends of ranges"),
    ((Reading.TOKEN,), "as tokens"),
    ((Reading.RESPONDENT,), "as numbers of people"),
    ((Reading.DOMAIN_VALUE, Reading.NOISY_COUNT), "by counts with noise"),
)
_HINT = (
    "membership can be measured where the source's values are published, in buckets, in fragments or in groups of a "
    "loose association"
)


def attribute_name(index: int) -> str:
    """Returns the name of the attribute at this index in the queries of a matching."""
    return f"attribute_{index}"


def link_name(index: int) -> str:
    """Returns the name of the column with the bucket (index 0), or with the group of the table at this index among
    tables with groups.
    """
    return f"link_{index}"


@dataclass(frozen=True)
class Column:
    """A column in the sense of slicing: attributes whose values a release shows together.

    `attributes` are indexes of the matching's attributes. `values` has a row for each combination of values that a
    bucket or group has: `attribute_name` of each attribute and, unless all rows are in one bucket, `link_name` of
    `link`.
    """

    attributes: tuple[int, ...]
    link: int | None
    values: exp.Query


@dataclass(frozen=True)
class Matching:
    """The condition for a tuple of a release's attributes to match a bucket: for each column, the bucket must have the
    tuple's values.

    `attributes` are columns of the source. `buckets` has a row for each bucket, with `link_name` of each link of a
    column; it is None if all rows are in one bucket.
    """

    attributes: tuple[str, ...]
    columns: tuple[Column, ...]
    buckets: exp.Query | None


def matching_of(name: str, tables: Sequence[RecordedTable]) -> Matching:
    """Returns the columns and buckets of a release of these tables, by the readings of their columns.

    The values of each row of a table form a column, and so do the values of each bucket or group. A bucket is
    identified by its number or, if a table links groups, by the groups that a row of this table names.

    Raises PolicyError if a published value may not be a value of the source, or if the columns do not tell how the
    tables belong together.
    """
    _require_values(name, tables)
    parts = [part for table in tables for part in table.having(Reading.EXACT, Reading.BUCKET_VALUE)]
    names = {fold(part.source): part.source for part in parts}
    indexes = {name: index for index, name in enumerate(names)}
    keys = [next(iter(table.having(Reading.BUCKET, Reading.GROUP)), None) for table in tables]
    links = _links(keys)
    columns = [
        _column(table, parts, (key, link), [indexes[fold(part.source)] for part in parts])
        for table, key, link in zip(tables, keys, links, strict=True)
        for parts in (table.having(Reading.EXACT), table.having(Reading.BUCKET_VALUE))
        if parts
    ]
    return Matching(tuple(names.values()), tuple(columns), _buckets(name, tables, keys))


def _require_values(name: str, tables: Sequence[RecordedTable]) -> None:
    """Raises PolicyError if a column has labels, ranges or tokens, or if no column has values."""
    columns = [part for table in tables for part in table.columns]
    for readings, form in _OTHER_VALUES:
        if names := dict.fromkeys(part.source for part in columns if part.reading in readings):
            raise PolicyError(
                f"{name} shows {', '.join(names)} {form}, so it does not say which tuples match it", hint=_HINT
            )
    if not any(part.reading in (Reading.EXACT, Reading.BUCKET_VALUE) for part in columns):
        raise PolicyError(f"{name} shows no values of its source", hint=_HINT)


def _links(keys: Sequence[RecordedColumn | None]) -> list[int | None]:
    """Returns the index of each table's link: its number among the tables with groups, or 0 for a bucket; None for a
    table with neither.
    """
    links: list[int | None] = []
    groups = 0
    for key in keys:
        links.append(None if key is None else groups)
        groups += key is not None and key.reading is Reading.GROUP
    return links


def _buckets(name: str, tables: Sequence[RecordedTable], keys: Sequence[RecordedColumn | None]) -> exp.Select | None:
    """SELECT of the buckets of a release, from a column of buckets or from the linked groups; None for a single
    bucket.
    """
    linking = [(table, links) for table in tables if (links := table.having(Reading.LINK))]
    by_table = [(table, key) for table, key in zip(tables, keys, strict=True) if key]
    groups = sum(key.reading is Reading.GROUP for _, key in by_table)
    bucketed = [(table, [key]) for table, key in by_table if key.reading is Reading.BUCKET]
    links_of_all = sum(len(links) for _, links in linking)
    if len(linking) > 1 or links_of_all != groups or (linking and bucketed):
        raise PolicyError(f"{name}: its columns do not determine how its tables are joined")
    for table, parts in (*linking, *bucketed):
        return _distinct(table, [(part.name, link_name(index)) for index, part in enumerate(parts)])
    return None


def _column(
    table: RecordedTable,
    parts: Sequence[RecordedColumn],
    link: tuple[RecordedColumn | None, int | None],
    attributes: Sequence[int],
) -> Column:
    """Returns the values of these attributes in each bucket or group of a table."""
    key, index = link
    named = [] if key is None or index is None else [(key.name, link_name(index))]
    named += [(part.name, attribute_name(number)) for part, number in zip(parts, attributes, strict=True)]
    return Column(tuple(attributes), index, _distinct(table, named))


def _distinct(table: RecordedTable, named: Sequence[tuple[str, str]]) -> exp.Select:
    """SELECT of the distinct rows that a table has in some columns, with new column names."""
    outputs = [alias(column(name), output) for name, output in named]
    return select(*outputs, distinct=True, of=subquery(table.rows, "published"))


# The tables of a release joined bucket by bucket: the maximum number of tuples, and the buckets that each matches.


_BUCKET = "bucket"


def _column_name(index: int) -> str:
    return f"column_{index}"


class JoinedTuples:
    """The queries over the distinct values of each column of a matching, which are in tables.

    `values` has the names of these tables, in the order of the columns. `buckets` is the name of the table of buckets,
    None if all rows are in one bucket.
    """

    def __init__(self, matching: Matching, values: Sequence[str], buckets: str | None) -> None:
        self._matching, self._values, self._buckets = matching, values, buckets

    def most(self) -> exp.Select:
        """SELECT of the maximum number of matching tuples, each counted in all its buckets: the sum of products of
        distinct values.

        It is a DOUBLE, because the products of many columns exceed all integer types.
        """
        counts: list[exp.Table | exp.Subquery] = []
        for index, part in enumerate(self._matching.columns):
            link = [] if part.link is None else [link_name(part.link)]
            text = "SELECT {link}, CAST(count(*) AS DOUBLE) AS n FROM value GROUP BY {link}"
            counted = filled_query(text, tables={"value": self._values[index]}, names={"link": link})
            counts.append(subquery(counted, _column_name(index)))
        numbers: list[exp.Expr] = [column("n", _column_name(index)) for index in range(len(counts))]
        product = reduce(lambda first, second: exp.Mul(this=first, expression=second), numbers)
        query = select(alias(f.coalesce(f.sum(product), 0), "most"))
        return self._joined(query, counts, overlaps=False)

    @property
    def is_product(self) -> bool:
        """Whether every combination of the columns' values matches.

        That is so if all rows are in one bucket and no attribute is in several columns.
        """
        attributes = [attribute for part in self._matching.columns for attribute in part.attributes]
        return self._buckets is None and len(attributes) == len({*attributes})

    def of_one_bucket(self, source: exp.Table | exp.Subquery, most: float) -> exp.Query:
        """SELECT of the columns of `matched` for a release whose tuples are a product with `most` members.

        Only the source's tuples are looked up; all other tuples of the product are fakes.
        """
        original = filled_select("SELECT 1 AS one FROM source", tables={"source": self._of_source(source).distinct()})
        for index, part in enumerate(self._matching.columns):
            name = _column_name(index)
            equal = [
                identical(column(attribute, "source"), column(attribute, name))
                for attribute in map(attribute_name, part.attributes)
            ]
            extend(original, joins=[inner_join(relation(self._values[index], as_=name), and_(*equal))])
        return query_file("membership", "of_one_bucket", tables={"original": original}, most=real(most))

    def matched(self, source: exp.Table | exp.Subquery) -> exp.Query:
        """SELECT of is_original, buckets, n: the number of tuples, in the source or not, that match a number of
        buckets.

        NULL is a value, because tuples are grouped, not compared.
        """
        tables = [relation(name, as_=_column_name(index)) for index, name in enumerate(self._values)]
        joined = self._joined(select(*self._attributes()), tables)
        names = [attribute_name(index) for index in range(len(self._matching.attributes))]
        relations = {"joined": joined, "source": self._of_source(source)}
        return query_file("membership", "matched", tables=relations, names={"attributes": names})

    def _of_source(self, source: exp.Table | exp.Subquery) -> exp.Select:
        """SELECT of the attributes of the source's rows."""
        attributes = enumerate(self._matching.attributes)
        return select(*(alias(column(name), attribute_name(index)) for index, name in attributes), of=source)

    def _attributes(self) -> list[exp.Expr]:
        """Returns the SQL of each attribute once, from the first column that has it."""
        first = self._first_columns()
        return [
            alias(column(attribute_name(index), _column_name(first[index])), attribute_name(index))
            for index in range(len(self._matching.attributes))
        ]

    def _first_columns(self) -> dict[int, int]:
        first: dict[int, int] = {}
        for index, part in enumerate(self._matching.columns):
            for attribute in part.attributes:
                first.setdefault(attribute, index)
        return first

    def _joined(
        self, query: exp.Select, tables: Sequence[exp.Table | exp.Subquery], *, overlaps: bool = True
    ) -> exp.Select:
        """Joins the query with the tables of all columns in each bucket and, if `overlaps`, on shared attributes."""
        first = self._first_columns()
        if self._buckets is not None:
            query = query.from_(relation(self._buckets, as_=_BUCKET))
        for index, (part, table) in enumerate(zip(self._matching.columns, tables, strict=True)):
            conditions = self._in_bucket(part, index)
            if overlaps:
                conditions += [
                    identical(column(name, _column_name(first[attribute])), column(name, _column_name(index)))
                    for attribute in part.attributes
                    if first[attribute] != index and (name := attribute_name(attribute))
                ]
            if index == 0 and self._buckets is None:
                query = query.from_(table)
            elif conditions:
                query = query.join(table, on=and_(*conditions))
            else:
                query = query.join(table, join_type="CROSS")
        return query

    def _in_bucket(self, part: Column, index: int) -> list[exp.Expr]:
        if part.link is None:
            return []
        return [column(link_name(part.link), _BUCKET).eq(column(link_name(part.link), _column_name(index)))]
