"""Finds the rows of the source that are new, by their timestamp of arrival and a digest."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.numbers import counted
from sqlanon.domain.series import Stream
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError
from sqlanon.republication.streams.columns import METHOD, Columns, is_timestamp
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    big,
    cast,
    filtered,
    in_utc,
    insert,
    into,
    is_not_null,
    is_null,
    or_,
    or_zero,
    try_cast,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, query_file, reading
from sqlanon.sql.cells.labels import published_value, stored_labels
from sqlanon.syntax.texts import typed_qualified

_STATE = ("arrived", "digest", "rows")


@dataclass(frozen=True)
class Arrivals:
    """Counts of one reading: `read_rows`, and the rows that are never waiting.

    `late_rows` have a timestamp before the watermark. `unfit_rows` have no respondent, or a value that its hierarchy
    lacks. `moment_over` is true if a row with the latest timestamp has vanished, so that further rows with this
    timestamp are late.
    """

    read_rows: int
    late_rows: int
    unfit_rows: int
    vanished_rows: int
    position: int
    moment_over: bool


def watermark_of(stream: Stream) -> exp.Expr:
    """Returns the watermark: the timestamp before which all rows have been read; NULL before the first reading."""
    return cast(literal(stream.watermark), stream.order_type)


def read_arrivals(engine: Engine, stream: Stream, columns: Columns, temp: TempTables) -> Arrivals:
    """Copies the new rows of the source, in order of arrival, to the waiting rows of the stream.

    Rows with equal timestamps are sorted by their digests. Raises DataError for rows without a timestamp.
    """
    source = relation(columns.policy.relation)
    keyed = select(
        alias(column(columns.order_column), "arrived"),
        alias(_digest(columns), "digest"),
        alias(f.count(), "rows"),
        of=source,
    )
    present = temp.table("present", extend(keyed, group_by=[literal(1), literal(2)]))
    _require_timestamps(engine, columns, present)
    tables: dict[str, Relation] = {"present": present, "read_before": relation(stream.table("read"))}
    changed = temp.table("changed", query_file("streams", "changed", tables=tables))
    unread = temp.table("unread", _compared(stream, "unread", changed))
    [(vanished, of_last_timestamp)] = engine.rows(_compared(stream, "vanished", changed))
    sums = [big(filtered(f.sum(column("rows")), late)) for late in (column("late"), exp.not_(column("late")))]
    [(late_rows, new_rows)] = engine.rows(select(*map(or_zero, sums), of=relation(unread)))
    unfit = _taken(engine, stream, columns, unread, temp) if new_rows else 0
    _remember(engine, stream, changed)
    return Arrivals(
        read_rows=int(new_rows) + int(late_rows),
        late_rows=int(late_rows),
        unfit_rows=unfit,
        vanished_rows=int(vanished),
        position=stream.position + int(new_rows),
        moment_over=stream.moment_over or bool(of_last_timestamp),
    )


def _compared(stream: Stream, name: str, changed: str) -> exp.Query:
    """Returns a query of the rows whose number in the source differs from the number of times that they were read."""
    watermark = watermark_of(stream)
    return query_file("streams", name, tables={"changed": changed}, watermark=watermark, moment_over=stream.moment_over)


def _require_timestamps(engine: Engine, columns: Columns, present: str) -> None:
    """Raises DataError for rows whose timestamp is NULL or infinite."""
    unknown = filled("arrived IS NULL OR isinf(arrived)" if is_timestamp(columns.order_type) else "arrived IS NULL")
    text = "SELECT CAST(sum(rows) AS BIGINT) FROM present WHERE $unknown"
    [(rows,)] = engine.rows(filled_query(text, tables={"present": present}, unknown=unknown))
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
    """Returns the SQL of a digest of all columns that the stream reads; it does not depend on the session."""
    names = [columns.order_column, *(b.column for b in columns.attributes)]
    kinds = [columns.order_type, *(b.published_type for b in columns.attributes)]
    texts = [as_text(in_utc(name, kind)) for name, kind in zip(names, kinds, strict=True)]
    return filled("md5_number(CAST(to_json([$texts]) AS VARCHAR))", texts=texts)


def _taken(engine: Engine, stream: Stream, columns: Columns, unread: str, temp: TempTables) -> int:
    """Inserts the new rows among the waiting rows, with their positions; returns the number of unfit rows that are left
    out.
    """
    names = [columns.value(b) for b in columns.attributes]
    named = [alias(published_value(b), name) for b, name in zip(columns.attributes, names, strict=True)]
    rows = select(alias(column(columns.order_column), "arrived"), alias(_digest(columns), "digest"), *named)
    extend(rows, of=relation(columns.policy.relation), where=[_in_time(stream, column(columns.order_column))])
    tables: dict[str, Relation] = {"present": rows, "unread": unread}
    taken = query_file("streams", "new_rows", tables=tables, names={"values": names}, position=stream.position)
    arrived = temp.table("taken", taken)
    fit = select(exp.Star(), of=relation(arrived, as_="t"))
    for index, b in enumerate(columns.attributes):
        fit = _only_fit(fit, columns, b, index)
    waiting = relation(stream.table("waiting"))
    before = _number(engine, waiting)
    engine.run(insert(waiting, fit))
    return _number(engine, relation(arrived)) - (_number(engine, waiting) - before)


def _only_fit(rows: exp.Select, columns: Columns, bound: BoundAttribute, index: int) -> exp.Select:
    """Restricts rows to those with a respondent, and with a value that the hierarchy lists."""
    value = column(columns.value(bound), "t")
    if bound is columns.policy.entity:
        return extend(rows, where=[is_not_null(value)])
    if bound not in columns.policy.quasi_identifiers:
        return rows
    listed = stored_labels(bound)
    if listed is None:
        return rows
    name = f"listed_{index}"
    known = select(column("value", name), of=subquery(listed, name))
    same = extend(known, where=[column("value", name).eq(value)])
    return extend(rows, where=[or_(is_null(value), exp.Exists(this=same))])


def _number(engine: Engine, table: exp.Table) -> int:
    return int(engine.rows(select(f.count(), of=table))[0][0])


def _remember(engine: Engine, stream: Stream, changed: str) -> None:
    """Stores timestamp and digest of each row of the source as it is now; writes only the differences."""
    read, tables = stream.table("read"), {"changed": changed}
    gone = filled("EXISTS (SELECT 1 FROM changed AS c WHERE c.arrived = r.arrived AND c.digest = r.digest)")
    new = filled_query("SELECT arrived, digest, present_rows FROM changed WHERE present_rows > 0", tables=tables)
    engine.run(exp.delete(relation(read, as_="r"), where=reading(gone, tables)))
    engine.run(insert(into(relation(read), _STATE), new))


# Computes when a waiting row is due, and the watermark: the timestamp before which all rows have been read.


def require_interval(engine: Engine, delay: int | str) -> None:
    """Raises PolicyError for a text that is not a positive INTERVAL."""
    if isinstance(delay, int):
        return
    start = cast(literal("2000-01-01"), "TIMESTAMP")
    interval = try_cast(literal(delay), "INTERVAL")
    [(is_later,)] = engine.rows(select(start + interval > start))
    if not is_later:
        raise PolicyError(
            f"{METHOD}: delay must be a number of rows or an interval, not {delay!r}",
            hint="write delay => 1000 or delay => INTERVAL '10 minutes'",
            part=("method", METHOD, "delay"),
        )


def new_watermark(engine: Engine, stream: Stream, until: str | None) -> tuple[str | None, bool]:
    """Returns the new watermark as a text, and whether it is later than the former one.

    The text is None before the first row. `until` is the watermark of ADVANCE ... TO. Raises PolicyError if it is not a
    timestamp or is in the future, and for a stream whose delay is a number of rows.
    """
    timestamps = [watermark_of(stream)]
    if until is not None:
        if isinstance(stream.delay, int):
            raise PolicyError(
                f"the delay of {stream} is a number of rows, so no timestamp can be given",
                hint=f"ADVANCE {typed_qualified(stream.name)} TO END publishes the waiting rows",
                part=("until",),
            )
        timestamps.append(_timestamp(engine, stream, until))
    last = subquery(select(f.max(column("arrived")), of=relation(stream.table("read"))))
    greatest = f.greatest(timestamps[0], *timestamps[1:], last, ignore_nulls=True)
    # Compared as timestamps, because their texts may depend on the session's time zone.
    [(text, is_later)] = engine.rows(select(as_text(greatest), greatest > watermark_of(stream)))
    return None if text is None else str(text), stream.watermark is None or bool(is_later)


def _timestamp(engine: Engine, stream: Stream, until: str) -> exp.Expr:
    """Reads the timestamp of ADVANCE ... TO. Raises PolicyError for another text, and for a timestamp in the future.

    Because later rows with an earlier timestamp are late, a mistyped year would make all rows late.
    """
    timestamp = try_cast(literal(until), stream.order_type)
    kind = "TIMESTAMP WITH TIME ZONE" if stream.order_type == "TIMESTAMP WITH TIME ZONE" else "TIMESTAMP"
    now: exp.Expr = f.call("now")
    if kind == "TIMESTAMP":
        # The time zone is unknown, so the limit is the time in the zone that is furthest ahead.
        now = f.call("make_timestamp", f.call("epoch_us", now)) + cast(literal("14 hours"), "INTERVAL")
    time = cast(timestamp, kind)
    [(is_infinite, is_past)] = engine.rows(select(f.call("isinf", time), exp.LTE(this=time.copy(), expression=now)))
    if is_infinite is None or is_infinite:
        raise PolicyError(
            f"{stream.order_column} is {stream.order_type}, and {until!r} is no such timestamp",
            hint=f"write ADVANCE {typed_qualified(stream.name)} TO '2024-12-31 23:59:00', all rows before which have "
            "arrived, or TO END",
            part=("until",),
        )
    if not is_past:
        raise PolicyError(
            f"{until!r} is in the future, so rows before it may still arrive; nothing was done",
            hint=f"ADVANCE {typed_qualified(stream.name)} TO END publishes the waiting rows, and lets later rows come",
            part=("until",),
        )
    return timestamp


def horizon(stream: Stream, position: int, watermark: str | None, *, to_end: bool) -> exp.Query:
    """Returns for each waiting row the position of the last row that may leave with it; NULL while the row is not due.

    `position` belongs to the last row that was read. All rows before the `watermark` have been read.
    """
    waiting = select(exp.Star(), of=relation(stream.table("waiting")))
    delay, tables = stream.delay, {"waiting": waiting}
    if isinstance(delay, int):
        return query_file("streams", "horizon_of_rows", tables=tables, to_end=to_end, delay=delay, position=position)
    time, timestamp = cast(literal(delay), "INTERVAL"), cast(literal(watermark), stream.order_type)
    return query_file("streams", "horizon_of_time", tables=tables, to_end=to_end, delay=time, watermark=timestamp)
