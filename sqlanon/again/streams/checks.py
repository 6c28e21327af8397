"""How many respondents the rows with one label stem from, counted from what is published and from who was published."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.again.streams.axes import label_name
from sqlanon.again.streams.columns import BATCH
from sqlanon.catalog.digests import rows_in_utc
from sqlanon.domain.report import Measurement
from sqlanon.domain.stream import Stream
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, PrivacyViolation, UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.same_rows import has_same_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, infix, order_by
from sqlanon.sql.build.names import alias, column, literal, relation

QUESTION = "k_anonymity"

STATE = ("waiting", "read", "label")


def is_whole(engine: Engine, stream: Stream) -> bool:
    """Whether the stream's table is there, with its own columns."""
    described = find_relation(engine, own_object(engine, stream.name))
    if described is None or described[0] != "table":
        return False
    return engine.columns(exp.select(exp.Star()).from_(relation(described[1]))) == list(stream.published)


def require_whole(engine: Engine, stream: Stream) -> None:
    """Raises UserError if the stream's table is gone, or is another one, CatalogError if one of its state is."""
    if not is_whole(engine, stream):
        raise UserError(
            f"the table of the {stream} is gone, or has other columns; nothing was done",
            hint="DROP ANONYMIZED STREAM forgets what waits for it, CREATE ANONYMIZED STREAM begins another",
        )
    for purpose in STATE:
        if find_relation(engine, own_object(engine, stream.table(purpose))) is None:
            raise CatalogError(
                f"the {stream} lacks its table {stream.table(purpose)}, which says what it has read and published; "
                "nothing was done",
                hint="put it back from a backup, or DROP ANONYMIZED STREAM and begin another",
            )


def batch_digests(engine: Engine, stream: Stream, batch: int | None = None) -> dict[int, str]:
    """The SHA-256 of the rows of each batch, in whatever order they stand; of one batch if it is named."""
    rows = rows_in_utc(_table(engine, stream), stream.published)
    if batch is not None:
        rows.where(column(BATCH).eq(literal(batch)), copy=False)
    said = exp.select(column(BATCH), alias(as_text(f.call("to_json", column("said"))), "said")).from_(
        rows.subquery("said")
    )
    # In byte order, which no collation changes. A sum or an exclusive or of digests would let equal rows cancel out.
    in_order = order_by(ascending(f.call("encode", column("said"))))
    lines = f.string_agg(column("said"), f.call("chr", 10), in_order)
    query = exp.select(column(BATCH), f.call("sha256", lines)).from_(said.subquery("said")).group_by(column(BATCH))
    return {int(number): str(text) for number, text in engine.rows(query)}


def has_own_rows(engine: Engine, stream: Stream) -> bool:
    """Whether the stream's table has the rows that were published, each as often, and no others."""
    known = engine.rows(
        exp.select(column("batch"), column("digest"))
        .from_(relation(("anon", "stream_batch")))
        .where(column("stream_id").eq(literal(stream.stream_id)), column("released_rows") + column("reused_rows") > 0)
    )
    return batch_digests(engine, stream) == {int(batch): str(digest) for batch, digest in known}


def _table(engine: Engine, stream: Stream) -> exp.Table:
    return relation(own_object(engine, stream.name))


def _same_labels(engine: Engine, stream: Stream, batch: int | None) -> bool:
    """Whether the table has as many rows of each label, in each batch, as were remembered with their respondents."""
    quasi = stream.quasi_identifiers
    labels = [column(label_name(index), "l") for index in range(len(quasi))]
    published = exp.select(column(BATCH), *map(column, quasi), f.count()).from_(_table(engine, stream))
    known = exp.select(column("batch", "m"), *labels, f.count()).from_(_members(stream).subquery("m"))
    known.join(relation(stream.table("label"), as_="l"), on=_same_class(), join_type="LEFT", copy=False)
    if batch is not None:
        published.where(column(BATCH).eq(literal(batch)), copy=False)
        known.where(column("batch", "m").eq(literal(batch)), copy=False)
    numbers = [literal(number) for number in range(1, len(quasi) + 2)]
    return has_same_rows(engine, published.group_by(*numbers), known.group_by(*(n.copy() for n in numbers)))


def _members(stream: Stream) -> exp.Select:
    members = exp.select(exp.Star()).from_(relation(("anon", "stream_member")))
    return members.where(column("stream_id").eq(literal(stream.stream_id)))


def _same_class() -> exp.Expr:
    return column("class_no", "m").eq(column("class_no", "l"))


def _people(stream: Stream, keys: Sequence[exp.Expr]) -> exp.Select:
    """people, the number of respondents, and rows, of those published under a label, for each of the `keys`."""
    people = exp.select(alias(f.count_distinct(column("respondent", "m")), "people"), alias(f.count(), "rows"))
    people.from_(_members(stream).subquery("m"), copy=False)
    people.join(relation(stream.table("label"), as_="l"), on=_same_class(), copy=False)
    return people.group_by(*keys, copy=False)


def require_batch(engine: Engine, stream: Stream, batch: int) -> int | None:
    """The number of respondents of the class of a batch that has the fewest, None if it has no class.

    Raises PrivacyViolation if they are too few, or have several rows in a class, or if other rows were published than
    were remembered.
    """
    classes = _people(stream, [column("class_no", "l")])
    classes.where(
        column("batch", "l").eq(literal(batch)),
        column("batch", "m").eq(literal(batch)),
        exp.not_(column("reused", "m")),
        copy=False,
    )
    several = f.bool_or(infix(column("rows"), ">", column("people")))
    [(fewest, has_several)] = engine.rows(
        exp.select(f.min(column("people")), several).from_(classes.subquery("counted"))
    )
    if (fewest is not None and fewest < stream.k) or has_several or not _same_labels(engine, stream, batch):
        raise PrivacyViolation(f"the {stream} would publish a class of too few respondents; nothing was published")
    return None if fewest is None else int(fewest)


def measured(engine: Engine, stream: Stream) -> Measurement:
    """From how many respondents the rows with one label stem at the least (k_s-anonymity), over all batches.

    Raises PrivacyViolation if the table has other rows than were published.
    """
    if not has_own_rows(engine, stream) or not _same_labels(engine, stream, None):
        raise PrivacyViolation(
            f"{stream.name} does not have the rows that were published, so that nobody can say whose they are",
            hint="put back what was changed, from a backup or by undoing the change",
        )
    labels: list[exp.Expr] = [column(label_name(index), "l") for index in range(len(stream.quasi_identifiers))]
    people = _people(stream, labels)
    [(fewest,)] = engine.rows(exp.select(f.min(column("people"))).from_(people.subquery("counted")))
    return Measurement(QUESTION, None, float(stream.k), fewest, fewest is None or fewest >= stream.k)
