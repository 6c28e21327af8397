"""Non-uniform entropy (De Waal and Willenborg 1999; Gionis and Tassa 2009): the bits it takes to undo the recoding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm, log
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.generalization.lattice.node_summary_sql import Key
from sqlanon.methods.generalization.lattice.rollup import Classes
from sqlanon.methods.generalization.lattice.search import Node
from sqlanon.methods.generalization.losses.base import AddsUp, Setting, additive
from sqlanon.methods.generalization.losses.loss_sql import (
    huge_total,
    node_rows,
    occurring,
    rank_path,
    same_place,
)
from sqlanon.methods.shared.cells import Cells
from sqlanon.sqlgen.build.expressions import (
    ascending,
    big,
    descending,
    huge,
    if_,
    infix,
    or_zero,
    order_by,
    paren,
    union_all,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.cells import codes, key_name
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NonUniformEntropy"]

# Logarithms to the base 2 are whole numbers of 2 ** -52, as exact as a DOUBLE holds those of counts: so their sums do
# not depend on the order of the rows.
_LOG_BITS = 52

# The unit of the loss is 2 ** -30 bits: far above the error of the logarithms, far below what tells nodes apart.
_UNIT_BITS = 30


class NonUniformEntropy:
    """For each attribute a kept row costs -log2(rows with its value / rows with its label), rows of the whole source.

    The suppressed rows cost -log2(rows with the value among them / their number) each.
    The sum over all attributes, weighted. Logarithms are irrational: losses are rounded
    to multiples of 2 ** -30 bits of the attribute of the greatest weight, and nodes
    that agree in them count as equal.
    """

    NAME = "non_uniform_entropy"
    DEFINITION = (
        "non-uniform entropy (Gionis and Tassa 2009): a value costs -log2 of its share among the rows with its label, "
        "in a suppressed row -log2 of its share among the suppressed rows; the sum over all rows and "
        "quasi-identifiers, in bits, weighted where the policy weighs"
    )
    ADDS_UP = AddsUp.ROWS
    LATER_ROUNDS = NAME
    # Of the rows of one class the values may be told apart from less than what the recoding has cost them.
    GROWS = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        whole = lcm(*(weight.denominator for weight in setting.weights))
        self._weights = [int(weight * whole) for weight in setting.weights]
        self._most = max(setting.weights)
        # So many weighted units of 2 ** -_LOG_BITS are a unit of the loss.
        self._per_unit = max(self._weights) << (_LOG_BITS - _UNIT_BITS)
        self._costs = setting.keep("costs", _value_costs(setting.policy, setting.cells))
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        # By attribute and level: the bits of all rows, and the least that is left of them beside the suppressed rows'.
        self._all = [[0] * (height + 1) for height in heights]
        self._left = [[0] * (height + 1) for height in heights]
        totals = _cost_totals(self._costs, setting.cells.layout.words, setting.limit)
        for attribute, level, every, costliest in setting.rows(totals):
            self._all[attribute][level] = int(every)
            self._left[attribute][level] = int(every) - int(costliest)

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """What every attribute's costliest rows leave, were it they that are suppressed, and cost nothing then."""
        costs = [
            [weight * left // self._per_unit for left in own]
            for weight, own in zip(self._weights, self._left, strict=True)
        ]
        return additive(costs, levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        return None

    def query(self, first: int) -> exp.Select:
        setting = self._setting
        return _entropy_of(len(self._weights), self._costs, setting.cells, setting.key, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """Its mask of each word, and the level of each attribute."""
        layout = self._setting.cells.layout
        masks = [list(word) for word in zip(*(layout.masks(node) for node in nodes), strict=True)]
        levels = [list(own) for own in zip(*nodes, strict=True)]
        return [list(range(len(nodes))), *masks, *levels]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """That of the node's recoding of all rows, and what withholding some adds to it."""
        total = sum(
            weight * (own[level] + int(more))
            for weight, own, level, more in zip(self._weights, self._all, node, answer, strict=True)
        )
        return (2 * total + self._per_unit) // (2 * self._per_unit)

    def value(self, loss: int) -> Fraction:
        return Fraction(loss, 1 << _UNIT_BITS) * self._most


def _value_costs(policy: BoundPolicy, cells: Cells) -> exp.Query:
    """For each attribute and level from 1 the values that occur: attribute, level, part_0, ..., n, cost.

    `part_w` is what the value's code is in the word w of a key, `n` its rows, `cost`
    log2(rows of its label / n) in units of 2 ** -_LOG_BITS.
    """
    queries: list[exp.Query] = []
    for index, (bound, fields) in enumerate(zip(policy.quasi_identifiers, cells.layout.fields, strict=True)):
        for level in range(1, bound.height + 1):
            values = _with_label_rows(bound, cells.trees[index], fields, level)
            known = {name.alias_or_name for name in values.selects}
            parts = [
                column(key_name(word)) if key_name(word) in known else literal(0) for word in range(cells.layout.words)
            ]
            cost = infix(_log2(column("label_n")), "-", _log2(column("n")))
            numbers = {"attribute": literal(index), "level": literal(level)}
            numbers |= {f"part_{word}": part for word, part in enumerate(parts)} | {"n": column("n"), "cost": cost}
            named = [alias(big(tree), name) for name, tree in numbers.items()]
            queries.append(exp.select(*named).from_(values.subquery("counted"), copy=False))
    return union_all(queries)


def _with_label_rows(bound: BoundAttribute, tree: str, fields: Sequence[Field], level: int) -> exp.Select:
    """The values of an attribute that occur: their codes, their rows `n`, and those of their label, `label_n`."""
    rows = window(exp.Sum(this=column("n")), partition_by=rank_path(bound, level))
    values = codes(relation(tree), fields) or exp.select(column("value")).from_(relation(tree))
    return values.select(column("n"), alias(rows, "label_n"), copy=False).where(occurring(), copy=False)


def _cost_totals(costs: str, words: int, limit: int) -> exp.Select:
    """For each attribute and level: attribute, level, the cost of all rows, the most that `limit` of them cost.

    `costs` is a table of `_value_costs`.
    """
    group = [column("attribute"), column("level")]
    order = [
        descending(column("cost")),
        *(ascending(column(f"part_{word}")) for word in range(words)),
    ]
    passed = window(exp.Sum(this=column("n")), partition_by=[g.copy() for g in group], order=order_by(*order))
    before = alias(infix(passed, "-", column("n")), "before")
    costliest_first = exp.select(exp.Star(), before).from_(relation(costs))
    left = literal(limit) - column("before")
    taken = exp.Greatest(this=literal(0), expressions=[exp.Least(this=column("n"), expressions=[left])])
    sums = [huge_total(infix(huge(column("cost")), "*", rows)) for rows in (column("n"), taken)]
    query = exp.select(*group, *sums).from_(costliest_first.subquery("costliest_first"), copy=False)
    return query.group_by(*(g.copy() for g in group), copy=False)


def _entropy_of(attributes: int, costs: str, cells: Cells, key: Key, first: int) -> exp.Select:
    """A row a node: its place, its withheld rows, and for each attribute what withholding them adds to the entropy.

    That is, in units of 2 ** -_LOG_BITS, the entropy of their values among themselves
    less what they cost at the node's level: the sum over them of log2(withheld rows /
    rows of the value among them) - cost. It reads withheld(place, class_id, size); `costs`
    is a table of `_value_costs`, `key` gives a word of the key that a class_id is. The
    parameters from `first` on are lists with an item a node: its place, its mask of each
    word, and the level of each attribute.
    """
    words = cells.layout.words
    lost = _values_lost(attributes, cells, key, first)
    together = window(exp.Sum(this=column("n")), partition_by=[column("place"), column("attribute")])
    values = exp.select(exp.Star(), alias(together, "withheld")).from_(lost.subquery("lost"), copy=False)
    same = [column(n, "costs").eq(column(n, "value")) for n in ("attribute", "level")]
    same += [column(f"part_{w}", "costs").eq(column(f"part_{w}", "value")) for w in range(words)]
    apart = infix(_log2(column("withheld", "value")), "-", _log2(column("n", "value")))
    each = paren(infix(apart, "-", or_zero(column("cost", "costs"))))
    more = infix(huge(column("n", "value")), "*", each)
    sums = [alias(huge_total(if_(_is_attribute(index), more.copy())), f"sum_{index}") for index in range(attributes)]
    rows = or_zero(exp.Max(this=column("withheld", "value")))
    return (
        exp.select(column("place", "node"), alias(rows, "rows"), *sums)
        .from_(node_rows(["place"], first), copy=False)
        .join(values.subquery("value"), on=same_place("value"), join_type="LEFT", copy=False)
        .join(relation(costs, as_="costs"), on=exp.and_(*same), join_type="LEFT", copy=False)
        .group_by(column("place", "node"), copy=False)
    )


def _values_lost(attributes: int, cells: Cells, key: Key, first: int) -> exp.Select:
    """The values of the withheld rows: place, attribute, level, part_0, ..., n."""
    words = range(cells.layout.words)
    names = ["place", *(f"mask_{word}" for word in words), *(f"level_{index}" for index in range(attributes))]
    level = exp.Case(ifs=[exp.If(this=_is_attribute(p), true=column(f"level_{p}", "node")) for p in range(attributes)])
    parts = [_masked(column(key_name(word), "row"), column(f"own_{word}", "value")) for word in words]
    group = [column("place", "row"), column("attribute", "value"), level, *parts]
    named = ["place", "attribute", "level", *(f"part_{word}" for word in words)]
    n = alias(big(exp.Sum(this=column("n", "row"))), "n")
    rows = _rows_lost(cells, key, first, names[: 1 + len(words)])
    return (
        exp.select(*(alias(tree, name) for tree, name in zip(group, named, strict=True)), n)
        .from_(rows.subquery("row"), copy=False)
        .join(node_rows(names, first), on=same_place("row"), copy=False)
        .join(_own_masks(cells.layout).subquery("value"), join_type="CROSS", copy=False)
        .group_by(*(tree.copy() for tree in group), copy=False)
    )


def _rows_lost(cells: Cells, key: Key, first: int, names: Sequence[str]) -> exp.Select:
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
        .join(node_rows(names, first), join_type="CROSS", copy=False)
    )
    same: list[exp.Expr] = [column("place", "fine").eq(column("place", "withheld"))]
    for word in words:
        # A class_id holds the place too, beside the bits of the key.
        label = _masked(key(column("class_id", "withheld"), word), literal(leaves[word]))
        same.append(infix(column(f"label_{word}", "fine"), "=", label))
    kept = [column("place", "fine"), *(column(key_name(word), "fine") for word in words), column("n", "fine")]
    query = exp.select(*kept).from_(fine.subquery("fine"), copy=False)
    return query.join(relation("withheld"), on=exp.and_(*same), copy=False)


def _own_masks(layout: KeyLayout) -> exp.Query:
    """For each attribute the masks that keep of a key its own value: attribute, own_0, ...."""
    queries: list[exp.Query] = []
    for index, fields in enumerate(layout.fields):
        numbers = {"attribute": index}
        numbers |= {f"own_{word}": sum(f.mask for f in fields if f.word == word) for word in range(layout.words)}
        named = [alias(big(literal(value)), name) for name, value in numbers.items()]
        queries.append(exp.select(*named))
    return union_all(queries)


def _is_attribute(index: int) -> exp.Expr:
    return column("attribute", "value").eq(literal(index))


def _log2(count: exp.Expr) -> exp.Expr:
    """The logarithm of a count in units of 2 ** -_LOG_BITS."""
    unit = exp.cast(exp.Literal.number(repr(float(1 << _LOG_BITS) / log(2))), exp.DataType.Type.DOUBLE)
    logarithm = exp.Ln(this=exp.cast(count, exp.DataType.Type.DOUBLE))
    return big(exp.Round(this=infix(logarithm, "*", unit)))


def _masked(key: exp.Expr, mask: exp.Expr) -> exp.Expr:
    return paren(infix(paren(key), "&", mask))
