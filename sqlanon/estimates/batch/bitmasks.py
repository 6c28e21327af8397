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

from sqlanon.estimates.batch.distinct_rows import Keep, listed, number_of
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast, if_, infix, integer, paren, same, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["WORD", "MaskedColumn", "bits", "each", "masked"]

WORD = 64

_UBIGINT = exp.DataType.build("UBIGINT", dialect="duckdb")
_SIDES = ("possible", "certain")


@dataclass(frozen=True)
class MaskedColumn:
    """What `queries` ask of the column at a place: `labels` has its numbers, `shares` query, number and certain.

    The labels of an `exact` column satisfy for certain, or not at all; its shares need not say so.
    """

    place: int
    labels: str
    shares: exp.Expr
    queries: Collection[int]
    exact: bool


def bits(size: int, keep: Keep) -> str:
    """The table of the bits of a word that so many queries need: bit and value."""
    every = f.unnest(f.call("range", literal(min(size, WORD))))
    rows = exp.select(alias(every, "bit")).subquery("every")
    bit = integer(column("bit"))
    return keep("bit", exp.select(alias(bit, "bit"), alias(_shifted(bit.copy()), "value")).from_(rows))


def masked(classes: str, carried: Sequence[str], columns: Sequence[MaskedColumn], size: int, keep: Keep) -> str:
    """The table of word, possible and certain of every class and word in which it may satisfy a query.

    It has the columns `carried`, too. Where all columns are exact there is no certain: it is the same. `size` is the
    number of queries, which are numbered from 0.
    """
    sides = _sides(columns)
    words = range(-(-size // WORD))
    every = exp.select(*(column(name, "class") for name in carried)).from_(relation(classes, as_="class"))
    masks = keep("masks", _masks(columns, size, keep))
    for one in columns:
        # In a table of its own, so that DuckDB knows how few they are when it orders the joins.
        here = column("place").eq(literal(one.place))
        table = keep("mask", exp.select(exp.Star()).from_(relation(masks)).where(here))
        number = column(number_of(one.place), "class").eq(column("number", f"mask_{one.place}"))
        every.join(relation(table, as_=f"mask_{one.place}"), on=number, copy=False)
    for side in sides:
        for word in words:
            parts = [column(_name(side, word), f"mask_{one.place}") for one in columns]
            every.select(alias(_all(exp.BitwiseAnd, parts), _name(side, word)), copy=False)
    lists: dict[str, list[exp.Expr]] = {"word": [integer(literal(word)) for word in words]}
    lists |= {side: [column(_name(side, word)) for word in words] for side in sides}
    unnested = [alias(f.call("unnest", exp.Array(expressions=parts)), name) for name, parts in lists.items()]
    long = exp.select(*map(column, carried), *unnested).from_(every.subquery("every", copy=False))
    some = column("possible").neq(0)
    # Classes may be too few for several threads, and their words are many: from a table these are read by all threads.
    return keep("masked", exp.select(exp.Star()).from_(long.subquery("long", copy=False)).where(some, copy=False))


def each(masks: str, bit: str, carried: Sequence[str], which: exp.Expr) -> exp.Select:
    """query and the columns `carried`, for every bit that is set in an expression over the table of `masked`."""
    first = column("word", "masked") * literal(WORD)
    query = integer(paren(infix(first, "+", column("bit", "bit"))))
    held = infix(paren(which), "&", column("value", "bit"))
    rows = exp.select(alias(query, "query"), *(column(name, "masked") for name in carried))
    rows.from_(relation(masks, as_="masked"), copy=False)
    rows.join(relation(bit, as_="bit"), join_type="CROSS", copy=False)
    return rows.where(paren(held).neq(0), copy=False)


def _sides(columns: Sequence[MaskedColumn]) -> Sequence[str]:
    return _SIDES[:1] if all(one.exact for one in columns) else _SIDES


def _masks(columns: Sequence[MaskedColumn], size: int, keep: Keep) -> exp.Select:
    """place, number, and the words of each label's masks: possible_0, possible_1, ... and perhaps certain_0, ..."""
    numbers = [
        exp.select(alias(literal(one.place), "place"), column("number"))
        .distinct(copy=False)
        .from_(relation(one.labels))
        for one in columns
    ]
    words = range(-(-size // WORD))
    others = [(one.place, word, _others(one, word, size)) for one in columns for word in words]
    lists: list[object] = [list(part) for part in zip(*others, strict=True)]
    table = keep("others", listed({"place": "INTEGER", "word": "INTEGER", "others": "UBIGINT"}), lists)
    every = exp.select(column("place", "label"), column("number", "label"), column("word", "word"))
    sides = _sides(columns)
    for side in sides:
        # Those that satisfy, and those that do not ask about the column.
        own = f.coalesce(column(side, "held"), _mask_of(0))
        every.select(alias(infix(own, "|", column("others", "word")), side), copy=False)
    every.from_(union_all(numbers).subquery("label", copy=False), copy=False)
    every.join(relation(table, as_="word"), on=same("place", "label", "word"), copy=False)
    on = exp.and_(same("place", "label", "held"), same("number", "label", "held"), same("word", "word", "held"))
    every.join(_held(columns).subquery("held", copy=False), on=on, join_type="LEFT", copy=False)
    query = exp.select(column("place"), column("number")).from_(every.subquery("every", copy=False))
    for side in sides:
        for word in words:
            here = exp.Where(this=column("word").eq(literal(word)))
            one_word = exp.Filter(this=f.any_value(column(side)), expression=here)
            query.select(alias(one_word, _name(side, word)), copy=False)
    return query.group_by(column("place"), column("number"), copy=False)


def _held(columns: Sequence[MaskedColumn]) -> exp.Select:
    """place, number, word, possible and certain: the queries that a label satisfies, of a word that has any."""
    shares: list[exp.Query] = []
    for one in columns:
        certain = exp.true() if one.exact else column("certain", "share")
        parts = (column("number", "share"), column("query", "share"), alias(certain, "certain"))
        rows = exp.select(alias(literal(one.place), "place"), *parts)
        shares.append(rows.from_(exp.alias_(one.shares.copy(), "share", table=True, quoted=True), copy=False))
    word = column("query") // literal(WORD)
    bit = _shifted(integer(paren(column("query") % literal(WORD))))
    certain_bit = if_(column("certain"), bit.copy())
    query = exp.select(column("place"), column("number"), alias(word, "word"))
    query.select(alias(exp.BitwiseOrAgg(this=bit), "possible"), copy=False)
    query.select(alias(exp.BitwiseOrAgg(this=certain_bit), "certain"), copy=False)
    query.from_(union_all(shares).subquery("share", copy=False), copy=False)
    return query.group_by(column("place"), column("number"), word.copy(), copy=False)


def _others(one: MaskedColumn, word: int, size: int) -> int:
    some = range(word * WORD, min(size, (word + 1) * WORD))
    return sum(1 << query % WORD for query in some if query not in one.queries)


def _mask_of(number: int) -> exp.Expr:
    return cast(literal(number), "UBIGINT")


def _shifted(by: exp.Expr) -> exp.Expr:
    return infix(_mask_of(1), "<<", by)


def _name(side: str, word: int) -> str:
    return f"{side}_{word}"


def _all(kind: type[exp.Binary], parts: Sequence[exp.Expr]) -> exp.Expr:
    tree = parts[0]
    for part in parts[1:]:
        tree = kind(this=tree, expression=part)
    return tree
