"""Slots, the groups of all regions, put together to buckets until each of these meets what is required."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.anatomy.assign_groups import code_name
from sqlanon.sqlgen.build.expressions import or_zero, total
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.rows import Rows

__all__ = [
    "all_numbers",
    "bucket_numbers",
    "class_rows",
    "merged",
    "places",
    "sizes",
    "sizes_of_groups",
    "slots",
    "tally",
    "whole_rows",
]


def slots(groups: str) -> exp.Select:
    """slot, base, chunk, chunks, first: every slot, a chunk and a bucket by itself; `first` is that of the bucket.

    `base` is the first slot of the region, which has `chunks` chunks, numbered from 0.
    """
    last = exp.Sub(this=column("groups"), expression=literal(1))
    each = exp.Explode(this=exp.GenerateSeries(start=literal(0), end=last, step=literal(1)))
    named = exp.select(column("base"), alias(column("groups"), "chunks"), alias(each, "chunk")).from_(relation(groups))
    slot = exp.Add(this=column("base"), expression=column("chunk"))
    query = exp.select(alias(slot, "slot"), column("base"), column("chunk"), column("chunks"))
    return query.select(alias(slot.copy(), "first")).from_(named.subquery("numbered"), copy=False)


def tally(dealt: str, place: int) -> exp.Select:
    """slot, code, n: how many rows of each slot have each value of the attribute at this place."""
    code = column(code_name(place))
    query = exp.select(column("slot"), alias(code, "code"), alias(exp.Count(this=exp.Star()), "n"))
    return query.from_(relation(dealt)).group_by(column("slot"), code.copy())


def class_rows(tally: str, slots: str, codes: str, attribute: str) -> Rows:
    """The buckets with the values of one attribute: a class is the slots that have the same first one."""
    counted = exp.select(
        alias(column("first", "slot"), "class_id"), column("value", "coded"), column("n", "tally")
    ).from_(relation(tally, as_="tally"))
    of_slot = exp.EQ(this=column("slot", "tally"), expression=column("slot", "slot"))
    of_code = exp.EQ(this=column("code", "tally"), expression=column("code", "coded"))
    counted.join(relation(slots, as_="slot"), on=of_slot, copy=False)
    counted.join(relation(codes, as_="coded"), on=of_code, copy=False)
    class_id = column("class_id")
    return Rows(
        counted.subquery("bucket"), (class_id,), class_id.copy(), {attribute: column("value")}, weight=column("n")
    )


def whole_rows(codes: str, attribute: str) -> Rows:
    """All rows as one class, with the values of one attribute."""
    return Rows(relation(codes), (), literal(0), {attribute: column("value")}, weight=column("n"))


def merged(slots: str, violating: str) -> exp.Select:
    """The slots with half as many chunks, each of which is one bucket where one of its buckets violates.

    Chunk i and chunk i + m/2 of m come together: neighbours hold the same values, for rows are dealt out in their
    order. What comes together is then what half as many groups would have been.
    """
    half = exp.IntDiv(
        this=exp.Paren(this=exp.Add(this=column("chunks", "slot"), expression=literal(1))), expression=literal(2)
    )
    chunk = exp.Mod(this=column("chunk", "slot"), expression=exp.Paren(this=half))
    hit = exp.select(column("base", "slot"), alias(chunk, "chunk")).distinct(copy=False)
    hit.from_(relation(slots, as_="slot"), copy=False)
    first = exp.EQ(this=column("slot", "slot"), expression=column("class_id", "violating"))
    hit.join(relation(violating, as_="violating"), on=first, copy=False)
    together = exp.Add(this=column("base", "slot"), expression=exp.Paren(this=chunk.copy()))
    alone = exp.Is(this=column("chunk", "hit"), expression=exp.Null())
    number = exp.Case(ifs=[exp.If(this=alone, true=column("first", "slot"))], default=together)
    query = exp.select(
        column("slot", "slot"),
        column("base", "slot"),
        alias(chunk.copy(), "chunk"),
        alias(half.copy(), "chunks"),
        alias(number, "first"),
    )
    same = [
        exp.EQ(this=column("base", "slot"), expression=column("base", "hit")),
        exp.EQ(this=exp.Paren(this=chunk.copy()), expression=column("chunk", "hit")),
    ]
    return query.from_(relation(slots, as_="slot")).join(
        hit.subquery("hit"), on=exp.and_(*same), join_type="LEFT", copy=False
    )


def bucket_numbers(slots: str, draw: str) -> exp.Select:
    """slot, bucket: the first slot of each bucket, and the bucket's number from 1, in an order that was drawn."""
    bits = alias(exp.Anonymous(this=draw, expressions=[literal(0)]), "draw")
    # The first slot of a bucket is one of its own, so each bucket is met once.
    heads = exp.EQ(this=column("slot"), expression=column("first"))
    shaken = exp.select(column("slot"), bits).from_(relation(slots)).where(heads, copy=False)
    order = exp.Order(expressions=[exp.Ordered(this=column("draw"), nulls_first=False)])
    number = exp.Window(this=exp.RowNumber(), order=order)
    return exp.select(column("slot"), alias(number, "bucket")).from_(shaken.subquery("shaken"), copy=False)


def all_numbers(slots: str, numbers: str) -> exp.Select:
    """slot, bucket: every slot with the number of its bucket, from those of `bucket_numbers`."""
    query = exp.select(column("slot", "slot"), column("bucket", "number")).from_(relation(slots, as_="slot"))
    of_first = exp.EQ(this=column("first", "slot"), expression=column("slot", "number"))
    return query.join(relation(numbers, as_="number"), on=of_first, copy=False)


def places(dealt: str, numbers: str, columns: Sequence[str]) -> exp.Select:
    """bucket, and these columns of `dealt`: where every row belongs; `numbers` has the bucket of every slot."""
    query = exp.select(column("bucket", "number"), *(column(name, "dealt") for name in columns))
    query.from_(relation(dealt, as_="dealt"), copy=False)
    of_slot = exp.EQ(this=column("slot", "dealt"), expression=column("slot", "number"))
    return query.join(relation(numbers, as_="number"), on=of_slot, copy=False)


def sizes_of_groups(groups: str) -> exp.Select:
    """How many groups there are, the rows of the smallest and of the largest, and all rows.

    Row i of a region is in group i mod g, so of r rows a group has r // g, and the first r mod g have one more.
    """
    rows, number = column("rows"), column("groups")
    more = exp.GT(this=exp.Paren(this=exp.Mod(this=rows, expression=number)), expression=literal(0))
    one_more = exp.Case(ifs=[exp.If(this=more, true=literal(1))], default=literal(0))
    least = exp.IntDiv(this=rows.copy(), expression=number.copy())
    most = exp.Add(this=least.copy(), expression=one_more)
    found = (total(number.copy()), exp.Min(this=least), exp.Max(this=most), total(rows.copy()))
    return exp.select(*map(or_zero, found)).from_(relation(groups))


def sizes(places: str) -> exp.Select:
    """How many buckets there are, the rows of the smallest and of the largest, and all rows."""
    counted = exp.select(alias(exp.Count(this=exp.Star()), "n")).from_(relation(places)).group_by(column("bucket"))
    found = (exp.Min(this=column("n")), exp.Max(this=column("n")), total(column("n")))
    every = exp.select(exp.Count(this=exp.Star()), *map(or_zero, found))
    return every.from_(counted.subquery("bucket"), copy=False)
