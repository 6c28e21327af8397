"""Buckets of rows and of values: the columns of published tables, and the requirements that buckets answer.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006), definition 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Reading
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, SqlRequirement, by_attribute, class_label, rows_of

# The number of a row's bucket, a value of one of its rows, and the number of its rows with that value.
BUCKET = "bucket"
VALUE = "value"
COUNT = "count"

_BY_BUCKET = (Reading.BUCKET_VALUE, Reading.BUCKET_RANGE)


@dataclass(frozen=True)
class BucketValues:
    """Locates a sensitive attribute's values in the release, by the suffix of a table's name and columns of this table.

    `bucket` has the number of the bucket, and `value` the values. `others` are further columns of the table: rows of a
    bucket that differ in them are in different classes (Li, Li, Zhang and Molloy, Slicing, 2012, section 3). `count`
    has the number of the bucket's rows with the value; if it is None, each row counts as one.
    """

    table: str
    bucket: str
    value: str
    others: tuple[str, ...] = ()
    count: str | None = None


@dataclass(frozen=True)
class BucketRows:
    """The rows of buckets that have counterfeits: the suffix of the rows' table, and its column of buckets.

    If these rows show the values, `counterfeits` locates the numbers of counterfeits among them.
    """

    table: str
    bucket: str
    counterfeits: Counterfeits | None = None

    @property
    def tables(self) -> list[str]:
        """Names the tables that hold the rows and the counterfeits."""
        return [self.table, *([self.counterfeits.table] if self.counterfeits else [])]

    def people(self, sources: Mapping[str, exp.Table | exp.Subquery]) -> exp.Table | exp.Subquery:
        """Returns the bucket of each genuine row; `sources` has the tables by the suffixes of their names."""
        rows = sources[self.table]
        if self.counterfeits is None:
            return rows
        stated = self.counterfeits.query(sources[self.counterfeits.table].copy())
        return subquery(people_of_buckets(rows.copy(), self.bucket, stated), "person")


@dataclass(frozen=True)
class Counterfeits:
    """Locates the numbers of counterfeits, by the suffix of a table's name and its columns of buckets and of
    numbers.
    """

    table: str
    bucket: str
    number: str

    def query(self, source: exp.Table | exp.Subquery) -> exp.Select:
        """Returns bucket and n: the number of counterfeits of each bucket."""
        return select(alias(column(self.bucket), "bucket"), alias(column(self.number), "n"), of=source)


def people_of_buckets(
    rows: exp.Table | exp.Subquery, bucket: str, counterfeits: exp.Query, columns: Sequence[str] = ()
) -> exp.Query:
    """Returns a row for each row that is not a counterfeit, with its bucket and the columns in which the rows of a
    bucket agree.

    `counterfeits` has bucket and n. Because nobody knows which rows are counterfeits, any n rows of a bucket are left
    out.
    """
    tables = {"published": rows, "counterfeits": counterfeits}
    return query_file("anatomy", "people_of_buckets", tables=tables, names={"bucket": bucket, "columns": columns})


def bucket_rows(tables: Mapping[str, Sequence[tuple[str, Reading]]]) -> BucketRows | None:
    """Finds the rows of buckets; None if no bucket has counterfeits.

    `tables` has, by the suffix of a table's name, the name and the reading of each column.
    """
    if not any(reading is Reading.COUNTERFEITS for columns in tables.values() for _, reading in columns):
        return None
    rows: BucketRows | None = None
    stated: Counterfeits | None = None
    among_rows = False
    for table, columns in tables.items():
        by_reading = {reading: name for name, reading in columns}
        bucket = by_reading.get(Reading.BUCKET)
        if bucket is None or Reading.COUNT in by_reading:
            continue
        if Reading.COUNTERFEITS in by_reading:
            stated = Counterfeits(table, bucket, by_reading[Reading.COUNTERFEITS])
        else:
            rows, among_rows = BucketRows(table, bucket), Reading.BUCKET_VALUE in by_reading
    return replace(rows, counterfeits=stated) if rows and among_rows else rows


# Readings of a sensitive column that shows each row's own value or a label of it.
_OF_THE_ROW = (Reading.EXACT, Reading.LABEL)


def values_of_table(
    table: str, columns: Sequence[tuple[str, str | None, Reading]], sensitive: Collection[str]
) -> dict[str, BucketValues]:
    """Finds the values of the sensitive attributes that a table shows by bucket; the result is empty for a table
    without buckets.

    `columns` are the columns of the table: each with its name, the column of the source behind it, and its reading.
    `sensitive` are columns of the source. If values have rows of their own, the rest of the row does not define a
    class.
    """
    known = {fold(name): name for name in sensitive}
    bucket, count = _read_as(columns, Reading.BUCKET), _read_as(columns, Reading.COUNT)
    if bucket is None:
        return {}
    by_bucket = [(name, fold(source or name)) for name, source, reading in columns if reading in _BY_BUCKET]
    others = tuple(name for name, source in by_bucket if source not in known)
    exact = [(name, fold(source or name)) for name, source, reading in columns if reading in _OF_THE_ROW]
    return {
        known[source]: BucketValues(table, bucket, name, others, count)
        for name, source in (*by_bucket, *exact)
        if source in known
    }


def _read_as(columns: Sequence[tuple[str, str | None, Reading | None]], reading: Reading) -> str | None:
    """Returns the first column with a reading; None if no column has it."""
    return next((name for name, _, of_column in columns if of_column is reading), None)


def rows_of_buckets(
    sources: Mapping[str, exp.Table | exp.Subquery],
    requirements: Sequence[SqlRequirement],
    indexes: Sequence[int],
    values: Mapping[str, BucketValues],
    *,
    once: bool = False,
    rows: BucketRows | None = None,
) -> Iterator[RowsOfRequirements]:
    """Yields the rows of each attribute's table of buckets, with the requirements that these rows answer.

    `sources` has the readable tables, by the suffixes of their names; `values` locates the values of each attribute.
    `indexes` are the requirements that the tables can answer. `once` is true if no bucket lists a counted value twice.
    A class consists of a bucket's rows with equal values in `others`, or, for a requirement that protects no attribute,
    of the whole bucket. Its size is read from the bucket's `rows` if these are in another table.
    """
    if rows is not None and all(table in sources for table in rows.tables):
        # Counterfeits belong to no respondent.
        sizes, indexes = _sizes_and_values(requirements, indexes)
        if sizes:
            yield RowsOfRequirements(rows_of(rows.people(sources), [rows.bucket], {}), sizes)
    for attribute, of_attribute in by_attribute(requirements, list(values)).items():
        where = values[attribute]
        answerable = tuple(index for index in of_attribute if index in indexes)
        if not answerable or where.table not in sources:
            continue
        source = sources[where.table]
        of_sizes, of_values = _sizes_and_values(requirements, answerable) if where.others else (answerable, ())
        if of_values:
            yield RowsOfRequirements(_of_parts(source, attribute, where), of_values)
        if of_sizes:
            yield RowsOfRequirements(_of_buckets(source, attribute, where, once), of_sizes)


def _sizes_and_values(
    requirements: Sequence[SqlRequirement], indexes: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Splits the indexes of requirements into requirements on class sizes and requirements on values."""
    sizes = tuple(index for index in indexes if not requirements[index].attributes)
    return sizes, tuple(index for index in indexes if requirements[index].attributes)


def _of_buckets(source: exp.Table | exp.Subquery, attribute: str, where: BucketValues, once: bool) -> Rows:
    """Returns the rows of a table of buckets, with the bucket as class; their weight is the count column, if `where`
    names one.

    `once` is true if no bucket has two rows of one value.
    """
    query = select(alias(column(where.bucket), "class_id"), _as(where.value, VALUE), of=source)
    weight = None
    if where.count is not None:
        extend(query, _as(where.count, COUNT))
        weight = column(COUNT)
    class_id = column("class_id")
    return Rows(
        subquery(query, "bucket_row"),
        (class_id,),
        class_id.copy(),
        {attribute: column(VALUE)},
        weight=weight,
        counted=once and weight is not None,
    )


def _as(name: str, wanted: str) -> exp.Expr:
    return column(name) if name == wanted else alias(column(name), wanted)


def _of_parts(source: exp.Table | exp.Subquery, attribute: str, where: BucketValues) -> Rows:
    """Returns rows of buckets; a class consists of the rows of a bucket with equal values in the other columns."""
    names = (where.bucket, *where.others)
    label = class_label({name: column(name) for name in names})
    return Rows(source, tuple(map(column, names)), label, {attribute: column(where.value)})
