"""Evaluates many conjunctions at once with a bitmask for each label: the AND of a row's masks are its queries.

A mask has a bit for each query, in words of 64. The mask of a label has the bits of the queries whose condition holds
for a value below the label, and of those without a condition on its column. So a class of rows may satisfy the queries
in the AND of the masks of its labels. Masks of the queries whose condition holds for all values below a label say in
the same way which queries a class satisfies for certain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.batch.distinct_rows import listed, number_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, filtered, if_, infix, integer, paren, same, union_all
from sqlanon.sql.build.names import alias, column, literal, relation

WORD = 64

_UBIGINT = exp.DataType.build("UBIGINT", dialect="duckdb")
_SIDES = ("possible", "certain")


@dataclass(frozen=True)
class MaskedColumn:
    """A column of the released rows and the queries that have a condition on it."""

    index: int
    # The table of the numbers of its labels.
    labels: str
    # Which labels (number) may satisfy which query, and whether they do for certain (query, number, certain).
    shares: exp.Expr
    queries: Collection[int]
    # The labels of an exact column satisfy for certain or not at all, and its shares need not say so.
    exact: bool


def bits(size: int, scratch: Scratch) -> str:
    """The table of the bits (bit and value) that a word of masks has for this number of queries."""
    numbers = f.unnest(f.call("range", literal(min(size, WORD))))
    rows = exp.select(alias(numbers, "bit")).subquery("number")
    bit = integer(column("bit"))
    return scratch.table("bit", exp.select(alias(bit, "bit"), alias(_shifted(bit.copy()), "value")).from_(rows))


def masked(classes: str, carried: Sequence[str], columns: Sequence[MaskedColumn], size: int, scratch: Scratch) -> str:
    """The table of word, possible, certain and the columns `carried`, of every class and word with possible queries.

    Where all columns are exact there is no column certain, since it would equal possible. `size` is the number of
    queries, which are numbered from 0.
    """
    sides = _sides(columns)
    words = range(-(-size // WORD))
    query = exp.select(*(column(name, "class") for name in carried)).from_(relation(classes, as_="class"))
    masks = scratch.table("masks", _masks(columns, size, scratch))
    for col in columns:
        # In a table of its own, so that DuckDB knows how few they are when it orders the joins.
        of_column = column("column_index").eq(literal(col.index))
        table = scratch.table("mask", exp.select(exp.Star()).from_(relation(masks)).where(of_column))
        number = column(number_of(col.index), "class").eq(column("number", f"mask_{col.index}"))
        query.join(relation(table, as_=f"mask_{col.index}"), on=number, copy=False)
    for side in sides:
        for word in words:
            parts = [column(_name(side, word), f"mask_{col.index}") for col in columns]
            query.select(alias(_all(exp.BitwiseAnd, parts), _name(side, word)), copy=False)
    lists: dict[str, list[exp.Expr]] = {"word": [integer(literal(word)) for word in words]}
    lists |= {side: [column(_name(side, word)) for word in words] for side in sides}
    unnested = [alias(f.call("unnest", exp.Array(expressions=parts)), name) for name, parts in lists.items()]
    long = exp.select(*map(column, carried), *unnested).from_(query.subquery("words", copy=False))
    any_possible = column("possible").neq(0)
    # A few classes are read by one thread, and have many words: as rows of a table, all threads read these.
    return scratch.table(
        "masked", exp.select(exp.Star()).from_(long.subquery("long", copy=False)).where(any_possible, copy=False)
    )


def each(masks: str, bit: str, carried: Sequence[str], which: exp.Expr) -> exp.Select:
    """query and the columns `carried`, for every bit that an expression over the table of `masked` has set."""
    first = column("word", "masked") * literal(WORD)
    query = integer(paren(infix(first, "+", column("bit", "bit"))))
    is_set = infix(paren(which), "&", column("value", "bit"))
    rows = exp.select(alias(query, "query"), *(column(name, "masked") for name in carried))
    rows.from_(relation(masks, as_="masked"), copy=False)
    rows.join(relation(bit, as_="bit"), join_type="CROSS", copy=False)
    return rows.where(paren(is_set).neq(0), copy=False)


def _sides(columns: Sequence[MaskedColumn]) -> Sequence[str]:
    return _SIDES[:1] if all(col.exact for col in columns) else _SIDES


def _masks(columns: Sequence[MaskedColumn], size: int, scratch: Scratch) -> exp.Select:
    """column_index, number and words of masks: possible_0, ... and, unless all columns are exact, certain_0, ..."""
    numbers = [
        exp.select(alias(literal(col.index), "column_index"), column("number"))
        .distinct(copy=False)
        .from_(relation(col.labels))
        for col in columns
    ]
    words = range(-(-size // WORD))
    others = [(col.index, word, _others(col, word, size)) for col in columns for word in words]
    lists: list[object] = [list(part) for part in zip(*others, strict=True)]
    table = scratch.table("others", listed({"column_index": "INTEGER", "word": "INTEGER", "others": "UBIGINT"}), lists)
    label_words = exp.select(column("column_index", "label"), column("number", "label"), column("word", "word"))
    sides = _sides(columns)
    for side in sides:
        # The queries whose condition holds, and those without a condition on the column.
        satisfied = f.coalesce(column(side, "satisfied"), _mask_of(0))
        label_words.select(alias(infix(satisfied, "|", column("others", "word")), side), copy=False)
    label_words.from_(union_all(numbers).subquery("label", copy=False), copy=False)
    label_words.join(relation(table, as_="word"), on=same("column_index", "label", "word"), copy=False)
    on = exp.and_(
        same("column_index", "label", "satisfied"),
        same("number", "label", "satisfied"),
        same("word", "word", "satisfied"),
    )
    label_words.join(_satisfied_words(columns).subquery("satisfied", copy=False), on=on, join_type="LEFT", copy=False)
    query = exp.select(column("column_index"), column("number")).from_(label_words.subquery("label_words", copy=False))
    for side in sides:
        for word in words:
            one_word = filtered(f.any_value(column(side)), column("word").eq(word))
            query.select(alias(one_word, _name(side, word)), copy=False)
    return query.group_by(column("column_index"), column("number"), copy=False)


def _satisfied_words(columns: Sequence[MaskedColumn]) -> exp.Select:
    """column_index, number, word, possible and certain: the words with queries that a label satisfies."""
    shares: list[exp.Query] = []
    for col in columns:
        certain = exp.true() if col.exact else column("certain", "share")
        parts = (column("number", "share"), column("query", "share"), alias(certain, "certain"))
        rows = exp.select(alias(literal(col.index), "column_index"), *parts)
        shares.append(rows.from_(exp.alias_(col.shares.copy(), "share", table=True, quoted=True), copy=False))
    word = column("query") // literal(WORD)
    bit = _shifted(integer(paren(column("query") % literal(WORD))))
    certain_bit = if_(column("certain"), bit.copy())
    query = exp.select(column("column_index"), column("number"), alias(word, "word"))
    query.select(alias(f.bit_or(bit), "possible"), copy=False)
    query.select(alias(f.bit_or(certain_bit), "certain"), copy=False)
    query.from_(union_all(shares).subquery("share", copy=False), copy=False)
    return query.group_by(column("column_index"), column("number"), word.copy(), copy=False)


def _others(col: MaskedColumn, word: int, size: int) -> int:
    queries = range(word * WORD, min(size, (word + 1) * WORD))
    return sum(1 << query % WORD for query in queries if query not in col.queries)


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
