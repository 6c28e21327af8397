"""Model of a release for estimates: how it publishes each column of its source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import free_name
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query, query_file


def bucketed_value(index: int) -> str:
    """Returns the name of the column that holds the values of bucketed column `index`."""
    return f"bucketed_{index}"


@dataclass(frozen=True)
class BucketedColumns:
    """Columns that are published by bucket: a row shows its bucket, and a bucket lists its values in no order.

    Columns in a separate table are bucketed, too: by the group that links a row of this table to rows of others.
    """

    # The columns of the source, by their folded names, whose values are known together.
    columns: tuple[str, ...]
    # bucket, `bucketed_value` of each column, and weight: how many rows of the bucket have these values together.
    values: exp.Query
    # The column of the release's rows with the bucket; None where all rows are one bucket.
    bucket: str | None


@dataclass(frozen=True)
class Generalized:
    """A column of the source that a release shows by labels.

    `form` says how a label is read: `value`, as the value itself; `interval`, `period` or `mask`, as a label of
    INTERVALS, CALENDAR or PREFIXES; `range`, as the ends of a region in the order of the values; `tree_range`, as ends
    in the unknown order of a hierarchy; `bounds`, by the columns with these ends; `listed`, as a label of a stored
    hierarchy; `listed_range`, as a range of its values. A `star` may represent any value, and a label read by `any` is
    ignored.
    """

    # The column with the source's type, and its hierarchy if that is a stored one whose labels are at hand.
    bound: BoundAttribute
    # The release's columns that tell labels apart: the column itself, and those of its bounds.
    keys: tuple[str, ...]
    # How to read a label.
    forms: tuple[str, ...]
    # How to read whether a label may represent NULL, if not by `forms`.
    nulls: tuple[str, ...] = ()
    # The levels of the stored hierarchy that a label may be at.
    levels: tuple[int, ...] = ()
    # The user's table of the values' frequencies (`marginals.MARGINAL`, `marginals.MARGINAL_WEIGHT`); without one all
    # values below a label are equally likely.
    marginal: str | None = None

    @property
    def column(self) -> str:
        """The name of the column in the source."""
        return self.bound.column


@dataclass(frozen=True)
class ReleaseModel:
    """The parts of a release that estimates read."""

    name: str
    # The rows of the release; for separate tables, the rows that link their buckets.
    rows: exp.Query
    # The names by which a query may call the source.
    names: tuple[str, ...]
    # The columns that are published as they are, by their folded names, with their names in the release.
    exact: Mapping[str, str]
    generalized: Mapping[str, Generalized]
    # The columns that are not published, with the reason.
    hidden: Mapping[str, str] = field(default_factory=dict)
    # The sets of bucketed columns: a row shows one bucket for each set.
    bucketed: tuple[BucketedColumns, ...] = ()
    # bucket and n: the number of counterfeit values of a bucket (Xiao and Tao 2007); None if the release has no
    # counterfeits.
    counterfeits: exp.Query | None = None
    # Whether the release has several tables. If so, all its columns are bucketed, each set in its own table.
    separate_tables: bool = False
    # The number of rows of the source that the release leaves out; None if unknown.
    withheld: int | None = 0
    # The folded names of columns that are ENUMs in the source.
    enums: frozenset[str] = frozenset()
    # The column of `rows` that counts the released rows which a row represents; None if each row represents one.
    counted: str | None = None

    @property
    def bucket(self) -> str | None:
        """The column of `rows` that holds the common bucket of all bucketed columns; None if sets have buckets of their
        own.
        """
        buckets = {columns.bucket for columns in self.bucketed}
        return buckets.pop() if len(buckets) == 1 else None

    @property
    def linked(self) -> bool:
        """Whether sets of bucketed columns have buckets of their own; a row then links one bucket of each set."""
        return len({columns.bucket for columns in self.bucketed}) > 1

    @property
    def bucketed_positions(self) -> dict[str, tuple[int, int]]:
        """Returns for each bucketed column the index of its set in `bucketed`, and its index within the set."""
        return self.positions_for(())

    def positions_for(self, named: Collection[str]) -> dict[str, tuple[int, int]]:
        """Returns for each bucketed column its set and its index in the set, for a query that names these columns.

        Columns of one set are known together exactly. So a column is read from the set that has most of the query's
        columns, or from the first such set.
        """
        order = sorted(range(len(self.bucketed)), key=lambda i: -len({*named} & {*self.bucketed[i].columns}))
        return {name: (i, j) for i in reversed(order) for j, name in enumerate(self.bucketed[i].columns)}

    def in_several(self, named: Collection[str]) -> bool:
        """Whether any of these columns is in several sets of bucketed columns."""
        return any(sum(name in bucketed.columns for bucketed in self.bucketed) > 1 for name in named)


# Rows on another engine than the catalog, as estimates and workloads read them: equal rows counted together.
#
# The answer of a query depends on the columns that it names and on the numbers of rows that are equal in them. So the
# other engine groups the rows by these columns, and the groups with their numbers of rows become a table of the
# catalog's engine, which has all functions that a query may call.


_NUMBER = "n"
# The number of rows that are repeated at a time.
_BLOCK = 1024


class CountedRelease:
    """A release that is reduced to the columns of the source that some queries name, by their folded names.

    On an engine that has the rows itself, the release is read unreduced.
    """

    def __init__(self, engine: Engine, columns: Collection[str], temp: TempTables) -> None:
        self._in_place, self._columns, self._temp = engine.reads_in_place, columns, temp
        self._counted: ReleaseModel | None = None

    def of(self, model: ReleaseModel) -> ReleaseModel:
        """Returns the release reduced to these columns; its tables are created once.

        Raises UserError if they would have more rows than may go from one engine to the other.
        """
        if self._in_place:
            return model
        if self._counted is None:
            try:
                self._counted = counted(model, self._columns, self._temp)
            except TooManyRows:
                raise _too_many(model.name) from None
        made = self._counted
        return replace(model, rows=made.rows, counted=made.counted, bucketed=made.bucketed)


@dataclass(frozen=True)
class CountedSource:
    """The rows of a source, reduced to the columns that some queries name.

    `rows` is the table or view with a row for each row of the source. If equal rows were counted, `groups` is the table
    of the distinct rows, with their counts in the column `number`.
    """

    rows: str
    groups: str
    number: str


def counted(model: ReleaseModel, columns: Collection[str], temp: TempTables) -> ReleaseModel:
    """Reduces a release to some columns: counts equal rows, in temporary tables."""
    # Separate tables are compared with each other for every query.
    whole = model.separate_tables or model.counterfeits is not None
    bucketed: list[BucketedColumns] = []
    names: dict[str, None] = {}
    for name in columns:
        if name in model.exact:
            names[model.exact[name]] = None
        elif name in model.generalized:
            names |= dict.fromkeys(model.generalized[name].keys)
    for part in model.bucketed:
        read = whole or not {*part.columns}.isdisjoint(columns)
        if read and part.bucket is not None:
            names[part.bucket] = None
        bucketed.append(replace(part, values=_counted_values(part, temp)) if read else part)
    number = number_column(list(names))
    rows = counted_table(subquery(model.rows, "released"), list(names), number, temp)
    counted_rows = select(exp.Star(), of=relation(rows))
    return replace(model, rows=counted_rows, counted=number, bucketed=tuple(bucketed))


def counted_source(source: exp.Table, columns: Sequence[str], number: str, temp: TempTables) -> CountedSource:
    """Reduces a source to some columns: a table of the distinct rows, and a view that repeats each.

    Raises UserError for more distinct rows than may be copied from one engine to the other.
    """
    try:
        groups = counted_table(source, columns, number, temp)
    except TooManyRows:
        raise _too_many(f"the source, in {', '.join(columns)},") from None
    return CountedSource(temp.view("rows", _repeated(groups, columns, number)), groups, number)


def counted_table(rows: exp.Expr, columns: Sequence[str], number: str, temp: TempTables) -> str:
    """Creates a temporary table of the distinct rows in some columns, with their counts in the column `number`."""
    count = alias(f.count(), number)
    if columns:
        names = [column(name) for name in columns]
        query = select(*names, count, of=rows, group_by=names)
    else:
        # If there are no rows, there is no distinct row.
        alone = subquery(select(count, of=rows), "counted")
        query = select(column(number), of=alone, where=[column(number) > 0])
    return temp.table("counted", query)


def number_column(names: Collection[str]) -> str:
    """Returns a name for a column of row counts that is not among `names`."""
    return free_name(_NUMBER, names)


def _too_many(rows: str) -> UserError:
    return UserError(
        f"{rows} has more different rows in the columns that are asked about than may be collected from Spark",
        hint="ask about fewer columns at once, or raise the bound: summary_rows => ... of connect()",
    )


def _repeated(groups: str, columns: Sequence[str], number: str) -> exp.Query:
    """Repeats the rows of a `counted_table` by their counts, in blocks: DuckDB lists in memory what it unnests."""
    return query_file(
        "estimates",
        "repeated",
        names={"groups": groups, "columns": columns, "number": number, "block": number_column([*columns, number])},
        size=_BLOCK,
    )


def _counted_values(bucketed: BucketedColumns, temp: TempTables) -> exp.Select:
    """Returns the values of buckets with their weights; equal values of a bucket are one row."""
    names = ["bucket", *map(bucketed_value, range(len(bucketed.columns)))]
    text = "SELECT {names}, sum(weight) AS weight FROM value GROUP BY {names}"
    table = temp.table("values", filled_query(text, tables={"value": bucketed.values}, names={"names": names}))
    return select(exp.Star(), of=relation(table))
