"""What losses are counted from: the labels of each level, the classes a node publishes, the rows it withholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.generalization.lattice.node_summary_sql import Key
from sqlanon.sqlgen.build.expressions import huge, or_zero, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, parameter, relation
from sqlanon.sqlgen.cells.cells import codes, key_name, rank_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

__all__ = ["LOG_BITS", "cost_totals", "entropy_of", "label_counts", "published_of", "value_costs", "withheld_of"]

# Logarithms to the base 2 are whole numbers of 2 ** -52, as exact as a DOUBLE holds those of counts: so their sums do
# not depend on the order of the rows.
LOG_BITS = 52

_BIGINT = exp.DataType.build("BIGINT")
_BIGINTS = exp.DataType.build("BIGINT[]", dialect="duckdb")
_HUGEINT = exp.DataType.build("HUGEINT", dialect="duckdb")


class Trees(Protocol):
    """The cells, the trees of the attributes, and where their levels stand in the key."""

    @property
    def table(self) -> str: ...
    @property
    def trees(self) -> Sequence[str]: ...
    @property
    def layout(self) -> KeyLayout: ...


def label_counts(policy: BoundPolicy, cells: Trees) -> exp.Query:
    """For each attribute and level: attribute, level, the labels that occur there, the sum of their squared rows."""
    queries: list[exp.Query] = []
    for place, bound in enumerate(policy.quasi_identifiers):
        for level in range(bound.height + 1):
            rows = alias(huge(exp.Sum(this=column("n"))), "n")
            labels = exp.select(rows).from_(relation(cells.trees[place])).where(_occurs())
            if level < bound.height:
                labels.group_by(*_path(bound, level), copy=False)
            squared = exp.Mul(this=column("n"), expression=column("n"))
            figures = [exp.Count(this=column("n")), _total(squared)]
            queries.append(exp.select(literal(place), literal(level), *figures).from_(labels.subquery("labels")))
    return union_all(queries)


def withheld_of(first: int) -> exp.Select:
    """A row a node: its place and its withheld rows. The parameter `first` is the list of places."""
    return (
        exp.select(column("place", "node"), alias(_total(column("size", "withheld")), "rows"))
        .from_(_nodes(["place"], first), copy=False)
        .join(relation("withheld"), on=_same_place("withheld"), join_type="LEFT", copy=False)
        .group_by(column("place", "node"), copy=False)
    )


def published_of(place: Callable[[exp.Expr], exp.Expr], first: int) -> exp.Select:
    """A row a node: its place and withheld rows, then of the published classes the number and the sum of squared sizes.

    It reads equivalence_class(class_id, size, entities) and withheld(place, class_id,
    size); `place` gives the node of a class_id. The parameter `first` is the list of places.
    """
    every = _counted(alias(place(column("class_id")), "place"), "equivalence_class")
    held = _counted(column("place"), "withheld")
    published = [
        alias(exp.Sub(this=or_zero(column(name, "every")), expression=or_zero(column(name, "held"))), name)
        for name in ("classes", "squares")
    ]
    return (
        exp.select(column("place", "node"), alias(or_zero(column("rows", "held")), "rows"), *published)
        .from_(_nodes(["place"], first), copy=False)
        .join(every.subquery("every"), on=_same_place("every"), join_type="LEFT", copy=False)
        .join(held.subquery("held"), on=_same_place("held"), join_type="LEFT", copy=False)
    )


def _counted(place: exp.Expr, classes: str) -> exp.Select:
    """The rows of each node's classes, those that have any, and the sum of their squared sizes."""
    size = huge(column("size"))
    # A requirement may find fault with a class of the public table that has no row here.
    held = exp.Case(ifs=[exp.If(this=exp.GT(this=column("size"), expression=literal(0)), true=literal(1))])
    figures = {
        "rows": _total(column("size")),
        "classes": exp.Count(this=held),
        "squares": _total(exp.Mul(this=size, expression=size.copy())),
    }
    query = exp.select(place, *(alias(figure, name) for name, figure in figures.items()))
    return query.from_(relation(classes), copy=False).group_by(place.unalias().copy(), copy=False)


def value_costs(policy: BoundPolicy, cells: Trees) -> exp.Query:
    """For each attribute and level from 1 the values that occur: attribute, level, part_0, ..., n, cost.

    `part_w` is what the value's code is in the word w of a key, `n` its rows, `cost`
    log2(rows of its label / n) in units of 2 ** -LOG_BITS.
    """
    queries: list[exp.Query] = []
    for place, (bound, fields) in enumerate(zip(policy.quasi_identifiers, cells.layout.fields, strict=True)):
        for level in range(1, bound.height + 1):
            values = _with_label_rows(bound, cells.trees[place], fields, level)
            known = {name.alias_or_name for name in values.selects}
            parts = [
                column(key_name(word)) if key_name(word) in known else literal(0) for word in range(cells.layout.words)
            ]
            cost = exp.Sub(this=_log2(column("label_n")), expression=_log2(column("n")))
            numbers = {"attribute": literal(place), "level": literal(level)}
            numbers |= {f"part_{word}": part for word, part in enumerate(parts)} | {"n": column("n"), "cost": cost}
            named = [alias(exp.Cast(this=tree, to=_BIGINT.copy()), name) for name, tree in numbers.items()]
            queries.append(exp.select(*named).from_(values.subquery("counted"), copy=False))
    return union_all(queries)


def _with_label_rows(bound: BoundAttribute, tree: str, fields: Sequence[Field], level: int) -> exp.Select:
    """The values of an attribute that occur: their codes, their rows `n`, and those of their label, `label_n`."""
    rows = exp.Window(this=exp.Sum(this=column("n")), partition_by=_path(bound, level))
    values = codes(relation(tree), fields) or exp.select(column("value")).from_(relation(tree))
    return values.select(column("n"), alias(rows, "label_n"), copy=False).where(_occurs(), copy=False)


def cost_totals(costs: str, words: int, limit: int) -> exp.Select:
    """For each attribute and level: attribute, level, the cost of all rows, the most that `limit` of them cost.

    `costs` is a table of `value_costs`.
    """
    group = [column("attribute"), column("level")]
    order = [
        exp.Ordered(this=column("cost"), desc=True, nulls_first=False),
        *(exp.Ordered(this=column(f"part_{word}"), nulls_first=False) for word in range(words)),
    ]
    passed = exp.Window(
        this=exp.Sum(this=column("n")), partition_by=[g.copy() for g in group], order=exp.Order(expressions=order)
    )
    before = alias(exp.Sub(this=passed, expression=column("n")), "before")
    costliest_first = exp.select(exp.Star(), before).from_(relation(costs))
    left = exp.Sub(this=literal(limit), expression=column("before"))
    taken = exp.Greatest(this=literal(0), expressions=[exp.Least(this=column("n"), expressions=[left])])
    sums = [_total(exp.Mul(this=huge(column("cost")), expression=rows)) for rows in (column("n"), taken)]
    query = exp.select(*group, *sums).from_(costliest_first.subquery("costliest_first"), copy=False)
    return query.group_by(*(g.copy() for g in group), copy=False)


def entropy_of(attributes: int, costs: str, cells: Trees, key: Key, first: int) -> exp.Select:
    """A row a node: its place, its withheld rows, and for each attribute what withholding them adds to the entropy.

    That is, in units of 2 ** -LOG_BITS, the entropy of their values among themselves
    less what they cost at the node's level: the sum over them of log2(withheld rows /
    rows of the value among them) - cost. It reads withheld(place, class_id, size); `costs`
    is a table of `value_costs`, `key` gives a word of the key that a class_id is. The
    parameters from `first` on are lists with an item a node: its place, its mask of each
    word, and the level of each attribute.
    """
    words = cells.layout.words
    lost = _values_lost(attributes, cells, key, first)
    together = exp.Window(this=exp.Sum(this=column("n")), partition_by=[column("place"), column("attribute")])
    values = exp.select(exp.Star(), alias(together, "withheld")).from_(lost.subquery("lost"), copy=False)
    same = [exp.EQ(this=column(n, "costs"), expression=column(n, "value")) for n in ("attribute", "level")]
    same += [exp.EQ(this=column(f"part_{w}", "costs"), expression=column(f"part_{w}", "value")) for w in range(words)]
    apart = exp.Sub(this=_log2(column("withheld", "value")), expression=_log2(column("n", "value")))
    each = exp.Paren(this=exp.Sub(this=apart, expression=or_zero(column("cost", "costs"))))
    more = exp.Mul(this=huge(column("n", "value")), expression=each)
    sums = [
        alias(_total(exp.Case(ifs=[exp.If(this=_is_attribute(place), true=more.copy())])), f"sum_{place}")
        for place in range(attributes)
    ]
    rows = or_zero(exp.Max(this=column("withheld", "value")))
    return (
        exp.select(column("place", "node"), alias(rows, "rows"), *sums)
        .from_(_nodes(["place"], first), copy=False)
        .join(values.subquery("value"), on=_same_place("value"), join_type="LEFT", copy=False)
        .join(relation(costs, as_="costs"), on=exp.and_(*same), join_type="LEFT", copy=False)
        .group_by(column("place", "node"), copy=False)
    )


def _values_lost(attributes: int, cells: Trees, key: Key, first: int) -> exp.Select:
    """The values of the withheld rows: place, attribute, level, part_0, ..., n."""
    words = range(cells.layout.words)
    names = ["place", *(f"mask_{word}" for word in words), *(f"level_{place}" for place in range(attributes))]
    level = exp.Case(ifs=[exp.If(this=_is_attribute(p), true=column(f"level_{p}", "node")) for p in range(attributes)])
    parts = [_masked(column(key_name(word), "row"), column(f"own_{word}", "value")) for word in words]
    group = [column("place", "row"), column("attribute", "value"), level, *parts]
    named = ["place", "attribute", "level", *(f"part_{word}" for word in words)]
    n = alias(exp.Cast(this=exp.Sum(this=column("n", "row")), to=_BIGINT.copy()), "n")
    rows = _rows_lost(cells, key, first, names[: 1 + len(words)])
    return (
        exp.select(*(alias(tree, name) for tree, name in zip(group, named, strict=True)), n)
        .from_(rows.subquery("row"), copy=False)
        .join(_nodes(names, first), on=_same_place("row"), copy=False)
        .join(_own_masks(cells.layout).subquery("value"), join_type="CROSS", copy=False)
        .group_by(*(tree.copy() for tree in group), copy=False)
    )


def _rows_lost(cells: Trees, key: Key, first: int, names: Sequence[str]) -> exp.Select:
    """The cells of the withheld classes: place, key_0, ..., n."""
    words = range(cells.layout.words)
    leaves = cells.layout.masks([0] * len(cells.layout.fields))
    keys = [_masked(column(key_name(word), "cell"), literal(leaves[word])) for word in words]
    labels = [_masked(column(key_name(word), "cell"), column(f"mask_{word}", "node")) for word in words]
    fine = (
        exp.select(
            column("place", "node"),
            *(alias(tree, f"label_{word}") for word, tree in enumerate(labels)),
            *(alias(tree, key_name(word)) for word, tree in enumerate(keys)),
            column("n", "cell"),
        )
        .from_(relation(cells.table, as_="cell"), copy=False)
        .join(_nodes(names, first), join_type="CROSS", copy=False)
    )
    same = [exp.EQ(this=column("place", "fine"), expression=column("place", "withheld"))]
    for word in words:
        # A class_id holds the place too, beside the bits of the key.
        label = _masked(key(column("class_id", "withheld"), word), literal(leaves[word]))
        same.append(exp.EQ(this=column(f"label_{word}", "fine"), expression=label))
    kept = [column("place", "fine"), *(column(key_name(word), "fine") for word in words), column("n", "fine")]
    query = exp.select(*kept).from_(fine.subquery("fine"), copy=False)
    return query.join(relation("withheld"), on=exp.and_(*same), copy=False)


def _own_masks(layout: KeyLayout) -> exp.Query:
    """For each attribute the masks that keep of a key its own value: attribute, own_0, ...."""
    queries: list[exp.Query] = []
    for place, fields in enumerate(layout.fields):
        numbers = {"attribute": place}
        numbers |= {f"own_{word}": sum(f.mask for f in fields if f.word == word) for word in range(layout.words)}
        named = [alias(exp.Cast(this=literal(value), to=_BIGINT.copy()), name) for name, value in numbers.items()]
        queries.append(exp.select(*named))
    return union_all(queries)


def _is_attribute(place: int) -> exp.Expr:
    return exp.EQ(this=column("attribute", "value"), expression=literal(place))


def _nodes(names: Sequence[str], first: int) -> exp.Subquery:
    """The nodes of a batch, one a row, as `node`; the parameters from `first` on are its columns, as lists."""
    lists = [exp.Cast(this=parameter(first + i), to=_BIGINTS.copy()) for i in range(len(names))]
    rows = [alias(exp.Explode(this=each), name) for each, name in zip(lists, names, strict=True)]
    return exp.select(*rows).subquery("node")


def _same_place(of: str) -> exp.Expr:
    return exp.EQ(this=column("place", of), expression=column("place", "node"))


def _masked(key: exp.Expr, mask: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.BitwiseAnd(this=exp.Paren(this=key), expression=mask))


def _path(bound: BoundAttribute, level: int) -> list[exp.Expr]:
    """The ranks that name a node of the tree at a level: its own and those of its ancestors."""
    return [column(rank_name(i)) for i in range(level, bound.height)]


def _occurs() -> exp.Expr:
    return exp.GT(this=column("n"), expression=literal(0))


def _log2(count: exp.Expr) -> exp.Expr:
    """The logarithm of a count in units of 2 ** -LOG_BITS."""
    unit = exp.cast(exp.Literal.number(repr(float(1 << LOG_BITS) / log(2))), exp.DataType.Type.DOUBLE)
    logarithm = exp.Ln(this=exp.cast(count, exp.DataType.Type.DOUBLE))
    return exp.Cast(this=exp.Round(this=exp.Mul(this=logarithm, expression=unit)), to=_BIGINT.copy())


def _total(part: exp.Expr) -> exp.Expr:
    return huge(or_zero(exp.Sum(this=part)))
