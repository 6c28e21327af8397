"""Which rows of the source have not been read yet: by the moment of arrival and a digest."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.again.streams.columns import Columns, is_moment
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.counts import counted
from sqlanon.domain.stream import Stream
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import DataError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    ascending,
    big,
    cast,
    filtered,
    in_utc,
    insert,
    into,
    is_not_null,
    is_null,
    or_zero,
    order_by,
    total,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.cells.labels import published_value, stored_labels

_STATE = ("arrived", "digest", "rows")
_KEYS = ("arrived", "digest")


@dataclass(frozen=True)
class Arrivals:
    """How many rows were read, in `read_rows`, and which of them never wait.

    `late_rows` came before the watermark. `unfit_rows` have no respondent, or a value that its hierarchy lacks.
    `moment_over` says whether a row of the moment that had been the last has vanished: what comes of it is late.
    """

    read_rows: int
    late_rows: int
    unfit_rows: int
    vanished_rows: int
    position: int
    moment_over: bool


def watermark_of(stream: Stream) -> exp.Expr:
    """The moment before which all rows have been read; NULL before the first."""
    return cast(literal(stream.watermark), stream.order_type)


def read_arrivals(engine: Engine, stream: Stream, columns: Columns, scratch: Scratch) -> Arrivals:
    """Reads what is new in the source, in its order, into the waiting rows of the stream.

    Rows that arrive at one moment are put in the order of their digests. Raises DataError for rows without a moment.
    """
    source = relation(columns.policy.relation)
    keyed = exp.select(
        alias(column(columns.order_column), "arrived"), alias(_digest(columns), "digest"), alias(f.count(), "rows")
    ).from_(source)
    present = scratch.table("present", keyed.group_by(literal(1), literal(2)))
    _require_moments(engine, columns, present)
    tables: dict[str, str | exp.Query] = {
        "present": present,
        "read_before": exp.select(exp.Star()).from_(relation(stream.table("read"))),
    }
    unread = scratch.table("unread", _compared(stream, "unread", tables))
    [(vanished, of_last_moment)] = engine.rows(_compared(stream, "vanished", tables))
    sums = [big(filtered(f.sum(column("rows")), late)) for late in (column("late"), exp.not_(column("late")))]
    [(late_rows, new_rows)] = engine.rows(exp.select(*map(or_zero, sums)).from_(relation(unread)))
    unfit = _taken(engine, stream, columns, unread, scratch) if new_rows else 0
    _remember(engine, stream, present)
    return Arrivals(
        read_rows=int(new_rows) + int(late_rows),
        late_rows=int(late_rows),
        unfit_rows=unfit,
        vanished_rows=int(vanished),
        position=stream.position + int(new_rows),
        moment_over=stream.moment_over or bool(of_last_moment),
    )


def _compared(stream: Stream, name: str, tables: dict[str, str | exp.Query]) -> exp.Query:
    """A query that compares the rows of the source with those that were read before."""
    query = reading(query_file("streams", name), tables)
    values = {"watermark": watermark_of(stream), "moment_over": literal(stream.moment_over)}
    for placeholder in list(query.find_all(exp.Placeholder, exp.Parameter)):
        placeholder.replace(values[placeholder.name].copy())
    return query


def _require_moments(engine: Engine, columns: Columns, present: str) -> None:
    """Raises DataError for rows without a moment, or with one that is infinite."""
    unknown: exp.Expr = is_null(column("arrived"))
    if is_moment(columns.order_type):
        unknown = exp.or_(unknown, f.call("isinf", column("arrived")))
    [(rows,)] = engine.rows(exp.select(total(column("rows"))).from_(relation(present)).where(unknown))
    if rows:
        name = columns.order_column
        raise DataError(
            f"nobody knows when rows without {name}, or with an infinite one, are due, and the source has "
            f"{counted(int(rows), 'row')} of that kind; nothing was read",
            hint=f"leave them out: make the policy ON (SELECT ... WHERE {name} IS NOT NULL), and begin another stream",
        )


def _in_time(stream: Stream, arrived: exp.Expr) -> exp.Expr:
    return literal(True) if stream.watermark is None else arrived >= watermark_of(stream)


def _digest(columns: Columns) -> exp.Expr:
    """What tells a row from another, in any session: of all of its columns that are read."""
    names = [columns.order_column, *(b.column for b in columns.attributes)]
    kinds = [columns.order_type, *(b.published_type for b in columns.attributes)]
    texts = exp.Array(expressions=[as_text(in_utc(name, kind)) for name, kind in zip(names, kinds, strict=True)])
    return f.call("md5_number", as_text(f.call("to_json", texts)))


def _taken(engine: Engine, stream: Stream, columns: Columns, unread: str, scratch: Scratch) -> int:
    """Lets the new rows wait, each with its position; returns how many do not, because they are unfit."""
    values = [published_value(b) for b in columns.attributes]
    named = [alias(value, columns.value(b)) for b, value in zip(columns.attributes, values, strict=True)]
    rows = exp.select(alias(column(columns.order_column), "arrived"), alias(_digest(columns), "digest"), *named)
    rows.from_(relation(columns.policy.relation), copy=False)
    rows.where(_in_time(stream, column(columns.order_column)), copy=False)
    copy = window(f.row_number(), [column(key, "s") for key in _KEYS])
    numbered = (
        exp.select(column("rows", "u"), alias(copy, "copy"), *(column(key, "s") for key in _KEYS))
        .select(*(column(columns.value(b), "s") for b in columns.attributes), copy=False)
        .from_(rows.subquery("s"), copy=False)
        .join(
            relation(unread, as_="u"),
            on=exp.and_(exp.not_(column("late", "u")), *(column(key, "s").eq(column(key, "u")) for key in _KEYS)),
            copy=False,
        )
    )
    in_order = order_by(*(ascending(column(key)) for key in (*_KEYS, "copy")))
    position = big(literal(stream.position) + window(f.row_number(), order=in_order))
    state = [column("arrived"), *(column(columns.value(b)) for b in columns.attributes)]
    taken = exp.select(alias(position, "position"), *state).from_(numbered.subquery("numbered"), copy=False)
    taken.where(exp.LTE(this=column("copy"), expression=column("rows")), copy=False)
    arrived = scratch.table("taken", taken)
    fit = exp.select(exp.Star()).from_(relation(arrived, as_="t"))
    for index, b in enumerate(columns.attributes):
        fit = _only_fit(fit, columns, b, index)
    waiting = relation(stream.table("waiting"))
    before = _number(engine, waiting)
    engine.run(insert(waiting, fit))
    return _number(engine, relation(arrived)) - (_number(engine, waiting) - before)


def _only_fit(rows: exp.Select, columns: Columns, bound: BoundAttribute, index: int) -> exp.Select:
    """The rows that have a respondent, and a value that its hierarchy lists."""
    value = column(columns.value(bound), "t")
    if bound is columns.policy.entity:
        return rows.where(is_not_null(value), copy=False)
    if bound not in columns.policy.quasi_identifiers:
        return rows
    listed = stored_labels(bound)
    if listed is None:
        return rows
    name = f"listed_{index}"
    known = exp.select(column("value", name)).from_(listed.subquery(name), copy=False)
    same = known.where(column("value", name).eq(value.copy()), copy=False)
    return rows.where(exp.or_(is_null(value), exp.Exists(this=same)), copy=False)


def _number(engine: Engine, table: exp.Table) -> int:
    return int(engine.rows(exp.select(f.count()).from_(table.copy()))[0][0])


def _remember(engine: Engine, stream: Stream, present: str) -> None:
    """Keeps the moment and the digest of each row of the source as it is now, changing only what is another."""
    read = stream.table("read")

    def same(first: str, second: str) -> exp.Expr:
        return exp.and_(*(column(name, first).eq(column(name, second)) for name in _STATE))

    gone = exp.select(literal(1)).from_(relation(present, as_="p")).where(same("p", "r"))
    engine.run(exp.delete(relation(read, as_="r"), where=exp.not_(exp.Exists(this=gone))))
    known = exp.select(literal(1)).from_(relation(read, as_="r")).where(same("p", "r"))
    new = exp.select(*(column(name, "p") for name in _STATE)).from_(relation(present, as_="p"))
    engine.run(insert(into(relation(read), _STATE), new.where(exp.not_(exp.Exists(this=known)))))
