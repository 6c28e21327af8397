"""Puts buckets together that are alike to a query: estimates and bounds depend on how many rows and values of each
kind a bucket has, and not on which bucket it is.

Figures of estimate.sql and bucket_bounds.sql are sums over buckets, so that twice the rows and values add up to twice
as much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    big,
    huge,
    identical,
    infix,
    is_not_null,
    paren,
    total,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation


@dataclass(frozen=True)
class BucketTable:
    """A table of the contents of buckets: `bucket`, perhaps `weight`, and `others`, which tell kinds apart."""

    table: str
    bucket: str
    weight: str | None
    others: Sequence[str]

    def count(self) -> exp.Expr:
        return literal(1) if self.weight is None else column(self.weight, "content")


def alike_buckets(engine: Engine, sides: Sequence[BucketTable], scratch: Scratch) -> str | None:
    """The table of bucket and copies: for each kind of buckets one bucket of it, and how many there are.

    None where there are too many kinds of rows and values for their counts to fit a code.
    """
    kinds = [_kinds(side, scratch) for side in sides]
    facts = [_facts(engine, side, table) for side, table in zip(sides, kinds, strict=True)]
    count = sum(kind_count for kind_count, _ in facts)
    rows = sum(number for _, number in facts if number is not None)
    if not count or any(number is None for _, number in facts):
        return None
    for word, typed in zip(sizes().code_bits, (big, huge), strict=True):
        if bits := word // count:
            first = [sum(kind_count for kind_count, _ in facts[:index]) for index in range(len(sides))]
            codes = [_code(*parts, bits, typed) for parts in zip(sides, kinds, first, strict=True)]
            alike = scratch.table("alike", _alike(codes))
            if _counted(engine, alike, bits, count) == rows:
                return alike
    return None


def copied(side: BucketTable, alike: str | None) -> exp.Select:
    """The rows of one of the buckets that are alike, each with a `weight` for all of them."""
    query = exp.select(column(side.bucket, "content"), *(column(name, "content") for name in side.others))
    query.from_(relation(side.table, as_="content"), copy=False)
    if alike is None:
        return query.select(alias(side.count(), "weight"), copy=False)
    on = column(side.bucket, "content").eq(column("bucket", "alike"))
    query.join(relation(alike, as_="alike"), on=on, copy=False)
    return query.select(alias(side.count() * column("copies", "alike"), "weight"), copy=False)


def _kinds(side: BucketTable, scratch: Scratch) -> str:
    number = window(f.row_number()) - 1
    different = exp.select(*(map(column, side.others) if side.others else [alias(literal(0), "nothing")]))
    different = different.distinct(copy=False).from_(relation(side.table))
    return scratch.table("kind", exp.select(alias(number, "kind"), exp.Star()).from_(different.subquery("different")))


def _facts(engine: Engine, side: BucketTable, kinds: str) -> tuple[int, int | None]:
    """The numbers of kinds and of rows; None for the rows where a bucket is NULL, or a weight no whole number."""
    n = side.count()
    trunc = f.call("trunc", n.copy())
    whole = exp.and_(n >= 0, n.eq(trunc))
    known = is_not_null(column(side.bucket, "content"))
    plain = f.bool_and(f.coalesce(exp.and_(whole, known), exp.false()))
    number = exp.select(f.count()).from_(relation(kinds)).subquery()
    query = exp.select(number, plain, total(n)).from_(relation(side.table, as_="content"))
    ((count, counted, rows),) = engine.rows(query)
    return int(count), int(rows) if counted else None


def _code(side: BucketTable, kinds: str, first: int, bits: int, typed: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """bucket and code of each row: the bits of a number that count its kind."""
    number = paren(column("kind") + literal(first))
    shift = paren(number * literal(bits))
    unit = alias(infix(typed(literal(1)), "<<", typed(shift)), "unit")
    code: exp.Expr = column("unit", "kind")
    if side.weight is not None:
        code = typed(side.count()) * code
    rows = exp.select(alias(column(side.bucket, "content"), "bucket"), alias(code, "code"))
    rows.from_(relation(side.table, as_="content"), copy=False)
    same = [identical(column(name, "content"), column(name, "kind")) for name in side.others]
    units = exp.select(unit, *map(column, side.others)).from_(relation(kinds))
    return rows.join(units.subquery("kind"), on=exp.and_(*same) if same else exp.true(), copy=False)


def _alike(codes: Sequence[exp.Query]) -> exp.Select:
    code = alias(f.sum(column("code")), "code")
    buckets = exp.select(column("bucket"), code).from_(union_all(codes).subquery("code")).group_by(column("bucket"))
    parts = {"code": column("code"), "bucket": f.min(column("bucket")), "copies": f.count()}
    query = exp.select(*(alias(part, name) for name, part in parts.items()))
    return query.from_(buckets.subquery("bucket")).group_by(column("code"))


def _counted(engine: Engine, alike: str, bits: int, count: int) -> int:
    """The number of rows by the codes: too few where a bucket has more rows of a kind than the bits can count."""
    digits: list[exp.Expr] = []
    for kind in range(count):
        shifted = infix(huge(column("code")), ">>", huge(literal(bits * kind)))
        digits.append(paren(infix(paren(shifted), "&", huge(literal(2**bits - 1)))))
    counted = paren(added(digits)) * column("copies")
    ((rows,),) = engine.rows(exp.select(total(counted)).from_(relation(alike)))
    return int(rows or 0)
