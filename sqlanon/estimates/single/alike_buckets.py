"""Buckets of which a query asks the same are put together: what it comes to depends on how many rows and values of
each kind they have, and not on which bucket that is.

All that estimate.sql and dealt.sql compute is added up over buckets, and twice the rows and values are twice as much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build.expressions import added, big, huge, total, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["WORDS", "Side", "alike_buckets", "copied"]

Keep = Callable[[str, exp.Query], str]

# The bits of a BIGINT and of a HUGEINT without their signs.
WORDS = (62, 126)


@dataclass(frozen=True)
class Side:
    """A table of what buckets hold: the columns `bucket` and perhaps `weight`, and `others`, which tell kinds apart."""

    table: str
    bucket: str
    weight: str | None
    others: Sequence[str]

    def count(self) -> exp.Expr:
        return literal(1) if self.weight is None else column(self.weight, "held")


def alike_buckets(engine: Engine, sides: Sequence[Side], keep: Keep) -> str | None:
    """The table of bucket and copies: one of the buckets that are alike, and how many these are.

    None where too many kinds of rows and values are told apart for many buckets to be alike.
    """
    kinds = [_kinds(side, keep) for side in sides]
    facts = [_facts(engine, side, table) for side, table in zip(sides, kinds, strict=True)]
    count = sum(own for own, _ in facts)
    rows = sum(number for _, number in facts if number is not None)
    if not count or any(number is None for _, number in facts):
        return None
    for word, typed in zip(WORDS, (big, huge), strict=True):
        if bits := word // count:
            first = [sum(own for own, _ in facts[:place]) for place in range(len(sides))]
            codes = [_code(*one, bits, typed) for one in zip(sides, kinds, first, strict=True)]
            alike = keep("alike", _alike(codes))
            if _counted(engine, alike, bits, count) == rows:
                return alike
    return None


def copied(side: Side, alike: str | None) -> exp.Select:
    """The rows of one of the buckets that are alike, each with a `weight` for all of them."""
    query = exp.select(column(side.bucket, "held"), *(column(name, "held") for name in side.others))
    query.from_(relation(side.table, as_="held"), copy=False)
    if alike is None:
        return query.select(alias(side.count(), "weight"), copy=False)
    on = exp.EQ(this=column(side.bucket, "held"), expression=column("bucket", "alike"))
    query.join(relation(alike, as_="alike"), on=on, copy=False)
    return query.select(alias(exp.Mul(this=side.count(), expression=column("copies", "alike")), "weight"), copy=False)


def _kinds(side: Side, keep: Keep) -> str:
    number = exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=literal(1))
    different = exp.select(*(map(column, side.others) if side.others else [alias(literal(0), "every")]))
    different = different.distinct(copy=False).from_(relation(side.table))
    return keep("kind", exp.select(alias(number, "kind"), exp.Star()).from_(different.subquery("different")))


def _facts(engine: Engine, side: Side, kinds: str) -> tuple[int, int | None]:
    """How many kinds there are, and rows; None for these where a weight or a bucket is none that can be counted."""
    n = side.count()
    trunc = exp.Anonymous(this="trunc", expressions=[n.copy()])
    whole = exp.and_(exp.GTE(this=n.copy(), expression=literal(0)), exp.EQ(this=n.copy(), expression=trunc))
    known = exp.Not(this=exp.Is(this=column(side.bucket, "held"), expression=exp.Null()))
    plain = exp.LogicalAnd(this=exp.Coalesce(this=exp.and_(whole, known), expressions=[exp.false()]))
    number = exp.select(exp.Count(this=exp.Star())).from_(relation(kinds)).subquery()
    query = exp.select(number, plain, total(n)).from_(relation(side.table, as_="held"))
    ((count, counted, rows),) = engine.rows(query)
    return int(count), int(rows) if counted else None


def _code(side: Side, kinds: str, first: int, bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """bucket and code of each row: the bits of a number that count its kind."""
    number = exp.Paren(this=exp.Add(this=column("kind"), expression=literal(first)))
    shift = exp.Paren(this=exp.Mul(this=number, expression=literal(bits)))
    unit = alias(exp.BitwiseLeftShift(this=typed(literal(1)), expression=typed(shift)), "unit")
    own: exp.Expr = column("unit", "kind")
    if side.weight is not None:
        own = exp.Mul(this=typed(side.count()), expression=own)
    rows = exp.select(alias(column(side.bucket, "held"), "bucket"), alias(own, "code"))
    rows.from_(relation(side.table, as_="held"), copy=False)
    same = [exp.NullSafeEQ(this=column(name, "held"), expression=column(name, "kind")) for name in side.others]
    units = exp.select(unit, *map(column, side.others)).from_(relation(kinds))
    return rows.join(units.subquery("kind"), on=exp.and_(*same) if same else exp.true(), copy=False)


def _alike(codes: Sequence[exp.Query]) -> exp.Select:
    own = alias(exp.Sum(this=column("code")), "code")
    every = exp.select(column("bucket"), own).from_(union_all(codes).subquery("code")).group_by(column("bucket"))
    parts = {"code": column("code"), "bucket": exp.Min(this=column("bucket")), "copies": exp.Count(this=exp.Star())}
    query = exp.select(*(alias(part, name) for name, part in parts.items()))
    return query.from_(every.subquery("bucket")).group_by(column("code"))


def _counted(engine: Engine, alike: str, bits: int, count: int) -> int:
    """The rows that codes say there are: fewer than there are where a bucket has more of a kind than its bits count."""
    digits: list[exp.Expr] = []
    for kind in range(count):
        shifted = exp.BitwiseRightShift(this=huge(column("code")), expression=huge(literal(bits * kind)))
        digits.append(
            exp.Paren(this=exp.BitwiseAnd(this=exp.Paren(this=shifted), expression=huge(literal(2**bits - 1))))
        )
    every = exp.Mul(this=exp.Paren(this=added(digits)), expression=column("copies"))
    ((rows,),) = engine.rows(exp.select(total(every)).from_(relation(alike)))
    return int(rows or 0)
