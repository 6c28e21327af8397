"""Slots, the groups of all regions, merged to buckets until each bucket meets every requirement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.shared.bucket_tables import code_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    if_,
    infix,
    is_null,
    or_zero,
    order_by,
    same,
    total,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import Rows


def slots(groups: str) -> exp.Select:
    """slot, base, chunk, chunks, first: every slot, a chunk and a bucket by itself; `first` is the bucket's first slot.

    `base` is the first slot of the region, which has `chunks` chunks, numbered from 0.
    """
    last = column("groups") - 1
    each = f.unnest(exp.GenerateSeries(start=literal(0), end=last, step=literal(1)))
    named = exp.select(column("base"), alias(column("groups"), "chunks"), alias(each, "chunk")).from_(relation(groups))
    slot = column("base") + column("chunk")
    query = exp.select(alias(slot, "slot"), column("base"), column("chunk"), column("chunks"))
    return query.select(alias(slot.copy(), "first")).from_(named.subquery("numbered"), copy=False)


def tally(rows: str, index: int) -> exp.Select:
    """slot, code, n: how many rows of each slot have each value of the attribute at this index."""
    code = column(code_name(index))
    query = exp.select(column("slot"), alias(code, "code"), alias(f.count(), "n"))
    return query.from_(relation(rows)).group_by(column("slot"), code.copy())


def class_rows(tally: str, slots: str, codes: str, attribute: str) -> Rows:
    """The buckets with the values of one attribute: a class is the slots that have the same first slot."""
    counted = exp.select(alias(column("first", "slot"), "class_id"), column("value", "coded"), column("n", "tally"))
    counted.from_(relation(tally, as_="tally"), copy=False)
    counted.join(relation(slots, as_="slot"), on=same("slot", "tally", "slot"), copy=False)
    counted.join(relation(codes, as_="coded"), on=same("code", "tally", "coded"), copy=False)
    class_id = column("class_id")
    return Rows(
        counted.subquery("bucket"), (class_id,), class_id.copy(), {attribute: column("value")}, weight=column("n")
    )


def whole_rows(codes: str, attribute: str) -> Rows:
    """All rows as one class, with the values of one attribute."""
    return Rows(relation(codes), (), literal(0), {attribute: column("value")}, weight=column("n"))


def merged(slots: str, violating: str) -> exp.Select:
    """The slots with half as many chunks, each of which is one bucket where one of its buckets violates.

    Chunk i of m is merged with chunk i + m/2: neighbours have the same values, because rows are dealt out in the order
    of their values. The merged chunks are those that half as many groups would have made.
    """
    half = (column("chunks", "slot") + 1) // 2
    chunk = column("chunk", "slot") % half
    hit = exp.select(column("base", "slot"), alias(chunk, "chunk")).distinct(copy=False)
    hit.from_(relation(slots, as_="slot"), copy=False)
    first = column("slot", "slot").eq(column("class_id", "violating"))
    hit.join(relation(violating, as_="violating"), on=first, copy=False)
    number = if_(is_null(column("chunk", "hit")), column("first", "slot"), column("base", "slot") + chunk)
    query = exp.select(
        column("slot", "slot"),
        column("base", "slot"),
        alias(chunk.copy(), "chunk"),
        alias(half.copy(), "chunks"),
        alias(number, "first"),
    )
    on = exp.and_(same("base", "slot", "hit"), chunk.eq(column("chunk", "hit")))
    return query.from_(relation(slots, as_="slot")).join(hit.subquery("hit"), on=on, join_type="LEFT", copy=False)


def bucket_numbers(slots: str, draw: str) -> exp.Select:
    """slot, bucket: the first slot of each bucket, and the bucket's number from 1, in an order that was drawn."""
    bits = alias(f.call(draw, 0), "draw")
    # The first slot of a bucket is in the bucket, so each bucket occurs once.
    heads = column("slot").eq(column("first"))
    shaken = exp.select(column("slot"), bits).from_(relation(slots)).where(heads, copy=False)
    order = order_by(ascending(column("draw")))
    number = window(f.row_number(), order=order)
    return exp.select(column("slot"), alias(number, "bucket")).from_(shaken.subquery("shaken"), copy=False)


def all_numbers(slots: str, numbers: str) -> exp.Select:
    """slot, bucket: every slot with the number of its bucket, from those of `bucket_numbers`."""
    query = exp.select(column("slot", "slot"), column("bucket", "number")).from_(relation(slots, as_="slot"))
    of_first = column("first", "slot").eq(column("slot", "number"))
    return query.join(relation(numbers, as_="number"), on=of_first, copy=False)


def rows_in_buckets(rows: str, numbers: str, columns: Sequence[str]) -> exp.Select:
    """bucket, and these columns of `rows`: every row with its bucket; `numbers` has the bucket of every slot."""
    query = exp.select(column("bucket", "number"), *(column(name, "row") for name in columns))
    query.from_(relation(rows, as_="row"), copy=False)
    return query.join(relation(numbers, as_="number"), on=same("slot", "row", "number"), copy=False)


def sizes_of_groups(groups: str) -> exp.Select:
    """How many groups there are, the rows of the smallest and of the largest, and all rows.

    Row i of a region is in group i mod g, so of r rows a group has r // g, and the first r mod g have one more.
    """
    rows, number = column("rows"), column("groups")
    least = rows // number
    most = infix(least.copy(), "+", if_(rows % number > 0, 1, 0))
    figures = (total(number.copy()), f.min(least), f.max(most), total(rows.copy()))
    return exp.select(*map(or_zero, figures)).from_(relation(groups))


def sizes(rows_in_buckets: str) -> exp.Select:
    """How many buckets there are, the rows of the smallest and of the largest, and all rows."""
    counted = exp.select(alias(f.count(), "n")).from_(relation(rows_in_buckets)).group_by(column("bucket"))
    figures = (f.min(column("n")), f.max(column("n")), total(column("n")))
    return exp.select(f.count(), *map(or_zero, figures)).from_(counted.subquery("bucket"), copy=False)
