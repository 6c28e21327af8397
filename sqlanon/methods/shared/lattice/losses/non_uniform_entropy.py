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
    occurring,
    rank_path,
)
from sqlanon.methods.shared.lattice.node_summary_sql import Key
from sqlanon.methods.shared.lattice.nodes import Classes, Node
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    big,
    cast,
    real,
    union_all,
)
from sqlanon.sql.build.names import column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import filled, filled_query, query_file
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
        parts = {"parts": [f"part_{word}" for word in range(setting.cells.layout.words)]}
        tables = {"costs": self._costs}
        totals = query_file("losses", "cost_totals", tables=tables, names=parts, limit=setting.limit)
        for attribute, level, cost, costliest in setting.rows(totals):
            self._all[attribute][level] = int(cost)
            self._left[attribute][level] = int(cost) - int(costliest)

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Bounds the loss of each node by the cost of the rows that remain if, for each attribute, the costliest rows
        are suppressed at no cost.
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

    def query(self, first: int) -> exp.Query:
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
    text = """
        SELECT CAST($index AS BIGINT) AS attribute, CAST($level AS BIGINT) AS level,
          CAST($parts AS BIGINT) AS "{parts}", CAST(n AS BIGINT) AS n,
          CAST(log2_of(label_n) - log2_of(n) AS BIGINT) AS cost
        FROM counted
    """
    words = range(cells.layout.words)
    names = {"parts": [f"part_{word}" for word in words]}
    queries: list[exp.Query] = []
    for index, (bound, fields) in enumerate(zip(policy.quasi_identifiers, cells.layout.fields, strict=True)):
        for level in range(1, bound.height + 1):
            values = _with_label_rows(bound, cells.trees[index], fields, level)
            known = {name.alias_or_name for name in values.selects}
            parts = [column(key_name(word)) if key_name(word) in known else literal(0) for word in words]
            tables, calls = {"counted": values}, {"log2_of": _log2}
            query = filled_query(text, tables=tables, names=names, calls=calls, index=index, level=level, parts=parts)
            queries.append(query)
    return union_all(queries)


def _with_label_rows(bound: BoundAttribute, tree: str, fields: Sequence[Field], level: int) -> exp.Select:
    """SELECT of the values of an attribute that occur: their codes, their rows `n`, and the rows of their label,
    `label_n`.
    """
    rows = filled("sum(n) OVER (PARTITION BY {ranks}) AS label_n", names={"ranks": rank_path(bound, level)})
    values = codes(relation(tree), fields) or select(column("value"), of=relation(tree))
    return extend(values, column("n"), rows, where=[occurring()])


def _entropy_of(attributes: int, costs: str, cells: Cells, key: Key, first: int) -> exp.Query:
    """SELECT of a row for each node with the entropy of its labels; see sql/losses/entropy.sql.

    `costs` is a table of `_value_costs`, and `key` extracts a word of the key from a class_id. The unit of the entropy
    is 2 ** -_LOG_BITS bits.
    """
    words = range(cells.layout.words)
    masks, levels = [f"mask_{word}" for word in words], [f"level_{index}" for index in range(attributes)]
    names = {"keys": [*map(key_name, words)], "masks": masks, "names": ["index", *masks]}
    lists = [parameter(first + index) for index in range(1 + len(masks) + len(levels))]
    lost = query_file(
        "losses",
        "withheld_cells",
        tables={"cells": cells.table},
        names={**names, "labels": [f"label_{word}" for word in words]},
        lists=lists[: 1 + len(masks)],
        values=cells.layout.masks([0] * len(cells.layout.fields)),
        words=[key(column("class_id", "withheld"), word) for word in words],
    )
    names |= {"parts": [f"part_{word}" for word in words], "levels": levels, "names": ["index", *masks, *levels]}
    return query_file(
        "losses",
        "entropy",
        tables={"costs": costs, "withheld_cells": lost, "value_masks": _value_masks(cells.layout)},
        names={**names, "sums": [f"sum_{index}" for index in range(attributes)]},
        calls={"log2_of": _log2},
        attributes=[*range(attributes)],
        indexes=lists[0],
        lists=lists,
    )


def _value_masks(layout: KeyLayout) -> exp.Query:
    """SELECT of attribute, mask_0, ...: the masks of each attribute's value in a key."""
    queries: list[exp.Query] = []
    for index, fields in enumerate(layout.fields):
        masks = [sum(field.mask for field in fields if field.word == word) for word in range(layout.words)]
        names = ["attribute", *(f"mask_{word}" for word in range(layout.words))]
        text = """SELECT CAST($numbers AS BIGINT) AS "{names}" """
        queries.append(filled_query(text, names={"names": names}, numbers=[index, *masks]))
    return union_all(queries)


def _log2(count: exp.Expr) -> exp.Expr:
    """The base-2 logarithm of a count, in units of 2 ** -_LOG_BITS."""
    return big(f.round(f.ln(cast(count, "DOUBLE")) * real(float(1 << _LOG_BITS) / log(2))))
