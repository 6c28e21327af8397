"""Queries about nodes of the lattice: rows suppressed, loss, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.sqlgen.cells import key_name, leaves_name, rank_name
from sqlanon.sqlgen.generalized import generalized, level_name, listed_values
from sqlanon.sqlgen.keys import Field, KeyLayout
from sqlanon.sqlgen.names import alias, column, identifier, literal, relation

__all__ = ["Asks", "class_label", "node_counts", "node_loss", "smallest_class", "violations"]


class Asks(Protocol):
    """A requirement that can be asked of normal relations."""

    def statement(self, name: str) -> exp.Select: ...


class Trees(Protocol):
    """The trees of the attributes and where their levels stand in the key."""

    @property
    def trees(self) -> Sequence[str]: ...
    @property
    def layout(self) -> KeyLayout: ...


def violations(requirements: Sequence[Asks]) -> exp.Query:
    """The classes that violate any requirement, each once: class_id, size."""
    asked: exp.Query = requirements[0].statement("violations")
    for requirement in requirements[1:]:
        asked = exp.union(asked, requirement.statement("violations"), distinct=True, copy=False)
    return asked


def _total(part: exp.Expr) -> exp.Expr:
    added = exp.Coalesce(this=exp.Sum(this=part), expressions=[literal(0)])
    return exp.Cast(this=added, to=exp.DataType.build("HUGEINT", dialect="duckdb"))


def node_counts(classes: Sequence[exp.Query], requirements: Sequence[Asks], *, sized: bool = False) -> exp.Query:
    """For each node, by its place in the list: the rows of the classes that violate a requirement.

    If `sized`, also how many classes the node has.
    """
    counts: list[exp.Query] = []
    for place, node in enumerate(classes):
        parts = [alias(literal(place), "node"), alias(_total(column("size")), "suppressed")]
        if sized:
            every = exp.select(exp.Count(this=exp.Star())).from_(relation("equivalence_class"), copy=False)
            parts.append(alias(every.subquery(), "classes"))
        one = exp.select(*parts).from_(violations(requirements).subquery("violations"), copy=False)
        one.with_(identifier("equivalence_class"), as_=node, copy=False)
        counts.append(exp.select(exp.Star()).from_(one.subquery(f"node_{place}"), copy=False))
    query = counts[0]
    for other in counts[1:]:
        query = exp.union(query, other, distinct=False, copy=False)
    return query


def node_loss(
    policy: BoundPolicy, classes: exp.Query, requirements: Sequence[Asks], cells: Trees, levels: Sequence[int]
) -> exp.Select:
    """One row: the suppressed rows, and for each attribute their sum of (leaves - 1) at its level."""
    words = cells.layout.words
    sums: list[exp.Expr] = [_total(column("size", "violations"))]
    joins: list[tuple[exp.Expr, exp.Expr]] = []
    for place, (bound, fields, level) in enumerate(
        zip(policy.quasi_identifiers, cells.layout.fields, levels, strict=True)
    ):
        name = f"node_{place}"
        if level == 0:
            sums.append(literal(0))
        elif level == bound.height:
            everything = exp.select(exp.Sub(this=exp.Count(this=exp.Star()), expression=literal(1)))
            below_all = everything.from_(relation(cells.trees[place]), copy=False).subquery()
            sums.append(exp.Mul(this=_total(column("size", "violations")), expression=below_all))
        else:
            others = exp.Paren(this=exp.Sub(this=column(leaves_name(level), name), expression=literal(1)))
            sums.append(_total(exp.Mul(this=column("size", "violations"), expression=others)))
            joins.append(_node_join(name, cells.trees[place], fields[level:], level, words))
    query = exp.select(*sums).from_(violations(requirements).subquery("violations"), copy=False)
    for subquery, same in joins:
        query.join(subquery, on=same, copy=False)
    return query.with_(identifier("equivalence_class"), as_=classes, copy=False)


def _node_join(name: str, tree: str, fields: Sequence[Field], level: int, words: int) -> tuple[exp.Expr, exp.Expr]:
    """Joins an attribute's nodes of one level to the classes, by the fields that name a node."""
    ranks = [column(rank_name(level + i)) for i in range(len(fields))]
    nodes = exp.select(*ranks, column(leaves_name(level))).distinct(copy=False).from_(relation(tree), copy=False)
    conditions: list[exp.Expr] = []
    for i, field in enumerate(fields):
        if not field.bits:
            continue
        word: exp.Expr = column("class_id", "violations")
        if words > 1:
            word = exp.Dot(this=word, expression=identifier(key_name(field.word)))
        shifted = exp.BitwiseRightShift(
            this=exp.Paren(this=exp.BitwiseAnd(this=word, expression=literal(field.mask))),
            expression=literal(field.shift),
        )
        conditions.append(exp.EQ(this=exp.Paren(this=shifted), expression=column(rank_name(level + i), name)))
    return nodes.subquery(name), exp.and_(*conditions) if conditions else exp.true()


def smallest_class(classes: exp.Query, requirement: Asks, words: int) -> exp.Select:
    """At most one row, about the classes that violate a requirement.

    Their rows, their number, and of the smallest its size and the words of its key.
    """
    violating = requirement.statement("violations").subquery("violations")
    total, count = (exp.Window(this=part) for part in (exp.Sum(this=column("size")), exp.Count(this=exp.Star())))
    key = [exp.Dot(this=column("class_id"), expression=identifier(key_name(word))) for word in range(words)]
    query = (
        exp.select(total, count, column("size"), *(key if words > 1 else [column("class_id")]))
        .from_(violating, copy=False)
        .order_by(column("size"), column("class_id"), copy=False)
        .limit(1, copy=False)
    )
    return query.with_(identifier("equivalence_class"), as_=classes, copy=False)


def class_label(bound: BoundAttribute, tree: str, fields: Sequence[Field], key: Sequence[int]) -> exp.Select:
    """One row: what the attribute shows, at its highest level allowed, of the class with these key words."""
    same = [
        exp.EQ(this=column(rank_name(level)), expression=literal((key[field.word] & field.mask) >> field.shift))
        for level, field in enumerate(fields)
        if level >= bound.max_level
    ]
    values = exp.select(column("value"), column("n")).from_(relation(tree)).where(*same)
    listed = listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None
    labels = generalized(bound, values, listed, counted=True).subquery("generalized")
    shown = column(level_name(bound.max_level) if bound.max_level else "value")
    occurs = exp.GT(this=column("n"), expression=literal(0))
    text = exp.Cast(this=exp.Min(this=shown), to=exp.DataType.build("VARCHAR"))
    return exp.select(text).from_(labels).where(occurs)
