"""When a waiting row is due, and the moment before which all rows have been read."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.again.streams.arrivals import watermark_of
from sqlanon.again.streams.options import METHOD
from sqlanon.domain.stream import Stream
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, try_cast
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading


def require_interval(engine: Engine, delay: int | str) -> None:
    """Raises PolicyError for a text that is no interval of time, or none that ends after it begins."""
    if isinstance(delay, int):
        return
    start = cast(literal("2000-01-01"), "TIMESTAMP")
    interval = try_cast(literal(delay), "INTERVAL")
    [(is_later,)] = engine.rows(exp.select(start + interval > start.copy()))
    if not is_later:
        raise PolicyError(
            f"{METHOD}: a delay is a number of rows or a time, not {delay!r}",
            hint="write delay => 1000 or delay => INTERVAL '10 minutes'",
            part=("method", METHOD, "delay"),
        )


def new_watermark(engine: Engine, stream: Stream, until: str | None) -> tuple[str | None, bool]:
    """The text of the moment before which all rows have been read, by now, and whether it is later than before.

    The text is None if there is none yet. `until` is such a moment as the user says. Raises PolicyError if it is none,
    or is still to come, or if nothing becomes due by it.
    """
    moments = [watermark_of(stream)]
    if until is not None:
        if isinstance(stream.delay, int):
            raise PolicyError(
                f"rows of the {stream} are due when others have arrived after them, not at a moment",
                hint=f"ADVANCE {stream.name} TO END publishes what waits",
                part=("until",),
            )
        moments.append(_moment(engine, stream, until))
    last = exp.select(f.max(column("arrived"))).from_(relation(stream.table("read"))).subquery()
    greatest = f.greatest(moments[0], *moments[1:], last, ignore_nulls=True)
    # Compared as moments: the text of one may depend on the session's time zone.
    [(text, is_later)] = engine.rows(exp.select(as_text(greatest), greatest.copy() > watermark_of(stream)))
    return None if text is None else str(text), stream.watermark is None or bool(is_later)


def _moment(engine: Engine, stream: Stream, until: str) -> exp.Expr:
    """The moment of ADVANCE ... TO. Raises PolicyError for a text that is none, and for one that is still to come.

    Rows that arrive before it are late from then on: after a slip of the pen all rows would be.
    """
    moment = try_cast(literal(until), stream.order_type)
    kind = "TIMESTAMP WITH TIME ZONE" if stream.order_type == "TIMESTAMP WITH TIME ZONE" else "TIMESTAMP"
    now: exp.Expr = f.call("now")
    if kind == "TIMESTAMP":
        # Nobody knows whose time it is: that of the clock that is most ahead of all.
        now = f.call("make_timestamp", f.call("epoch_us", now)) + cast(literal("14 hours"), "INTERVAL")
    time = cast(moment.copy(), kind)
    [(is_infinite, is_past)] = engine.rows(exp.select(f.call("isinf", time), exp.LTE(this=time.copy(), expression=now)))
    if is_infinite is None or is_infinite:
        raise PolicyError(
            f"{stream.order_column} is {stream.order_type}, and {until!r} is no such moment",
            hint=f"write ADVANCE {stream.name} TO '2024-12-31 23:59:00', all rows before which have arrived, or TO END",
            part=("until",),
        )
    if not is_past:
        raise PolicyError(
            f"{until!r} is still to come, so that not all rows before it have arrived; nothing was done",
            hint=f"ADVANCE {stream.name} TO END publishes what waits, and lets later rows come",
            part=("until",),
        )
    return moment


def horizon(stream: Stream, position: int, watermark: str | None, *, to_end: bool) -> exp.Query:
    """Of each waiting row the position of the last that may leave with it; NULL while it is not due.

    `position` is that of the last row that was read, and all rows before the `watermark` have been.
    """
    waiting = exp.select(exp.Star()).from_(relation(stream.table("waiting")))
    values: dict[str, exp.Expr] = {"to_end": literal(to_end)}
    if isinstance(stream.delay, int):
        query = query_file("streams", "horizon_of_rows")
        values |= {"delay": literal(stream.delay), "position": literal(position)}
    else:
        query = query_file("streams", "horizon_of_time")
        values |= {"delay": cast(literal(stream.delay), "INTERVAL")}
        values |= {"watermark": cast(literal(watermark), stream.order_type)}
    for placeholder in list(query.find_all(exp.Placeholder, exp.Parameter)):
        placeholder.replace(values[placeholder.name].copy())
    return reading(query, {"waiting": waiting})
