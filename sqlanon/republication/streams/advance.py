"""ADVANCE: reads the rows that have arrived, publishes the classes that are due, and keeps the other rows waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from sqlanon.republication.streams.publishing import batch_digests, publish, require_batch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    and_,
    ascending,
    cast,
    insert,
    is_not_null,
    numbered,
    paren,
    real,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Calls, filled, filled_query, query_file
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


# Finds the waiting rows that leave now, class by class, in one recursive query for each slice.


@dataclass(frozen=True)
class Sizes:
    """Limits of ADVANCE: rows leave in slices of `due_rows` due rows; a class is formed from the rows of its slice."""

    due_rows: int = 300


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
    [(due_rows,)] = engine.rows(select(f.count(column("horizon")), of=relation(due)))
    if not due_rows:
        return None
    coded = temp.table("coded", _coded(stream, columns, axes, due, temp))
    leaving = temp.growing_table(
        "leaving",
        select(
            *(alias(cast(exp.null(), "BIGINT"), name) for name in ("position", "oldest")),
            alias(cast(exp.null(), "BOOLEAN"), "formed"),
            where=[literal(False)],
        ),
    )
    # Only codes are read repeatedly.
    names = ("position", "horizon", "respondent", *(name for axis in axes for name in axis.code_names))
    while (last := _last_of_slice(engine, coded, leaving)) is not None:
        rows = extend(_remaining(coded, leaving), *(column(name, "c") for name in names))
        reach = select(column("horizon"), of=relation(coded), where=[column("position").eq(literal(last))])
        extend(rows, where=[exp.LTE(this=column("position", "c"), expression=subquery(reach))])
        row_code = temp.table("row_code", rows)
        engine.run(_only_until(row_code, last))
        engine.run(insert(relation(leaving), _leave(stream, axes, row_code)))
    together = [column("position", "l"), column("oldest", "l"), column("formed", "l")]
    others = exp.Star(except_=[column("position").this])
    query = select(*together, exp.Column(this=others, table=exp.to_identifier("c", quoted=True)))
    extend(query, of=relation(leaving, as_="l"))
    extend(query, joins=[inner_join(relation(coded, as_="c"), column("position", "l").eq(column("position", "c")))])
    return temp.table("member", query)


def _remaining(coded: str, leaving: str) -> exp.Select:
    left = select(literal(1), of=relation(leaving, as_="l"))
    extend(left, where=[column("position", "l").eq(column("position", "c"))])
    return select(of=relation(coded, as_="c"), where=[exp.not_(exp.Exists(this=left))])


def _last_of_slice(engine: Engine, coded: str, leaving: str) -> int | None:
    """Returns the position of the last due row of the next slice; None if no further row is due."""
    due = extend(_remaining(coded, leaving), column("position", "c"), where=[is_not_null(column("horizon", "c"))])
    extend(due, order_by=[ascending(column("position", "c"))], limit=sizes().due_rows)
    [(last,)] = engine.rows(select(f.max(column("position")), of=subquery(due, "due")))
    return None if last is None else int(last)


def _only_until(row_code: str, last: int) -> exp.Expr:
    """UPDATE that sets the horizon to NULL for rows after the position `last`, so these rows do not begin a class in
    the slice.
    """
    return exp.update(relation(row_code), {"horizon": exp.null()}, where=column("position") > literal(last))


def _leave(stream: Stream, axes: Sequence[Axis], row_code: str) -> exp.Query:
    distances = [
        filled("$weight * $distance", weight=real(float(a.bound.attribute.weight)), distance=paren(a.distance()))
        for a in axes
    ]
    calls: Calls = {
        # Added from left to right, because another order may give another DOUBLE.
        "distance": lambda: paren(added(distances)),
        "formed": lambda: paren(and_(*(axis.formed() for axis in axes))),
        "inside": lambda: paren(and_(*(axis.inside() for axis in axes))),
    }
    names = {
        "candidate": [part for axis in axes for part in axis.candidate()],
        "span": [part for axis in axes for part in axis.span()],
        "bounds": [part for axis in axes for part in axis.bounds()],
    }
    tables = {"row_code": row_code}
    return query_file("streams", "leave", tables=tables, names=names, calls=calls, others=stream.k - 1)


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
    occurring = select(alias(column(value), "value"), of=relation(stream.table("waiting")), distinct=True)
    labelled = generalized(bound, occurring, stored_labels(bound), counted=False)
    codes = [column("value"), *(column(level_name(level)) for level in range(1, bound.height))]
    query = select(column("value"), of=subquery(labelled, "labelled"))
    extend(
        query,
        *(alias(numbered([code]), code_of_level(index, level)) for level, code in enumerate(codes)),
        *(alias(column(level_name(level)), name) for level, name in enumerate(axis.text_names, start=1)),
    )
    return query
