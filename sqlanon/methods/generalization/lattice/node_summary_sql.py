"""Queries about nodes of the lattice: rows suppressed, loss, and what stands in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.sqlgen.build.expressions import huge, or_zero, union_all
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, parameter, relation
from sqlanon.sqlgen.build.steps import Step, with_steps
from sqlanon.sqlgen.cells.cells import leaves_name, rank_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout
from sqlanon.sqlgen.cells.labels import generalized, level_name, listed_values

__all__ = ["Key", "class_label", "leaf_counts", "spread_of", "violated_classes"]

# A word of the key that a class_id is: (class_id, word) to an expression.
Key = Callable[[exp.Expr, int], exp.Expr]


class Trees(Protocol):
    """The trees of the attributes and where their levels stand in the key."""

    @property
    def trees(self) -> Sequence[str]: ...
    @property
    def layout(self) -> KeyLayout: ...


def _total(part: exp.Expr) -> exp.Expr:
    return huge(or_zero(exp.Sum(this=part)))


def leaf_counts(policy: BoundPolicy, cells: Trees) -> exp.Query:
    """For each attribute and level the nodes of its tree: attribute, level, part_0, ..., others.

    `part_w` is what the node's codes are in the word w of a key, `others` how many
    leaves lie below it beside the first. The value itself, which has no others, is left out.
    """
    words = cells.layout.words
    queries: list[exp.Query] = []
    for place, (bound, fields) in enumerate(zip(policy.quasi_identifiers, cells.layout.fields, strict=True)):
        for level in range(1, bound.height):
            codes = [_part(fields[level:], level, word) for word in range(words)]
            others = exp.Sub(this=column(leaves_name(level)), expression=literal(1))
            queries.append(
                exp.select(*_labelled(place, level, codes, others))
                .distinct(copy=False)
                .from_(relation(cells.trees[place]), copy=False)
            )
        all_others = exp.Sub(this=_total(column("leaf")), expression=literal(1))
        zeros = [literal(0) for _ in range(words)]
        top = exp.select(*_labelled(place, bound.height, zeros, all_others))
        queries.append(top.from_(relation(cells.trees[place]), copy=False))
    return union_all(queries)


def _labelled(place: int, level: int, codes: Sequence[exp.Expr], others: exp.Expr) -> list[exp.Expr]:
    numbers = {"attribute": literal(place), "level": literal(level)}
    numbers |= {f"part_{word}": code for word, code in enumerate(codes)} | {"others": others}
    return [alias(exp.Cast(this=tree, to=exp.DataType.build("BIGINT")), name) for name, tree in numbers.items()]


def _part(fields: Sequence[Field], level: int, word: int) -> exp.Expr:
    """What the codes of an ancestor at a level are in one word of the key."""
    part: exp.Expr = literal(0)
    for above, field in enumerate(fields):
        if field.word == word and field.bits:
            rank = column(rank_name(level + above))
            part = exp.Add(
                this=part, expression=exp.Paren(this=exp.BitwiseLeftShift(this=rank, expression=literal(field.shift)))
            )
    return part


def spread_of(attributes: int, leaves: str, words: int, key: Key, first: int) -> exp.Select:
    """A row a node: its place, its withheld rows, and for each attribute their sum of (leaves - 1) at its level.

    It reads withheld(place, class_id, size); `leaves` is a table of `leaf_counts`, `key`
    gives a word of the key that a class_id is. The parameters from `first` on are lists
    with an item for each node and attribute: the node's place, the attribute's, its level
    and its masks; and one a node of the attribute -1, which stands for the rows alone.

    One join for all attributes: one for each would take longer to plan than to run.
    """
    names = ["place", "attribute", "level", *(f"mask_{word}" for word in range(words))]
    lists = [
        alias(exp.Explode(this=exp.Cast(this=parameter(first + i), to=_BIGINTS.copy())), name)
        for i, name in enumerate(names)
    ]
    spread = exp.Mul(this=column("size", "withheld"), expression=column("others", "leaves"))
    sums = [alias(_total(_where_attribute(place, spread)), f"sum_{place}") for place in range(attributes)]
    same = exp.EQ(this=column("place", "withheld"), expression=column("place", "node"))
    labels = [exp.EQ(this=column(name, "leaves"), expression=column(name, "node")) for name in ("attribute", "level")]
    for word in range(words):
        masked = exp.BitwiseAnd(
            this=exp.Paren(this=key(column("class_id", "withheld"), word)), expression=column(f"mask_{word}", "node")
        )
        labels.append(exp.EQ(this=exp.Paren(this=masked), expression=column(f"part_{word}", "leaves")))
    withheld = alias(_total(_where_attribute(-1, column("size", "withheld"))), "withheld")
    return (
        exp.select(column("place", "node"), withheld, *sums)
        .from_(exp.select(*lists).subquery("node"), copy=False)
        .join(relation("withheld"), on=same, join_type="LEFT", copy=False)
        .join(relation(leaves, as_="leaves"), on=exp.and_(*labels), join_type="LEFT", copy=False)
        .group_by(column("place", "node"), copy=False)
    )


def _where_attribute(place: int, figure: exp.Expr) -> exp.Case:
    same = exp.EQ(this=column("attribute", "node"), expression=literal(place))
    return exp.Case(ifs=[exp.If(this=same, true=figure.copy())])


_BIGINTS = exp.DataType.build("BIGINT[]", dialect="duckdb")


def violated_classes(
    steps: Sequence[Step], violating: Sequence[exp.Query], place: Callable[[exp.Expr], exp.Expr], key: Key, words: int
) -> exp.Select:
    """For each requirement and node the classes that violate it; no row where there are none.

    The requirement's place in `violating`, which are statements `violations`; the node's
    place; the rows, the number and the excess of the classes; and of the smallest its size
    and the words of its key. `steps` make what the statements read.
    """
    every = union_all([_by_node(query, number, place) for number, query in enumerate(violating)])
    smallest = [exp.Dot(this=column("smallest"), expression=identifier(name)) for name in ("size", "class_id")]
    names = [column(name) for name in ("requirement", "place", "rows", "classes", "excess")]
    query = exp.select(*names, smallest[0], *(key(smallest[1].copy(), word) for word in range(words)))
    return with_steps(query.from_(every.subquery("violated"), copy=False), steps)


def _by_node(violating: exp.Query, number: int, place: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    node = place(column("class_id"))
    # The smallest class, and of several the first in the order of values.
    pair = [exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in ("size", "class_id")]
    return (
        exp.select(
            alias(literal(number), "requirement"),
            alias(node, "place"),
            alias(_total(column("size")), "rows"),
            alias(exp.Count(this=exp.Star()), "classes"),
            alias(exp.Sum(this=column("excess")), "excess"),
            alias(exp.Min(this=exp.Struct(expressions=pair)), "smallest"),
        )
        .from_(violating.subquery("violations"), copy=False)
        .group_by(node.copy(), copy=False)
    )


def class_label(
    bound: BoundAttribute, level: int, tree: str, fields: Sequence[Field], key: Sequence[int]
) -> exp.Select:
    """One row: what the attribute shows, at a level below `*`, of the class with these key words."""
    same = [
        exp.EQ(this=column(rank_name(above)), expression=literal((key[field.word] & field.mask) >> field.shift))
        for above, field in enumerate(fields)
        if above >= level
    ]
    # A stored hierarchy lists values of other nodes, which the tree's own are told from by their number.
    values = exp.select(column("value"), alias(literal(1), "n")).from_(relation(tree)).where(*same)
    listed = listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None
    labels = generalized(bound, values, listed, counted=True).subquery("generalized")
    shown = column(level_name(level) if level else "value")
    occurs = exp.GT(this=column("n"), expression=literal(0))
    text = exp.Cast(this=exp.Min(this=shown), to=exp.DataType.build("VARCHAR"))
    return exp.select(text).from_(labels).where(occurs)
