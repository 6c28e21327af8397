"""ADVANCE: reads what has arrived, publishes the classes that are due, and keeps the other rows waiting."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.again.streams.arrivals import read_arrivals
from sqlanon.again.streams.axes import axes_of
from sqlanon.again.streams.checks import batch_digests, require_batch
from sqlanon.again.streams.columns import Columns
from sqlanon.again.streams.delays import horizon, new_watermark
from sqlanon.again.streams.leaving import leaving_rows
from sqlanon.again.streams.publishing import publish
from sqlanon.catalog import streams as catalog
from sqlanon.domain.stream import Batch, Stream
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation


def advanced(
    engine: Engine, stream: Stream, columns: Columns, scratch: Scratch, *, to_end: bool, until: str | None
) -> tuple[Batch, int | None]:
    """What one ADVANCE has done, and how many respondents the class with the fewest has; None without a class.

    With `to_end` all waiting rows are due; with `until`, a moment, those whose delay is over by then.
    """
    number = stream.batch + 1
    axes = axes_of(columns)
    arrivals = read_arrivals(engine, stream, columns, scratch)
    watermark, is_later = new_watermark(engine, stream, until)
    due = horizon(stream, arrivals.position, watermark, to_end=to_end)
    member = leaving_rows(engine, stream, columns, axes, due, scratch)
    released = reused = withheld = classes = 0
    fewest: int | None = None
    digest = ""
    if member is not None:
        released, reused, withheld, classes = publish(engine, stream, columns, axes, member, number, scratch)
        fewest = require_batch(engine, stream, number)
        digest = batch_digests(engine, stream, number).get(number, "")
    [(waiting,)] = engine.rows(exp.select(f.count()).from_(relation(stream.table("waiting"))))
    batch = Batch(
        batch=number,
        read_rows=arrivals.read_rows,
        released_rows=released,
        reused_rows=reused,
        withheld_rows=withheld + arrivals.unfit_rows + arrivals.late_rows,
        late_rows=arrivals.late_rows,
        vanished_rows=arrivals.vanished_rows,
        waiting_rows=int(waiting),
        classes=classes,
        digest=digest,
    )
    moment_over = arrivals.moment_over and not is_later
    catalog.append(engine, replace(stream, watermark=watermark, moment_over=moment_over), batch, arrivals.position)
    return batch, fewest
