"""Non-uniform entropy (De Waal and Willenborg 1999; Gionis and Tassa 2009): the bits that undoing the recoding
takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm, log
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.shared.lattice.losses.base import (
    AddsUp,
    Setting,
    additive,
    huge_total,
    node_rows,
    occurring,
    rank_path,
    same_node,
)
from sqlanon.methods.shared.lattice.node_summary_sql import Key
from sqlanon.methods.shared.lattice.nodes import Classes, Node
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    big,
    case,
    cast,
    descending,
    huge,
    if_,
    infix,
    or_zero,
    order_by,
    paren,
    real,
    same,
    total,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, left_join, select, subquery
from sqlanon.sql.cells.cells import Field, KeyLayout, codes, key_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Logarithms to the base 2 are whole numbers of 2 ** -52, as exact as a DOUBLE holds logarithms of counts. So their sums
# do not depend on the order of the rows.
_LOG_BITS = 52

# The unit of the loss is 2 ** -30 bits: far above the error of the logarithms, far below differences between nodes.
_UNIT_BITS = 30


class NonUniformEntropy:
    """Loss of information: in each attribute, a published row costs -log2(rows with its value / rows with its label).

    These rows are counted in the whole source. Each suppressed row costs -log2(suppressed rows with its value /
    suppressed rows). The loss is the weighted sum over all attributes. Logarithms are irrational, so losses are rounded
    to multiples of 2 ** -30 bits of the attribute of the greatest weight, and nodes with equal rounded losses count as
    equal.
    """

    NAME = "non_uniform_entropy"
    DEFINITION = (
        "non-uniform entropy (Gionis and Tassa 2009): a value costs -log2 of its share among the rows with its label, "
        "in a suppressed row -log2 of its share among the suppressed rows; the sum over all rows and "
        "quasi-identifiers, in bits, weighted where the policy weighs"
    )
    ADDS_UP = AddsUp.ROWS
    LATER_ROUNDS = NAME
    # The values of a class's rows may cost fewer bits among the suppressed rows than under the recoding.
    GROWS = False
    PORTABLE = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        whole = lcm(*(weight.denominator for weight in setting.weights))
        self._weights = [int(weight * whole) for weight in setting.weights]
        self._most = max(setting.weights)
        # The number of weighted units of 2 ** -_LOG_BITS in a unit of the loss.
        self._per_unit = max(self._weights) << (_LOG_BITS - _UNIT_BITS)
        self._costs = setting.temp.table("costs", _value_costs(setting.policy, setting.cells))
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        # By attribute and level: the bits of all rows, and the least bits of the rows that are not suppressed.
        self._all = [[0] * (height + 1) for height in heights]
        self._left = [[0] * (height + 1) for height in heights]
        totals = _cost_totals(self._costs, setting.cells.layout.words, setting.limit)
        for attribute, level, cost, costliest in setting.rows(totals):
            self._all[attribute][level] = int(cost)
            self._left[attribute][level] = int(cost) - int(costliest)

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Bounds the loss of each node by the cost of the other rows, if each attribute's costliest rows are suppressed
        at no cost.
        """
        costs = [
            [weight * left // self._per_unit for left in by_level]
            for weight, by_level in zip(self._weights, self._left, strict=True)
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
        """The parameters of `_entropy_of`: each node's index, its mask of each word, and the level of each
        attribute.
        """
        layout = self._setting.cells.layout
        masks = [list(word) for word in zip(*(layout.masks(node) for node in nodes), strict=True)]
        levels = [list(attribute) for attribute in zip(*nodes, strict=True)]
        return [list(range(len(nodes))), *masks, *levels]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """The loss of the node's recoding, with the bits that withholding rows adds."""
        units = sum(
            weight * (by_level[level] + int(added))
            for weight, by_level, level, added in zip(self._weights, self._all, node, answer, strict=True)
        )
        return (2 * units + self._per_unit) // (2 * self._per_unit)

    def value(self, loss: int) -> Fraction:
        return Fraction(loss, 1 << _UNIT_BITS) * self._most


def _value_costs(policy: BoundPolicy, cells: Cells) -> exp.Query:
    """SELECT of the values that occur, for each level from 1: attribute, level, part_0, ..., n, cost.

    `part_w` has the bits of the value's code in the word w of a key; `n` is the number of its rows, and `cost` is
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
            queries.append(select(*named, of=subquery(values, "counted")))
    return union_all(queries)


def _with_label_rows(bound: BoundAttribute, tree: str, fields: Sequence[Field], level: int) -> exp.Select:
    """SELECT of the values of an attribute that occur: their codes, their rows `n`, and the rows of their label,
    `label_n`.
    """
    rows = window(f.sum(column("n")), partition_by=rank_path(bound, level))
    values = codes(relation(tree), fields) or select(column("value"), of=relation(tree))
    return extend(values, column("n"), alias(rows, "label_n"), where=[occurring()])


def _cost_totals(costs: str, words: int, limit: int) -> exp.Select:
    """SELECT of the cost of all rows, and the maximum cost of `limit` rows, by attribute and level.

    `costs` is a table of `_value_costs`.
    """
    group = [column("attribute"), column("level")]
    order = order_by(descending(column("cost")), *(ascending(column(f"part_{word}")) for word in range(words)))
    reached = window(f.sum(column("n")), partition_by=[part.copy() for part in group], order=order)
    costliest_first = select(exp.Star(), alias(reached - column("n"), "before"), of=relation(costs))
    left = literal(limit) - column("before")
    taken = f.greatest(literal(0), f.least(column("n"), left))
    sums = [huge_total(huge(column("cost")) * rows) for rows in (column("n"), taken)]
    return select(*group, *sums, of=subquery(costliest_first, "costliest_first"), group_by=group)


def _entropy_of(attributes: int, costs: str, cells: Cells, key: Key, first: int) -> exp.Select:
    """SELECT of a row for each node: its index, its withheld rows, and for each attribute the entropy that these rows
    add.

    In units of 2 ** -_LOG_BITS, it is the entropy of the withheld values minus their cost at the node's level: the sum
    over the values of log2(withheld rows / rows of the value among them) - cost. It reads withheld(index, class_id,
    size); `costs` is a table of `_value_costs`, `key` extracts a word of the key from a class_id. The parameters from
    `first` on are lists with an item for each node: its index, its mask of each word, and the level of each attribute.
    """
    lost = _values_lost(attributes, cells, key, first)
    together = window(f.sum(column("n")), partition_by=[column("index"), column("attribute")])
    values = select(exp.Star(), alias(together, "withheld"), of=subquery(lost, "lost"))
    parts = [f"part_{word}" for word in range(cells.layout.words)]
    on = and_(*(same(name, "costs", "value") for name in ("attribute", "level", *parts)))
    bits = infix(_log2(column("withheld", "value")), "-", _log2(column("n", "value")))
    added = huge(column("n", "value")) * paren(infix(bits, "-", or_zero(column("cost", "costs"))))
    sums = [alias(huge_total(if_(_is_attribute(index), added)), f"sum_{index}") for index in range(attributes)]
    rows = or_zero(f.max(column("withheld", "value")))
    return select(
        column("index", "node"),
        alias(rows, "rows"),
        *sums,
        of=node_rows(["index"], first),
        joins=[left_join(subquery(values, "value"), same_node("value")), left_join(relation(costs, as_="costs"), on)],
        group_by=[column("index", "node")],
    )


def _values_lost(attributes: int, cells: Cells, key: Key, first: int) -> exp.Select:
    """SELECT of index, attribute, level, part_0, ..., n: the values of the withheld rows."""
    words = range(cells.layout.words)
    names = ["index", *(f"mask_{word}" for word in words), *(f"level_{index}" for index in range(attributes))]
    level = case(*((_is_attribute(index), column(f"level_{index}", "node")) for index in range(attributes)))
    parts = [_masked(column(key_name(word), "row"), column(f"mask_{word}", "value")) for word in words]
    group = [column("index", "row"), column("attribute", "value"), level, *parts]
    named = ["index", "attribute", "level", *(f"part_{word}" for word in words)]
    n = alias(total(column("n", "row")), "n")
    rows = _rows_lost(cells, key, first, names[: 1 + len(words)])
    return select(
        *(alias(tree, name) for tree, name in zip(group, named, strict=True)),
        n,
        of=subquery(rows, "row"),
        joins=[
            inner_join(node_rows(names, first), same_node("row")),
            cross_join(subquery(_value_masks(cells.layout), "value")),
        ],
        group_by=group,
    )


def _rows_lost(cells: Cells, key: Key, first: int, names: Sequence[str]) -> exp.Select:
    """SELECT of index, key_0, ..., n: the cells of the withheld classes."""
    words = range(cells.layout.words)
    leaves = cells.layout.masks([0] * len(cells.layout.fields))
    keys = [_masked(column(key_name(word), "cell"), literal(leaves[word])) for word in words]
    labels = [_masked(column(key_name(word), "cell"), column(f"mask_{word}", "node")) for word in words]
    fine = select(
        column("index", "node"),
        *(alias(tree, f"label_{word}") for word, tree in enumerate(labels)),
        *(alias(tree, key_name(word)) for word, tree in enumerate(keys)),
        column("n", "cell"),
        of=relation(cells.table, as_="cell"),
        joins=[cross_join(node_rows(names, first))],
    )
    in_class: list[exp.Expr] = [same("index", "fine", "withheld")]
    for word in words:
        # A class_id has the index of the node, too, beside the bits of the key.
        label = _masked(key(column("class_id", "withheld"), word), literal(leaves[word]))
        in_class.append(column(f"label_{word}", "fine").eq(label))
    columns = [column("index", "fine"), *(column(key_name(word), "fine") for word in words), column("n", "fine")]
    return select(*columns, of=subquery(fine, "fine"), joins=[inner_join(relation("withheld"), and_(*in_class))])


def _value_masks(layout: KeyLayout) -> exp.Query:
    """SELECT of attribute, mask_0, ...: the masks of each attribute's value in a key."""
    queries: list[exp.Query] = []
    for index, fields in enumerate(layout.fields):
        numbers = {"attribute": index}
        numbers |= {
            f"mask_{word}": sum(field.mask for field in fields if field.word == word) for word in range(layout.words)
        }
        named = [alias(big(literal(value)), name) for name, value in numbers.items()]
        queries.append(select(*named))
    return union_all(queries)


def _is_attribute(index: int) -> exp.Expr:
    return column("attribute", "value").eq(index)


def _log2(count: exp.Expr) -> exp.Expr:
    """The base-2 logarithm of a count, in units of 2 ** -_LOG_BITS."""
    return big(f.round(f.ln(cast(count, "DOUBLE")) * real(float(1 << _LOG_BITS) / log(2))))


def _masked(key: exp.Expr, mask: exp.Expr) -> exp.Expr:
    return paren(infix(paren(key), "&", mask))
