"""Rows on another engine than the catalog, as estimates and workloads read them: equal rows counted together.

What a query comes to depends on the columns that it names and on how many rows are equal in these. So that engine
groups the rows by these columns, and the groups, each with its number of rows, are a table of the catalog's engine,
which has all functions that a query may call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.identifiers import free_name
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import UserError
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, paren
from sqlanon.sql.build.names import alias, column, literal, relation

_NUMBER = "n"
# So many rows are repeated at a time.
_BLOCK = 1024


class CountedRelease:
    """A release whose queries name these columns of the source, by their folded names, and no others.

    On an engine that has the rows itself, the release is read as it is.
    """

    def __init__(self, engine: Engine, columns: Collection[str], scratch: Scratch) -> None:
        self._in_place, self._columns, self._scratch = engine.reads_in_place, columns, scratch
        self._counted: ReleaseModel | None = None

    def of(self, model: ReleaseModel) -> ReleaseModel:
        """The release with its rows, and the values of its buckets, counted in tables that are made once.

        Raises UserError where they would have more rows than may go from one engine to the other.
        """
        if self._in_place:
            return model
        if self._counted is None:
            try:
                self._counted = counted(model, self._columns, self._scratch)
            except TooManyRows:
                raise _too_many(model.name) from None
        made = self._counted
        return replace(model, rows=made.rows, counted=made.counted, bucketed=made.bucketed)


@dataclass(frozen=True)
class CountedSource:
    """The rows of a source in the columns that some queries name.

    `rows` are the rows one by one, in the table or view of this name. Where equal ones were counted together, `groups`
    has each once, with how often it occurs in the column `number`.
    """

    rows: str
    groups: str
    number: str


def counted(model: ReleaseModel, columns: Collection[str], scratch: Scratch) -> ReleaseModel:
    """The release as queries read it that name these columns: equal rows counted together, in temporary tables."""
    # Tables that are apart are held against each other whatever is asked.
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
        bucketed.append(replace(part, values=_counted_values(part, scratch)) if read else part)
    number = number_column(list(names))
    rows = counted_table(model.rows.copy().subquery("released"), list(names), number, scratch)
    counted_rows = exp.select(exp.Star()).from_(relation(rows))
    return replace(model, rows=counted_rows, counted=number, bucketed=tuple(bucketed))


def counted_source(source: exp.Table, columns: Sequence[str], number: str, scratch: Scratch) -> CountedSource:
    """The rows of a source in these columns, as a table of those that differ and a view that repeats each.

    Raises UserError where they are more than may go from one engine to the other.
    """
    try:
        groups = counted_table(source, columns, number, scratch)
    except TooManyRows:
        raise _too_many(f"the source, in {', '.join(columns)},") from None
    return CountedSource(scratch.view("rows", _repeated(groups, columns, number)), groups, number)


def counted_table(rows: exp.Expr, columns: Sequence[str], number: str, scratch: Scratch) -> str:
    """The temporary table of the distinct rows in these columns, and `number`: how often each occurs."""
    count = alias(f.count(), number)
    if columns:
        names = [column(name) for name in columns]
        query = exp.select(*names, count).from_(rows.copy()).group_by(*(name.copy() for name in names))
    else:
        # Without rows there is no distinct one.
        alone = exp.select(count).from_(rows.copy()).subquery("counted")
        query = exp.select(column(number)).from_(alone).where(column(number) > 0)
    return scratch.table("counted", query)


def number_column(names: Collection[str]) -> str:
    """A name for a number of rows that is none of these."""
    return free_name(_NUMBER, names)


def _too_many(rows: str) -> UserError:
    return UserError(
        f"{rows} has more different rows in the columns that are asked about than may be collected from Spark",
        hint="ask about fewer columns at once, or raise the bound: summary_rows => ... of connect()",
    )


def _repeated(groups: str, columns: Sequence[str], number: str) -> exp.Select:
    """The rows of a table of `counted_table`, each as often as it occurs, in blocks: DuckDB lists what it unnests."""
    block = number_column([*columns, number])
    blocks = infix(paren(column(number) + (_BLOCK - 1)), "//", literal(_BLOCK))
    numbered = exp.select(*map(column, columns), column(number), alias(_numbers(blocks), block)).from_(relation(groups))
    left = f.least(literal(_BLOCK), column(number) - column(block) * _BLOCK)
    return exp.select(*map(column, columns), alias(_numbers(left), number)).from_(numbered.subquery("numbered"))


def _numbers(count: exp.Expr) -> exp.Expr:
    return f.unnest(f.call("range", count))


def _counted_values(bucketed: BucketedColumns, scratch: Scratch) -> exp.Select:
    """The values of buckets with their weights, equal values of a bucket as one."""
    names = ["bucket", *map(bucketed_value, range(len(bucketed.columns)))]
    weight = alias(f.sum(column("weight")), "weight")
    query = exp.select(*map(column, names), weight).from_(bucketed.values.copy().subquery("value"))
    table = scratch.table("values", query.group_by(*map(column, names)))
    return exp.select(exp.Star()).from_(relation(table))
