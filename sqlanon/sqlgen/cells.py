"""The cells: every row of the source as an integer key, equal rows counted together.

`tree` numbers the values of one attribute along its hierarchy, `cells` joins the
trees to the source and groups it once, `rolled_up` groups cells by a coarser key.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.sqlgen.generalized import generalized, level_name, listed_values, published_value
from sqlanon.sqlgen.keys import Field, KeyLayout
from sqlanon.sqlgen.names import alias, column, literal, relation

__all__ = [
    "cells",
    "codes",
    "equivalence_class",
    "key_name",
    "leaves_name",
    "rank_name",
    "rolled_up",
    "tree",
    "tree_summary",
]


# Far from a power of two, so that the remainder depends on all bits of a key.
_PRIME = 1_000_003


def rank_name(level: int) -> str:
    """The column with a node's number among its siblings."""
    return f"rank_{level}"


def leaves_name(level: int) -> str:
    """The column with the number of leaves below a value's ancestor at this level."""
    return f"leaves_{level}"


def key_name(word: int) -> str:
    return f"key_{word}"


def _window(function: exp.Expr, partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Window:
    ordered = [exp.Ordered(this=part, nulls_first=False) for part in order]
    return exp.Window(
        this=function, partition_by=list(partition), order=exp.Order(expressions=ordered) if ordered else None
    )


def _from_zero(number: exp.Expr) -> exp.Expr:
    return exp.Cast(this=exp.Sub(this=number, expression=literal(1)), to=exp.DataType.build("BIGINT"))


def tree(bound: BoundAttribute, source: exp.Table, hierarchy_values: exp.Table) -> exp.Select:
    """A quasi-identifier's values as a numbered tree: value, n, rank_0 ... and leaves_1 ....

    A row a value: n is how often it occurs (0 where only the hierarchy lists it),
    rank_i the number of its ancestor at level i among that node's siblings, in value
    order, and leaves_i how many values lie below that ancestor. `listed` is there for
    stored hierarchies.
    """
    value = published_value(bound)
    distinct = (
        exp.select(alias(value, "value"), alias(exp.Count(this=exp.Star()), "n"))
        .from_(source, copy=False)
        .group_by(value.copy(), copy=False)
    )
    listed = listed_values(bound, hierarchy_values) if bound.stored else None
    values = generalized(bound, distinct, listed, counted=True)
    kept = [column("value"), column("n"), *([column("listed")] if bound.stored else [])]
    levels = range(1, bound.height)

    def path(level: int) -> list[exp.Expr]:
        """The labels from this level up: they name a node even if two nodes share a label."""
        return [column(level_name(i)) for i in range(level, bound.height)]

    spans = exp.select(
        *kept,
        *path(1),
        *(alias(_window(exp.Min(this=column("value")), path(i), ()), f"low_{i}") for i in levels),
        *(alias(_window(exp.Count(this=exp.Star()), path(i), ()), leaves_name(i)) for i in levels),
    ).from_(values.subquery("generalized"), copy=False)
    leaf = _from_zero(_window(exp.RowNumber(), path(1), [column("value")]))
    ranks = [
        _from_zero(_window(exp.DenseRank(), path(i + 1), [column(f"low_{i}"), column(level_name(i))])) for i in levels
    ]
    return exp.select(
        *(part.copy() for part in kept),
        *(alias(rank, rank_name(i)) for i, rank in enumerate([leaf, *ranks])),
        *(column(leaves_name(i)) for i in levels),
    ).from_(spans.subquery("spans"), copy=False)


def tree_summary(bound: BoundAttribute, table: exp.Table) -> exp.Select:
    """One row: values, rows, siblings at each level from 0, and the sum of n * (leaves - 1) at each level from 1."""

    def total(part: exp.Expr) -> exp.Expr:
        added = exp.Coalesce(this=exp.Sum(this=part), expressions=[literal(0)])
        return exp.Cast(this=added, to=exp.DataType.build("HUGEINT", dialect="duckdb"))

    def siblings(level: int) -> exp.Expr:
        most = exp.Add(this=exp.Max(this=column(rank_name(level))), expression=literal(1))
        return exp.Coalesce(this=most, expressions=[literal(0)])

    def spread(level: int) -> exp.Expr:
        others = exp.Paren(this=exp.Sub(this=column(leaves_name(level)), expression=literal(1)))
        return total(exp.Mul(this=column("n"), expression=others))

    return exp.select(
        exp.Count(this=exp.Star()),
        total(column("n")),
        *(siblings(level) for level in range(bound.height)),
        *(spread(level) for level in range(1, bound.height)),
    ).from_(table, copy=False)


def _code(fields: Sequence[Field], word: int) -> exp.Expr:
    """A value's part of one key word, from its ranks."""
    parts: list[exp.Expr] = [
        exp.BitwiseLeftShift(this=column(rank_name(level)), expression=literal(field.shift))
        for level, field in enumerate(fields)
        if field.word == word and field.bits
    ]
    return _sum([exp.Paren(this=part) for part in parts])


def _sum(parts: Sequence[exp.Expr]) -> exp.Expr:
    total = parts[0]
    for part in parts[1:]:
        total = exp.Add(this=total, expression=part)
    return total


def _words(fields: Sequence[Field]) -> list[int]:
    return sorted({field.word for field in fields if field.bits})


def codes(tree: exp.Table, fields: Sequence[Field]) -> exp.Select | None:
    """A value's part of each key word that has bits of its attribute; None for an attribute without any."""
    parts = [alias(_code(fields, word), key_name(word)) for word in _words(fields)]
    return exp.select(column("value"), *parts).from_(tree, copy=False) if parts else None


def cells(policy: BoundPolicy, source: exp.Table, codes: Sequence[str | None], layout: KeyLayout) -> exp.Select:
    """The cells(key_0, ..., entity, n): one row per distinct combination of quasi-identifiers.

    `entity` is there where the policy names one: then a row per combination and respondent.
    """
    words: list[list[exp.Expr]] = [[] for _ in range(layout.words)]
    joins: list[tuple[exp.Expr, exp.Expr]] = []
    for index, (bound, fields, table) in enumerate(zip(policy.quasi_identifiers, layout.fields, codes, strict=True)):
        if table is None:
            continue
        name = f"code_{index}"
        for word in _words(fields):
            words[word].append(column(key_name(word), name))
        same = exp.NullSafeEQ(this=published_value(bound, "source"), expression=column("value", name))
        joins.append((relation(table, as_=name), same))
    keys = [alias(_sum(word) if word else _zero(), key_name(i)) for i, word in enumerate(words)]
    entity = [alias(column(policy.entity.column, "source"), "entity")] if policy.entity else []
    named = source.copy()
    named.set("alias", exp.TableAlias(this=exp.to_identifier("source", quoted=True)))
    query = exp.select(*keys, *entity, alias(exp.Count(this=exp.Star()), "n")).from_(named, copy=False)
    for code_table, condition in joins:
        query.join(code_table, on=condition, copy=False)
    return query.group_by(*(part.this.copy() for part in (*keys, *entity)), copy=False)


def _zero() -> exp.Expr:
    return exp.Cast(this=literal(0), to=exp.DataType.build("BIGINT"))


def rolled_up(table: str, masks: Sequence[int], entity: bool) -> exp.Select:
    """Cells grouped by a coarser key; of the same shape as cells."""
    keys = [exp.BitwiseAnd(this=column(key_name(word)), expression=literal(mask)) for word, mask in enumerate(masks)]
    extra = [column("entity")] if entity else []
    total = exp.Cast(this=exp.Sum(this=column("n")), to=exp.DataType.build("BIGINT"))
    return (
        exp.select(*(alias(key, key_name(i)) for i, key in enumerate(keys)), *extra, alias(total, "n"))
        .from_(relation(table), copy=False)
        .group_by(*(key.copy() for key in keys), *(part.copy() for part in extra), copy=False)
    )


def equivalence_class(table: str, masks: Sequence[exp.Expr], entity: bool, one_in: int | None = None) -> exp.Select:
    """The normal relation equivalence_class(class_id, size, entities) of one lattice node, from cells.

    `class_id` is the key, a struct of its words if there are several. A mask is a number
    or a parameter. With `one_in`, about one class in so many, each with all of its rows.
    """
    keys: list[exp.Expr] = [
        exp.BitwiseAnd(this=column(key_name(word)), expression=mask) for word, mask in enumerate(masks)
    ]
    size = exp.Cast(this=exp.Sum(this=column("n")), to=exp.DataType.build("BIGINT"))
    query = (
        exp.select(
            alias(class_id(keys), "class_id"),
            alias(size, "size"),
            alias(respondents(column("entity")) if entity else size.copy(), "entities"),
        )
        .from_(relation(table), copy=False)
        .group_by(*(key.copy() for key in keys), copy=False)
    )
    return query.where(_chosen([key.copy() for key in keys], one_in), copy=False) if one_in else query


def _chosen(keys: Sequence[exp.Expr], one_in: int) -> exp.Expr:
    """A condition on the key alone, so that it takes or leaves whole classes; the prime spreads neighbours."""
    mixed: exp.Expr = exp.Paren(this=keys[0])
    for key in keys[1:]:
        mixed = exp.BitwiseXor(this=mixed, expression=exp.Paren(this=key))
    spread = exp.Mod(this=exp.Paren(this=mixed) if len(keys) > 1 else mixed, expression=literal(_PRIME))
    return exp.EQ(this=exp.Mod(this=exp.Paren(this=spread), expression=literal(one_in)), expression=literal(0))


def class_id(keys: Sequence[exp.Expr]) -> exp.Expr:
    if len(keys) == 1:
        return keys[0]
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(key_name(i), quoted=True), expression=key)
            for i, key in enumerate(keys)
        ]
    )


def respondents(entity: exp.Expr) -> exp.Expr:
    """The number of distinct respondents of a group; all NULLs together count as one."""
    unknown = exp.Max(
        this=exp.Case(
            ifs=[exp.If(this=exp.Is(this=entity.copy(), expression=exp.Null()), true=literal(1))], default=literal(0)
        )
    )
    known = exp.Count(this=exp.Distinct(expressions=[entity]))
    return exp.Add(this=known, expression=unknown)
