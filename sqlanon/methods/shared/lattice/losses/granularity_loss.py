"""Granularity loss: the share of an attribute's values that a released label may represent.

Iyengar, Transforming data to satisfy privacy constraints (2002): the loss metric of categorical attributes. Numbers
count like other values; the paper takes the widths of their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.methods.shared.lattice.losses.base import AddsUp, Setting, additive
from sqlanon.methods.shared.lattice.node_arrays import LabelCosts
from sqlanon.methods.shared.lattice.node_summary_sql import Key
from sqlanon.methods.shared.lattice.nodes import Classes, Node, sizes
from sqlanon.methods.shared.task import Cells
from sqlanon.methods.shared.wording import GRANULARITY_LOSS
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, cast, infix, paren, union_all
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.cells.cells import Field, leaves_name, rank_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GranularityLoss:
    """A generalized value costs (leaves below it - 1) / (leaves - 1), a cell of a suppressed row 1.

    The loss is the mean over all cells, by the weights of the policy.
    """

    NAME = "granularity_loss"
    DEFINITION = GRANULARITY_LOSS
    ADDS_UP = AddsUp.ROWS
    LATER_ROUNDS = NAME
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._leaves: exp.Table | exp.Subquery | None = None
        cells, weights = setting.cells, setting.weights
        # Units that divide the loss of a cell exactly, for every attribute and weight.
        others = [max(leaves - 1, 1) for leaves in cells.values]
        unit = lcm(*(weight.denominator * n for weight, n in zip(weights, others, strict=True)))
        self._others = others
        self._row = int(unit * sum(weights))
        # The cost of each further leaf below a cell's label, by attribute.
        self._leaf = [int(unit * weight / n) for weight, n in zip(weights, others, strict=True)]
        self._costs = [[leaf * n for n in spreads] for leaf, spreads in zip(self._leaf, cells.spread, strict=True)]
        self._most = [[leaf * n for n in most] for leaf, most in zip(self._leaf, cells.most, strict=True)]

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Bounds the loss of each node: a withheld row adds the loss of a suppressed row minus the cost of the
        costliest labels.
        """
        attributes = zip(self._leaf, self._others, self._costs, self._most, strict=True)
        costs = [
            [cost + withheld * (leaf * n - most) for cost, most in zip(level_costs, level_most, strict=True)]
            for leaf, n, level_costs, level_most in attributes
        ]
        return additive(costs, levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        costliest = sum(most[level] for most, level in zip(self._most, node, strict=True))
        return self._base(node) + withheld * (self._row - costliest)

    def _base(self, node: Node) -> int:
        """The loss of the node's recoding if no row is suppressed."""
        return sum(cost[level] for cost, level in zip(self._costs, node, strict=True))

    def query(self, first: int) -> exp.Query:
        setting = self._setting
        if self._leaves is None:
            leaves = leaf_counts(setting.policy, setting.cells)
            few = sum(setting.cells.values) < sizes().few_values and not setting.cells.elsewhere
            self._leaves = subquery(leaves) if few else relation(setting.temp.table("leaves", leaves))
        return spread_of(len(self._leaf), self._leaves, setting.cells.layout.words, setting.key, first)

    def label_costs(self) -> LabelCosts:
        """Returns the cost of each label, as a share of the cost of a suppressed row."""
        setting = self._setting
        unit = [float(Fraction(leaf, self._row)) if self._row else 0.0 for leaf in self._leaf]
        return LabelCosts(leaf_counts(setting.policy, setting.cells), unit, self._row * setting.cells.rows)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """The parameters of `spread_of`: an item for each node and attribute, with its level and its ancestor's
        masks.
        """
        layout = self._setting.cells.layout
        items: list[tuple[int, ...]] = []
        for number, node in enumerate(nodes):
            items.append((number, -1, 0, *(0 for _ in range(layout.words))))
            for index, (fields, level) in enumerate(zip(layout.fields, node, strict=True)):
                masks = (
                    sum(field.mask for field in fields[level:] if field.word == word) for word in range(layout.words)
                )
                items.append((number, index, level, *masks))
        return [list(each) for each in zip(*items, strict=True)]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """The loss of the node's recoding; each cell of a suppressed row costs 1."""
        recoded = sum(leaf * int(spread or 0) for leaf, spread in zip(self._leaf, answer, strict=True))
        return self._base(node) + withheld * self._row - recoded

    def value(self, loss: int) -> Fraction:
        cells = self._row * self._setting.cells.rows
        return Fraction(loss, cells) if cells else Fraction()


def leaf_counts(policy: BoundPolicy, cells: Cells) -> exp.Query:
    """SELECT of the nodes of each attribute's tree: attribute, level, part_0, ..., others.

    `part_w` has the bits of the node's codes in the word w of a key, `others` the number of leaves below it minus one.
    Values at level 0, which have no other leaves, are left out.
    """
    words = cells.layout.words
    queries: list[exp.Query] = []
    for index, (bound, fields) in enumerate(zip(policy.quasi_identifiers, cells.layout.fields, strict=True)):
        nodes = [
            [
                literal(index),
                literal(level),
                *(_part(fields[level:], level, word) for word in range(words)),
                column(leaves_name(level)) - 1,
            ]
            for level in range(1, bound.height)
        ]
        # For few values one query returns the nodes of all levels; for many it would take longer than a query for each
        # level.
        for several in [nodes] if cells.values[index] < sizes().few_values else [[node] for node in nodes]:
            if several:
                query = select(*_labelled(several, words), distinct=True)
                queries.append(extend(query, of=relation(cells.trees[index])))
    tops = [
        [*map(literal, (index, bound.height, *(0 for _ in range(words)), leaves - 1))]
        for index, (bound, leaves) in enumerate(zip(policy.quasi_identifiers, cells.values, strict=True))
    ]
    return union_all([*queries, select(*_labelled(tops, words))])


def _labelled(nodes: Sequence[Sequence[exp.Expr]], words: int) -> list[exp.Alias]:
    """The SQL of the columns attribute, level, part_0, ..., others, with a row for each of these nodes."""
    names = ["attribute", "level", *(f"part_{word}" for word in range(words)), "others"]
    if len(nodes) == 1:
        return [alias(big(part), name) for name, part in zip(names, nodes[0], strict=True)]
    lists = (cast(exp.Array(expressions=list(parts)), "BIGINT[]") for parts in zip(*nodes, strict=True))
    return [alias(f.unnest(each), name) for name, each in zip(names, lists, strict=True)]


def _part(fields: Sequence[Field], level: int, word: int) -> exp.Expr:
    """The bits of an ancestor's codes, at a level, in one word of the key."""
    part: exp.Expr = literal(0)
    for above, field in enumerate(fields):
        if field.word == word and field.bits:
            rank = column(rank_name(level + above))
            part = infix(part, "+", paren(infix(rank, "<<", field.shift)))
    return part


def spread_of(attributes: int, leaves: exp.Table | exp.Subquery, words: int, key: Key, first: int) -> exp.Query:
    """SELECT of a row for each node with the loss of its labels; see sql/losses/spread.sql.

    `leaves` has the rows of `leaf_counts`, and `key` extracts a word of the key from a class_id. All attributes share
    one join, because a join for each attribute would take longer to plan than to run.
    """
    masks, parts = [f"mask_{word}" for word in range(words)], [f"part_{word}" for word in range(words)]
    names = ["index", "attribute", "level", *masks]
    sums = [f"sum_{index}" for index in range(attributes)]
    return query_file(
        "losses",
        "spread",
        tables={"leaves": leaves},
        names={"sums": sums, "names": names, "masks": masks, "parts": parts},
        attributes=[*range(attributes)],
        lists=[parameter(first + index) for index in range(len(names))],
        words=[key(column("class_id", "withheld"), word) for word in range(words)],
    )
