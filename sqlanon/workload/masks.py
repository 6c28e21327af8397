"""Many conjunctions at once, as bits: what a row shows of each column tells the queries that it may satisfy.

A mask has a bit for each query, in words of 64. That of a label has the queries whose condition one of the values below
it satisfies, and those that do not ask about its column. So the queries that a class of rows may satisfy
are the AND of the masks of its labels, and those that it satisfies for certain the AND of the same for all
values below a label.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.terms import integer
from sqlanon.workload.classes import Keep, number_of

__all__ = ["WORD", "Column", "bits", "each", "masked"]

WORD = 64

_UBIGINT = exp.DataType.build("UBIGINT", dialect="duckdb")
_SIDES = ("possible", "certain")


@dataclass(frozen=True)
class Column:
    """What `queries` ask of the column at a place: `labels` has its numbers, `shares` query, number and certain.

    The labels of an `exact` column satisfy for certain, or not at all.
    """

    place: int
    labels: str
    shares: str
    queries: Collection[int]
    exact: bool


def bits(keep: Keep) -> str:
    """The table of the bits of a word: bit and value."""
    every = exp.Explode(this=exp.Anonymous(this="range", expressions=[literal(WORD)]))
    rows = exp.select(alias(every, "bit")).subquery("every")
    bit = integer(column("bit"))
    return keep("bit", exp.select(alias(bit, "bit"), alias(_shifted(bit.copy()), "value")).from_(rows))


def masked(classes: str, carried: Sequence[str], columns: Sequence[Column], size: int, keep: Keep) -> exp.Select:
    """word, possible and certain of every class and word in which it may satisfy a query, beside the columns `carried`.

    `size` is the number of queries, which are numbered from 0.
    """
    words = range(-(-size // WORD))
    every = exp.select(*(column(name, "class") for name in carried)).from_(relation(classes, as_="class"))
    tables = {one.place: keep("mask", _mask(one, size)) for one in columns}
    for one in columns:
        own = exp.EQ(this=column(number_of(one.place), "class"), expression=column("number", f"mask_{one.place}"))
        every.join(relation(tables[one.place], as_=f"mask_{one.place}"), on=own, copy=False)
    for side in _SIDES:
        for word in words:
            # An exact label may satisfy what it satisfies.
            parts = [column(_name("possible" if one.exact else side, word), f"mask_{one.place}") for one in columns]
            every.select(alias(_all(exp.BitwiseAnd, parts), _name(side, word)), copy=False)
    lists: dict[str, list[exp.Expr]] = {"word": [integer(literal(word)) for word in words]}
    lists |= {side: [column(_name(side, word)) for word in words] for side in _SIDES}
    unnested = [
        alias(exp.Anonymous(this="unnest", expressions=[exp.Array(expressions=parts)]), name)
        for name, parts in lists.items()
    ]
    long = exp.select(*map(column, carried), *unnested).from_(every.subquery("every", copy=False))
    some = exp.NEQ(this=column("possible"), expression=literal(0))
    return exp.select(exp.Star()).from_(long.subquery("long", copy=False)).where(some, copy=False)


def each(masks: str, bit: str, carried: Sequence[str], which: exp.Expr) -> exp.Select:
    """query and the columns `carried`, for every bit that is set in an expression over `masked`."""
    first = exp.Mul(this=column("word", "masked"), expression=literal(WORD))
    query = integer(exp.Paren(this=exp.Add(this=first, expression=column("bit", "bit"))))
    held = exp.BitwiseAnd(this=exp.Paren(this=which), expression=column("value", "bit"))
    rows = exp.select(alias(query, "query"), *(column(name, "masked") for name in carried))
    rows.from_(relation(masks, as_="masked"), copy=False)
    rows.join(relation(bit, as_="bit"), join_type="CROSS", copy=False)
    return rows.where(exp.NEQ(this=exp.Paren(this=held), expression=literal(0)), copy=False)


def _mask(one: Column, size: int) -> exp.Select:
    """number, and the words of the label's masks: possible_0, possible_1, ... and unless it is exact certain_0, ..."""
    sides = _SIDES[:1] if one.exact else _SIDES
    word = exp.IntDiv(this=column("query"), expression=literal(WORD))
    bit = _shifted(integer(exp.Paren(this=exp.Mod(this=column("query"), expression=literal(WORD)))))
    parts = [alias(exp.BitwiseOrAgg(this=bit), "possible")]
    if not one.exact:
        certain = exp.If(this=column("certain"), true=bit.copy())
        parts.append(alias(exp.BitwiseOrAgg(this=exp.Case(ifs=[certain])), "certain"))
    held = exp.select(column("number"), alias(word, "word"), *parts).from_(relation(one.shares))
    held = held.group_by(column("number"), word.copy(), copy=False)
    numbers = exp.select(column("number")).distinct(copy=False).from_(relation(one.labels))
    query = exp.select(column("number", "label")).from_(numbers.subquery("label"))
    same = exp.EQ(this=column("number", "label"), expression=column("number", "held"))
    query.join(held.subquery("held"), on=same, join_type="LEFT", copy=False)
    for side in sides:
        for place in range(-(-size // WORD)):
            query.select(alias(_word(side, place, _others(one, place, size)), _name(side, place)), copy=False)
    return query.group_by(column("number", "label"), copy=False)


def _word(side: str, place: int, others: int) -> exp.Expr:
    """One word of a label: the queries that it satisfies, and the others, which do not ask about its column."""
    here = exp.Where(this=exp.EQ(this=column("word", "held"), expression=literal(place)))
    own = exp.Filter(this=exp.AnyValue(this=column(side, "held")), expression=here)
    return exp.BitwiseOr(this=exp.Coalesce(this=own, expressions=[_mask_of(0)]), expression=_mask_of(others))


def _others(one: Column, word: int, size: int) -> int:
    some = range(word * WORD, min(size, (word + 1) * WORD))
    return sum(1 << query % WORD for query in some if query not in one.queries)


def _mask_of(number: int) -> exp.Expr:
    return exp.Cast(this=literal(number), to=_UBIGINT.copy())


def _shifted(by: exp.Expr) -> exp.Expr:
    return exp.BitwiseLeftShift(this=_mask_of(1), expression=by)


def _name(side: str, word: int) -> str:
    return f"{side}_{word}"


def _all(kind: type[exp.Binary], parts: Sequence[exp.Expr]) -> exp.Expr:
    tree = parts[0]
    for part in parts[1:]:
        tree = kind(this=tree, expression=part)
    return tree
