"""Granularity loss over several tables: the mean of the attributes' losses, each the mean over its table's rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.multirelational.people import PERSON, CodedTable, People
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.losses.base import additive
from sqlanon.methods.shared.lattice.losses.granularity_loss import leaf_counts
from sqlanon.methods.shared.lattice.losses.loss_sql import huge_total
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.expressions import big, infix, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import inner_join, select
from sqlanon.sql.cells.cells import key_name
from sqlanon.sql.cells.key_layout import KeyLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray


NAME = "granularity_loss_of_tables"
DEFINITION = (
    "granularity loss of several tables: a generalized value costs (n - 1) / (N - 1), where n of the N leaves of "
    "its hierarchy lie below it, and 1 if its person is left out; the mean over all quasi-identifiers, weighted where "
    "the policy weighs, of the means over the rows of their tables: 0 where nothing is changed, 1 where nothing is left"
)


class RelatedLoss:
    """What a node loses: a label (leaves below it - 1) / (leaves - 1), as in a single table, a cell that is left out 1.

    An attribute loses the mean over all rows of its table, nothing where there are none; the loss is the mean over all
    attributes, weighted where the policy weighs. Losses are whole numbers of a unit.
    """

    def __init__(self, task: Task, people: People) -> None:
        self._task, self._people = task, people
        self._tables = [_TableLoss(people.of_person), *map(_TableLoss, people.tables)]
        quasi = task.policy.quasi_identifiers_by_table
        weights = [[Fraction(bound.attribute.weight) for bound in attributes] for attributes in quasi]
        self._unit = lcm(
            *(
                weight.denominator * n * table.rows
                for table, of_table in zip(self._tables, weights, strict=True)
                for weight, n in zip(of_table, table.others, strict=True)
            )
        )
        for table, of_table in zip(self._tables, weights, strict=True):
            table.weigh(self._unit, of_table)
        self._weights = sum((weight for of_table in weights for weight in of_table), Fraction())

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """The least that each node may lose if at least `withheld` people are left out; a row of `levels` is a node."""
        costs = [cost for number, table in enumerate(self._tables) for cost in table.costs(0 if number else withheld)]
        return additive(costs, levels)

    def of(self, node: Sequence[int], gone: str | None) -> int:
        """The loss of a node, where the people in the table `gone` are left out."""
        recoded = sum(table.base(node) for table in self._tables)
        if gone is None:
            return recoded
        return recoded + sum(self._left_out(number, table, node, gone) for number, table in enumerate(self._tables))

    def _left_out(self, number: int, table: _TableLoss, node: Sequence[int], gone: str) -> int:
        """What the rows of the people who are left out lose beyond what their labels would."""
        if not table.others:
            return 0
        policy = self._task.policy
        part = policy if number == 0 else policy.of_related(policy.related[number - 1])
        if table.leaves is None:
            table.leaves = self._task.scratch.table("leaves", leaf_counts(part, table.coded.cells))
        rows, *spread = self._task.engine.rows(_spread(table, node[table.coded.levels], gone, number > 0))[0]
        pairs = zip(table.leaf, table.others, spread, strict=True)
        return sum(leaf * (n * int(rows or 0) - int(sum_ or 0)) for leaf, n, sum_ in pairs)

    def value(self, loss: int) -> Fraction:
        """The loss as it is reported."""
        return Fraction(loss) / (self._unit * self._weights) if self._weights else Fraction()


class _TableLoss:
    """What the labels of one table lose."""

    def __init__(self, coded: CodedTable) -> None:
        cells: Cells = coded.cells
        self.coded = coded
        self.rows = max(cells.rows, 1)
        # For each attribute the number of other leaves.
        self.others = [max(leaves - 1, 1) for leaves in cells.values]
        self.leaf: list[int] = []
        self.leaves: str | None = None

    def weigh(self, unit: int, weights: Sequence[Fraction]) -> None:
        """What each further leaf below a cell's label costs, by attribute."""
        self.leaf = [int(unit * weight / (n * self.rows)) for weight, n in zip(weights, self.others, strict=True)]

    def costs(self, withheld: int) -> list[list[int]]:
        """What each level of each attribute costs at least if so many rows are left out."""
        cells = self.coded.cells
        return [
            [leaf * (spread + withheld * (n - most)) for spread, most in zip(spreads, mosts, strict=True)]
            for leaf, n, spreads, mosts in zip(self.leaf, self.others, cells.spread, cells.most, strict=True)
        ]

    def base(self, node: Sequence[int]) -> int:
        """What the table loses at a node where nobody is left out."""
        levels = node[self.coded.levels]
        return sum(
            leaf * spread[level] for leaf, spread, level in zip(self.leaf, self.coded.cells.spread, levels, strict=True)
        )


def _spread(table: _TableLoss, levels: Sequence[int], gone: str, has_counts: bool) -> exp.Select:
    """One row: the rows of those who are left out, and for each attribute their sum of (leaves - 1) at its level."""
    layout = table.coded.cells.layout
    number: exp.Expr = column("n", "row") if has_counts else literal(1)
    outputs: list[exp.Expr] = [huge_total(number.copy())]
    joins = [inner_join(relation(gone, as_="gone"), column(PERSON, "gone").eq(column(PERSON, "row")))]
    assert table.leaves is not None
    for index, level in enumerate(levels):
        if not level:
            outputs.append(literal(0))
            continue
        of = f"leaves_{index}"
        on: list[exp.Expr] = [column("attribute", of).eq(index), column("level", of).eq(level)]
        on += [_is_part(layout, index, level, word, of) for word in range(layout.words)]
        joins.append(inner_join(relation(table.leaves, as_=of), exp.and_(*on)))
        outputs.append(huge_total(infix(big(number.copy()), "*", column("others", of))))
    named = [alias(output, f"sum_{index}") for index, output in enumerate(outputs)]
    return select(*named, of=relation(table.coded.table, as_="row"), joins=joins)


def _is_part(layout: KeyLayout, index: int, level: int, word: int, of: str) -> exp.Expr:
    mask = sum(field.mask for field in layout.fields[index][level:] if field.word == word)
    masked = infix(column(key_name(word), "row"), "&", mask)
    return paren(masked).eq(column(f"part_{word}", of))
