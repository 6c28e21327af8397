"""Publishes leaving rows: creates and reuses labels of classes, and records the respondents under each label."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.catalog.releases import rows_in_utc
from sqlanon.domain.release import Measurement
from sqlanon.domain.series import Stream
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import CatalogError, PrivacyViolation, UserError
from sqlanon.republication.series.respondents import known_text
from sqlanon.republication.streams.axes import Axis, label_name
from sqlanon.republication.streams.columns import BATCH, Columns
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import has_same_rows, own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added, and_, cast, infix, insert, into, paren, real
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.render import create_table, shuffled
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file


def published_columns(columns: Columns) -> tuple[tuple[str, str], ...]:
    """Returns the columns of a stream's table with their types; labels are texts."""
    quasi = columns.policy.quasi_identifiers
    kinds = ((b.column, "VARCHAR" if b in quasi else b.published_type) for b in columns.policy.published)
    return ((BATCH, "BIGINT"), *kinds)


def create_tables(engine: Engine, stream: Stream, columns: Columns, axes: Sequence[Axis], temp: TempTables) -> None:
    """Creates the stream's table and its state, both empty."""
    values = [(columns.value(b), b.published_type) for b in columns.attributes]
    waiting = [("position", "BIGINT"), ("arrived", columns.order_type), *values]
    _create(engine, own_object(engine, stream.name), stream.published)
    _create(engine, stream.table("waiting"), waiting)
    _create(engine, stream.table("read"), [("arrived", columns.order_type), ("digest", "UHUGEINT"), ("rows", "BIGINT")])
    coded = [
        (n, kind) for a in axes for kind, names in (("BIGINT", a.code_names), ("VARCHAR", a.text_names)) for n in names
    ]
    row = temp.table("member", _no_rows([*waiting, *coded]))
    numbers = [alias(cast(literal(0), "BIGINT"), name) for name in ("class_no", "batch")]
    labels = select(*numbers, *(part for axis in axes for part in axis.label()), of=relation(row, as_="m"))
    engine.run(create_table(stream.table("label"), extend(labels, having=literal(False))))


def _no_rows(columns: Sequence[tuple[str, str]]) -> exp.Select:
    return select(*(alias(cast(exp.null(), kind), name) for name, kind in columns), where=[literal(False)])


def _create(engine: Engine, name: QualifiedName, columns: Sequence[tuple[str, str]]) -> None:
    """Creates an empty table that once had a row, because DuckDB may lose rows of a table that had none in its
    transaction.
    """
    engine.run(create_table(name, _no_rows(columns)))
    engine.run(exp.Insert(this=relation(name), default=True))
    engine.run(exp.Delete(this=relation(name)))


def publish(
    engine: Engine,
    stream: Stream,
    columns: Columns,
    axes: Sequence[Axis],
    member: str,
    batch: int,
    temp: TempTables,
) -> tuple[int, int, int, int]:
    """Publishes the rows of `member` as a batch, and deletes them from the waiting rows.

    Returns the numbers of rows released in classes, of rows under a reused label, of rows withheld, and of classes.
    """
    formed = column("formed", "m")
    labels = select(alias(column("oldest", "m"), "class_no"), alias(literal(batch), "batch"))
    extend(labels, *(part for axis in axes for part in axis.label()), of=relation(member, as_="m"), where=[formed])
    extend(labels, group_by=[column("oldest", "m")])
    engine.run(insert(relation(stream.table("label")), labels))
    placed = select(column("position", "m"), alias(column("oldest", "m"), "class_no"), alias(literal(False), "reused"))
    extend(placed, of=relation(member, as_="m"), where=[formed])
    label_places = temp.growing_table("place", placed)
    if stream.reuse:
        engine.run(insert(relation(label_places), _reused(stream, axes, member, temp)))
    _insert_members(engine, stream, columns, member, label_places, batch)
    _insert_rows(engine, stream, columns, axes, member, label_places, batch)
    gone = select(column("position"), of=relation(member))
    engine.run(
        exp.delete(relation(stream.table("waiting")), where=exp.In(this=column("position"), query=subquery(gone)))
    )
    reused = exp.Filter(this=f.count(), expression=exp.Where(this=column("reused")))
    classes = f.count_distinct(exp.Case(ifs=[exp.If(this=exp.not_(column("reused")), true=column("class_no"))]))
    [(published, under_labels, formed_classes)] = engine.rows(
        select(f.count(), reused, classes, of=relation(label_places))
    )
    [(left,)] = engine.rows(select(f.count(), of=relation(member)))
    return published - under_labels, under_labels, left - published, formed_classes


def _reused(stream: Stream, axes: Sequence[Axis], member: str, temp: TempTables) -> exp.Query:
    """Returns position, class_no and reused of rows without a class: the narrowest earlier label that covers each row.

    If several labels are equal, the oldest is taken. Widths are compared as shares of the span of all earlier labels.
    """
    label = relation(stream.table("label"))
    spans = [part for axis in axes for part in axis.spans()]
    measured = filled_query("SELECT l.*, {spans} FROM label AS l", tables={"label": label}, names={"spans": spans})
    return query_file(
        "streams",
        "reused_labels",
        tables={"member": member, "measured": temp.table("measured", measured), "label": label},
        names={"texts": [part.alias for axis in axes for part in axis.label()]},
        width=axes_width(axes),
        covers=and_(*(axis.covers() for axis in axes)),
    )


def axes_width(axes: Sequence[Axis]) -> exp.Expr:
    """Returns the width of a label in all quasi-identifiers together, by their weights."""
    shares = [
        filled("$weight * $width", weight=real(float(a.bound.attribute.weight)), width=paren(a.width())) for a in axes
    ]
    return added(shares)


def _insert_members(
    engine: Engine, stream: Stream, columns: Columns, member: str, label_places: str, batch: int
) -> None:
    """Records the label under which each respondent is published; the respondent is a digest that only this stream
    uses.
    """
    entity = columns.policy.entity
    who = column("position", "m") if entity is None else known_text(columns.value(entity), entity.published_type)
    target = into(relation(("anon", "stream_member")), ("stream_id", "batch", "class_no", "reused", "respondent"))
    rows = filled_query(
        "SELECT $stream, $batch, p.class_no, p.reused, $token "
        "FROM place AS p JOIN member AS m ON p.position = m.position",
        tables={"place": label_places, "member": member},
        stream=stream.stream_id,
        batch=batch,
        token=filled("CAST(left(sha256($salt || CAST($who AS VARCHAR)), 32) AS UUID)", salt=f"{stream.salt}:", who=who),
    )
    engine.run(insert(target, rows))


def _insert_rows(
    engine: Engine, stream: Stream, columns: Columns, axes: Sequence[Axis], member: str, label_places: str, batch: int
) -> None:
    """Appends the rows to the table in a random order that cannot be reproduced."""
    labels = {axis.bound: column(label_name(index), "l") for index, axis in enumerate(axes)}
    rows = select(alias(literal(batch), BATCH))
    for b in columns.policy.published:
        value = labels[b] if b in labels else column(columns.value(b), "m")
        extend(rows, alias(value, b.column))
    extend(rows, of=relation(label_places, as_="p"))
    extend(rows, joins=[inner_join(relation(member, as_="m"), column("position", "p").eq(column("position", "m")))])
    extend(
        rows,
        joins=[
            inner_join(relation(stream.table("label"), as_="l"), column("class_no", "p").eq(column("class_no", "l")))
        ],
    )
    target = into(relation(own_object(engine, stream.name)), [name for name, _ in stream.published])
    with registered(engine, "random_draw") as draw:
        engine.run(insert(target, shuffled(rows, draw)))


# Counts the respondents behind the rows with one label, from the published rows and the recorded respondents.


QUESTION = "k_anonymity"

STATE = ("waiting", "read", "label")


def is_whole(engine: Engine, stream: Stream) -> bool:
    """Whether the stream's table exists with the stream's columns."""
    described = find_relation(engine, own_object(engine, stream.name))
    if described is None or described[0] != "table":
        return False
    return engine.columns(select(exp.Star(), of=relation(described[1]))) == list(stream.published)


def require_whole(engine: Engine, stream: Stream) -> None:
    """Raises UserError if the stream's table is missing or has been replaced, and CatalogError if a table with its
    state is.
    """
    if not is_whole(engine, stream):
        raise UserError(
            f"the table of the {stream} is gone, or has other columns; nothing was done",
            hint="DROP ANONYMIZED STREAM discards the waiting rows; CREATE ANONYMIZED STREAM begins another stream",
        )
    for purpose in STATE:
        if find_relation(engine, own_object(engine, stream.table(purpose))) is None:
            raise CatalogError(
                f"the {stream} lacks its table {stream.table(purpose)}, which records the rows that it has read and "
                "published; nothing was done",
                hint="put it back from a backup, or DROP ANONYMIZED STREAM and begin another",
            )


def batch_digests(engine: Engine, stream: Stream, batch: int | None = None) -> dict[int, str]:
    """Computes the SHA-256 of the rows of each batch, or of one batch; the order of rows does not change it."""
    rows = rows_in_utc(_table(engine, stream), stream.published)
    if batch is not None:
        extend(rows, where=[column(BATCH).eq(literal(batch))])
    query = query_file("streams", "batch_digests", tables={"published": rows}, names={"batch": BATCH})
    return {int(number): str(text) for number, text in engine.rows(query)}


def has_own_rows(engine: Engine, stream: Stream) -> bool:
    """Whether the stream's table has exactly the published rows, each as often as it was published."""
    digests = filled_query(
        "SELECT batch, digest FROM anon.stream_batch WHERE stream_id = $stream AND released_rows + reused_rows > 0",
        stream=stream.stream_id,
    )
    known = engine.rows(digests)
    return batch_digests(engine, stream) == {int(batch): str(digest) for batch, digest in known}


def _table(engine: Engine, stream: Stream) -> exp.Table:
    return relation(own_object(engine, stream.name))


def _same_labels(engine: Engine, stream: Stream, batch: int | None) -> bool:
    """Whether the table has, in each batch, as many rows of each label as were recorded with their respondents."""
    quasi = stream.quasi_identifiers
    labels = [column(label_name(index), "l") for index in range(len(quasi))]
    published = select(column(BATCH), *map(column, quasi), f.count(), of=_table(engine, stream))
    known = select(column("batch", "m"), *labels, f.count(), of=subquery(_members(stream), "m"))
    extend(known, joins=[left_join(relation(stream.table("label"), as_="l"), _same_class())])
    if batch is not None:
        extend(published, where=[column(BATCH).eq(literal(batch))])
        extend(known, where=[column("batch", "m").eq(literal(batch))])
    numbers = [literal(number) for number in range(1, len(quasi) + 2)]
    return has_same_rows(engine, extend(published, group_by=numbers), extend(known, group_by=numbers))


def _members(stream: Stream) -> exp.Query:
    return filled_query("SELECT * FROM anon.stream_member WHERE stream_id = $stream", stream=stream.stream_id)


def _same_class() -> exp.Expr:
    return column("class_no", "m").eq(column("class_no", "l"))


def _people(stream: Stream, keys: Sequence[exp.Expr]) -> exp.Select:
    """Counts the respondents (people) and the rows published under each label, grouped by the `keys`."""
    return filled_select(
        "SELECT count(DISTINCT m.respondent) AS people, count(*) AS rows "
        "FROM member AS m JOIN label AS l ON m.class_no = l.class_no GROUP BY {keys}",
        tables={"member": _members(stream), "label": relation(stream.table("label"))},
        names={"keys": keys},
    )


def require_batch(engine: Engine, stream: Stream, batch: int) -> int | None:
    """Returns the number of respondents in the smallest class of a batch; None for a batch without a class.

    Raises PrivacyViolation if a class has too few respondents or several rows of one respondent, or if the published
    rows differ from the recorded rows.
    """
    classes = _people(stream, [column("class_no", "l")])
    extend(
        classes,
        where=[
            column("batch", "l").eq(literal(batch)),
            column("batch", "m").eq(literal(batch)),
            exp.not_(column("reused", "m")),
        ],
    )
    several = f.bool_or(infix(column("rows"), ">", column("people")))
    [(fewest, has_several)] = engine.rows(select(f.min(column("people")), several, of=subquery(classes, "counted")))
    if (fewest is not None and fewest < stream.k) or has_several or not _same_labels(engine, stream, batch):
        raise PrivacyViolation(f"the {stream} would publish a class of too few respondents; nothing was published")
    return None if fewest is None else int(fewest)


def measured(engine: Engine, stream: Stream) -> Measurement:
    """Measures k_s-anonymity: the smallest number of respondents behind the rows with the same label, over all batches.

    Raises PrivacyViolation if the table has rows other than those that were published.
    """
    if not has_own_rows(engine, stream) or not _same_labels(engine, stream, None):
        raise PrivacyViolation(
            f"{stream.name} does not have the rows that were published, so their respondents are unknown",
            hint="undo the change, or restore the rows from a backup",
        )
    labels: list[exp.Expr] = [column(label_name(index), "l") for index in range(len(stream.quasi_identifiers))]
    people = _people(stream, labels)
    [(fewest,)] = engine.rows(select(f.min(column("people")), of=subquery(people, "counted")))
    return Measurement(QUESTION, None, float(stream.k), fewest, fewest is None or fewest >= stream.k)
