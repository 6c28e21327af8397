"""Slots, the groups of all regions, put together to buckets until each of these meets what is required."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.buckets import code_name
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import Rows

__all__ = ["bucket_numbers", "class_rows", "merged", "places", "slots", "tally", "whole_rows"]


def slots(groups: str) -> exp.Select:
    """slot, base, first: every slot, the first slot of its region, and the first of its bucket: itself."""
    each = exp.Explode(this=exp.Anonymous(this="range", expressions=[column("groups")]))
    named = exp.select(column("base"), alias(each, "number")).from_(relation(groups)).subquery("numbered")
    slot = exp.Add(this=column("base"), expression=column("number"))
    return exp.select(alias(slot, "slot"), column("base"), alias(slot.copy(), "first")).from_(named, copy=False)


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


def merged(slots: str, violating: str, width: int) -> exp.Select:
    """The same slots, with those of a region put together, `width` at a time, wherever one of them violates."""

    def chunk(slot: exp.Expr, base: exp.Expr) -> exp.Expr:
        inner = exp.Paren(this=exp.Sub(this=slot, expression=base))
        return exp.IntDiv(this=inner, expression=literal(width))

    heads = exp.select(
        column("base", "slot"), alias(chunk(column("slot", "slot"), column("base", "slot")), "chunk")
    ).distinct(copy=False)
    heads.from_(relation(slots, as_="slot"), copy=False)
    first = exp.EQ(this=column("slot", "slot"), expression=column("class_id", "violating"))
    heads.join(relation(violating, as_="violating"), on=first, copy=False)
    own = chunk(column("slot", "slot"), column("base", "slot"))
    together = exp.Add(
        this=column("base", "slot"), expression=exp.Mul(this=exp.Paren(this=own), expression=literal(width))
    )
    hit = exp.Not(this=exp.Is(this=column("chunk", "hit"), expression=exp.Null()))
    number = exp.Case(ifs=[exp.If(this=hit, true=together)], default=column("first", "slot"))
    query = exp.select(column("slot", "slot"), column("base", "slot"), alias(number, "first"))
    same = [
        exp.EQ(this=column("base", "slot"), expression=column("base", "hit")),
        exp.EQ(this=own.copy(), expression=column("chunk", "hit")),
    ]
    return query.from_(relation(slots, as_="slot")).join(
        heads.subquery("hit"), on=exp.and_(*same), join_type="LEFT", copy=False
    )


def bucket_numbers(slots: str, draw: str) -> exp.Select:
    """first, bucket: the buckets numbered from 1, in an order that was drawn."""
    heads = exp.select(column("first")).distinct(copy=False).from_(relation(slots)).subquery("head")
    bits = alias(exp.Anonymous(this=draw, expressions=[literal(0)]), "draw")
    shaken = exp.select(column("first"), bits).from_(heads, copy=False).subquery("shaken")
    order = exp.Order(expressions=[exp.Ordered(this=column("draw"), nulls_first=False)])
    number = exp.Window(this=exp.RowNumber(), order=order)
    return exp.select(column("first"), alias(number, "bucket")).from_(shaken, copy=False)


def places(dealt: str, slots: str, numbers: str) -> exp.Select:
    """row, bucket: where every row of the source belongs."""
    query = exp.select(column("row", "dealt"), column("bucket", "number")).from_(relation(dealt, as_="dealt"))
    of_slot = exp.EQ(this=column("slot", "dealt"), expression=column("slot", "slot"))
    of_first = exp.EQ(this=column("first", "slot"), expression=column("first", "number"))
    query.join(relation(slots, as_="slot"), on=of_slot, copy=False)
    return query.join(relation(numbers, as_="number"), on=of_first, copy=False)
