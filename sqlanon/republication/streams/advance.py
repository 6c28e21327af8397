"""ADVANCE: reads the rows that have arrived, publishes the classes that are due, and keeps the other rows waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from sqlanon.catalog import streams as catalog
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.context import Adjustable
from sqlanon.domain.series import Batch, Stream
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.republication.streams.arrivals import horizon, new_watermark, read_arrivals
from sqlanon.republication.streams.axes import Axis, Nodes, Ranges, axes_of, code_of_level, code_of_value
from sqlanon.republication.streams.columns import Columns
from sqlanon.republication.streams.leaving import departures
from sqlanon.republication.streams.publishing import batch_digests, publish, require_batch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    numbered,
)
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query, filled_select
from sqlanon.sql.cells.labels import generalized, level_name, stored_labels


def advanced(
    engine: Engine, stream: Stream, columns: Columns, temp: TempTables, *, to_end: bool, until: str | None
) -> tuple[Batch, int | None]:
    """Runs one ADVANCE; returns its result, and the number of respondents in its smallest class (None if no class was
    published).

    If `to_end` is true, all waiting rows are due; if `until`, a timestamp, is given, the rows are due whose delay is
    over by then.
    """
    number = stream.batch + 1
    axes = axes_of(columns)
    arrivals = read_arrivals(engine, stream, columns, temp)
    watermark, is_later = new_watermark(engine, stream, until)
    due = horizon(stream, arrivals.position, watermark, to_end=to_end)
    member = leaving_rows(engine, stream, columns, axes, due, temp)
    released = reused = withheld = classes = 0
    fewest: int | None = None
    digest = ""
    if member is not None:
        released, reused, withheld, classes = publish(engine, stream, columns, axes, member, number, temp)
        fewest = require_batch(engine, stream, number)
        digest = batch_digests(engine, stream, number).get(number, "")
    [(waiting,)] = engine.rows(select(f.count(), of=relation(stream.table("waiting"))))
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


# Finds the waiting rows that leave now, class by class.


@dataclass(frozen=True)
class Sizes:
    """Limits of ADVANCE: codes of waiting rows are read in blocks of `block` positions."""

    block: int = 200_000


sizes = Adjustable(Sizes())


def leaving_rows(
    engine: Engine,
    stream: Stream,
    columns: Columns,
    axes: Sequence[Axis],
    horizon: exp.Query,
    temp: TempTables,
) -> str | None:
    """Creates a table of the leaving rows: position, oldest, formed, respondent, arrived, values, codes and labels.

    Rows with equal `oldest` leave together: as a class if `formed` is true, otherwise as a single row without a class.
    `horizon` has a row for each waiting row: its position, and the last position of a row that may leave with it, which
    is NULL if the row is not due. Returns None if no row is due.
    """
    due = temp.table("horizon", horizon)
    ends = [f.min(column("position")), f.max(column("horizon"))]
    [(first, last)] = engine.rows(select(*ends, of=relation(due)))
    if last is None:
        return None
    coded = temp.table("coded", _coded(stream, columns, axes, due, temp))
    block = sizes().block
    starts = range(int(first), int(last) + 1, block)
    blocks = ((start + block, engine.arrays(_numbers(axes, coded, start, start + block))) for start in starts)
    with np.errstate(over="ignore", invalid="ignore"):
        leaving = list(departures(blocks, axes, stream.k))
    query = filled_query(
        """
        SELECT l.position, l.oldest, l.formed, c.* EXCLUDE (position)
        FROM (
          SELECT
            unnest(CAST($1 AS BIGINT[])) AS position,
            unnest(CAST($2 AS BIGINT[])) AS oldest,
            unnest(CAST($3 AS BOOLEAN[])) AS formed
        ) AS l
        JOIN coded AS c ON l.position = c.position
        """,
        tables={"coded": coded},
    )
    return temp.table("member", query, [list(part) for part in zip(*leaving, strict=True)])


def _numbers(axes: Sequence[Axis], coded: str, start: int, end: int) -> exp.Query:
    """Returns the rows from the position `start` to before `end` as numbers: position, horizon, respondent and codes.

    The horizon is -1 in rows that are not due.
    """
    return filled_query(
        """
        SELECT c.position, coalesce(c.horizon, -1) AS horizon, c.respondent, {codes}
        FROM coded AS c
        WHERE c.position >= $start AND c.position < $end
        ORDER BY c.position ASC NULLS LAST
        """,
        tables={"coded": coded},
        names={"codes": [part for axis in axes for part in axis.numbers()]},
        start=start,
        end=end,
    )


def _coded(stream: Stream, columns: Columns, axes: Sequence[Axis], due: str, temp: TempTables) -> exp.Query:
    """Returns the waiting rows with their horizon, their respondent's number, their codes and their labels."""
    entity = columns.policy.entity
    outputs: list[exp.Expr] = []
    trees: dict[str, str] = {}
    values: list[str] = []
    for index, axis in enumerate(axes):
        value, name = columns.value(axis.bound), f"tree_{index}"
        if isinstance(axis, Ranges):
            outputs.append(alias(code_of_value(axis.bound, column(value, "w")), axis.code_names[0]))
            continue
        assert isinstance(axis, Nodes)
        trees[name] = temp.table("tree", _tree(stream, axis.bound, axis, index, value))
        values.append(value)
        outputs += [column(part, name) for part in (*axis.code_names, *axis.text_names)]
    return filled_query(
        """
        SELECT w.*, h.horizon, $respondent AS respondent, {outputs}
        FROM waiting AS w
        JOIN due AS h ON w.position = h.position
        JOIN "{trees}" AS "{of}" ON {w.values} IS NOT DISTINCT FROM "{of}".value
        """,
        tables={"waiting": relation(stream.table("waiting")), "due": due},
        names={"outputs": outputs, "trees": [*trees.values()], "of": [*trees], "values": values},
        respondent=column("position", "w") if entity is None else numbered([column(columns.value(entity), "w")]),
    )


def _tree(stream: Stream, bound: BoundAttribute, axis: Nodes, index: int, value: str) -> exp.Select:
    """Returns value, its label at each level above it, and its ancestor's number at each level."""
    text = 'SELECT DISTINCT {value} AS value FROM "{waiting}"'
    occurring = filled_query(text, names={"value": value, "waiting": relation(stream.table("waiting"))})
    labelled = generalized(bound, occurring, stored_labels(bound), counted=False)
    labels = [level_name(level) for level in range(1, bound.height)]
    codes = ["value", *labels]
    return filled_select(
        'SELECT value, $codes AS "{codes}", {labels} AS "{texts}" FROM labelled',
        tables={"labelled": labelled},
        names={
            "codes": [code_of_level(index, level) for level in range(len(codes))],
            "labels": labels[: len(axis.text_names)],
            "texts": axis.text_names,
        },
        codes=[numbered([column(code)]) for code in codes],
    )
