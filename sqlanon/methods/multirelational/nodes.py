"""The nodes of the joint lattice, a level for each quasi-identifier of all tables, with their classes and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.explanation import Searched
from sqlanon.methods.multirelational.people import PERSON, CodedTable, People
from sqlanon.methods.shared.lattice.losses.base import additive
from sqlanon.methods.shared.lattice.losses.granularity_loss import leaf_counts
from sqlanon.methods.shared.lattice.nodes import Counted, Lattice, Node, Rank
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, if_, is_null, not_, or_zero, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import key_name
from sqlanon.sql.classes.guard import kept_classes
from sqlanon.sql.classes.normal_relations import relations_of, sensitive_values
from sqlanon.sql.classes.rows import relation_names, subjects
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.models import Known, by_known

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Granularity loss over several tables: the mean of the attributes' losses, each the mean over its table's rows.


NAME = "granularity_loss_of_tables"
DEFINITION = (
    "granularity loss of several tables: a generalized value costs (n - 1) / (N - 1), where n of the N leaves of "
    "its hierarchy lie below it, and 1 if its person is left out; the mean over all quasi-identifiers, weighted where "
    "the policy weighs, of the means over the rows of their tables: 0 where nothing is changed, 1 where nothing is left"
)


class RelatedLoss:
    """The loss of a node: a label loses (leaves below it - 1) / (leaves - 1), as in a single table, and an absent cell
    loses 1.

    An attribute loses the mean over all rows of its table, 0 if it has no rows. The loss is the mean over all
    attributes with their weights. Losses are whole numbers of a unit.
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
        """The lower bound of each node's loss if at least `withheld` people are left out; a row of `levels` is a
        node.
        """
        costs = [cost for number, table in enumerate(self._tables) for cost in table.costs(0 if number else withheld)]
        return additive(costs, levels)

    def of(self, node: Sequence[int], gone: str | None) -> int:
        """The loss of a node if the people in the table `gone` are left out."""
        recoded = sum(table.base(node) for table in self._tables)
        if gone is None:
            return recoded
        return recoded + sum(self._left_out(number, table, node, gone) for number, table in enumerate(self._tables))

    def _left_out(self, number: int, table: _TableLoss, node: Sequence[int], gone: str) -> int:
        """Returns the loss of the rows of people who are left out, beyond the loss of their labels."""
        if not table.others:
            return 0
        policy = self._task.policy
        part = policy if number == 0 else policy.of_related(policy.related[number - 1])
        if table.leaves is None:
            table.leaves = self._task.temp.table("leaves", leaf_counts(part, table.coded.cells))
        rows, *spread = self._task.engine.rows(_spread(table, node[table.coded.levels], gone, number > 0))[0]
        pairs = zip(table.leaf, table.others, spread, strict=True)
        return sum(leaf * (n * int(rows or 0) - int(sum_ or 0)) for leaf, n, sum_ in pairs)

    def value(self, loss: int) -> Fraction:
        """The loss in the unit of reports, from 0 to 1."""
        return Fraction(loss) / (self._unit * self._weights) if self._weights else Fraction()


class _TableLoss:
    """The loss of the labels of one table."""

    def __init__(self, coded: CodedTable) -> None:
        cells: Cells = coded.cells
        self.coded = coded
        self.rows = max(cells.rows, 1)
        # For each attribute the number of other leaves.
        self.others = [max(leaves - 1, 1) for leaves in cells.values]
        self.leaf: list[int] = []
        self.leaves: str | None = None

    def weigh(self, unit: int, weights: Sequence[Fraction]) -> None:
        """Sets, for each attribute, the cost of each further leaf below the label of a cell, in whole units of the
        measure.
        """
        self.leaf = [int(unit * weight / (n * self.rows)) for weight, n in zip(weights, self.others, strict=True)]

    def costs(self, withheld: int) -> list[list[int]]:
        """Returns, for each attribute, the least cost of each of its levels if `withheld` rows of the table are left
        out.
        """
        cells = self.coded.cells
        return [
            [leaf * (spread + withheld * (n - most)) for spread, most in zip(spreads, mosts, strict=True)]
            for leaf, n, spreads, mosts in zip(self.leaf, self.others, cells.spread, cells.most, strict=True)
        ]

    def base(self, node: Sequence[int]) -> int:
        """Returns the total loss of the table's labels at a node if nobody is left out, in units of the measure."""
        levels = node[self.coded.levels]
        return sum(
            leaf * spread[level] for leaf, spread, level in zip(self.leaf, self.coded.cells.spread, levels, strict=True)
        )


def _spread(table: _TableLoss, levels: Sequence[int], gone: str, has_counts: bool) -> exp.Select:
    """SELECT of one row: the rows of the people left out, and for each attribute the sum of (leaves - 1) of these rows'
    labels.

    A label's leaves are the values below it at the attribute's level in `levels`. `gone` is the table of the people
    left out.
    """
    layout = table.coded.cells.layout
    n = column("n", "row") if has_counts else literal(1)
    query = filled_select(
        """
        SELECT CAST(coalesce(sum($n), 0) AS HUGEINT) AS sum_0 FROM rows AS row
        JOIN gone ON {gone.person} = {row.person}
        """,
        tables={"rows": table.coded.table, "gone": gone},
        names={"person": PERSON},
        n=n,
    )
    assert table.leaves is not None
    parts = {"keys": [*map(key_name, range(layout.words))]}
    for index, level in enumerate(levels):
        of, name = f"leaves_{index}", f"sum_{index + 1}"
        if not level:
            extend(query, alias(literal(0), name))
            continue
        masks = [sum(f.mask for f in layout.fields[index][level:] if f.word == w) for w in range(layout.words)]
        codes = [column(f"part_{word}", of) for word in range(layout.words)]
        on = filled("({row.keys} & $masks) = $codes", names=parts, masks=masks, codes=codes)
        node = and_(column("attribute", of).eq(index), column("level", of).eq(level), on)
        extend(query, joins=[inner_join(relation(table.leaves, as_=of), node)])
        sums = 'CAST(coalesce(sum(CAST($n AS BIGINT) * $others), 0) AS HUGEINT) AS "{sum}"'
        extend(query, filled(sums, names={"sum": name}, n=n, others=column("others", of)))
    return query


class RelatedNodes:
    """The nodes from the lowest allowed levels up; each may leave out at most `limit` people."""

    def __init__(self, task: Task, limit: int) -> None:
        quasi = list(chain(*task.policy.quasi_identifiers_by_table))
        low, high = tuple(b.min_level for b in quasi), tuple(b.max_level for b in quasi)
        self._task, self._limit = task, limit
        self.people = People(task, low)
        self.loss = RelatedLoss(task, self.people)
        self.lattice = Lattice(low=low, high=high, bounds=self.loss.bounds)
        self._groups = by_known(task.requirements)
        for known in self._groups:
            if not known.is_partition:
                self.people.require_countable(known)
        self._left_out: dict[Node, int] = {}

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        """Returns the counts of each node's classes."""
        return [self._count(node) for node in nodes]

    def _count(self, node: Node) -> Counted:
        suppressed, excess = 0, 0.0
        for known, indexes in self._groups.items():
            people, exceeding = self.violating(node, known, [self._task.requirements[index] for index in indexes])
            suppressed += people
            excess += exceeding
        self._left_out[node] = suppressed
        return Counted(suppressed, excess)

    def violating(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> tuple[int, float]:
        """Counts the people in violating classes, and sums the excess of these classes.

        If classes overlap, nobody may be left out. The excess is then 1 for a class that violates a requirement which
        is monotone under suppression; this rules out every lower node; other violations say nothing about other nodes.
        """
        size, of_class_excess = column("size", "of_all"), column("excess", "violated")
        excess: exp.Expr = if_(is_null(of_class_excess), 1, 0)
        if known.is_partition:
            excess = f.coalesce(of_class_excess, cast(size, "DOUBLE"))
        of_class = [column("class_id", "violated"), size]
        classes = select(
            *of_class,
            alias(f.max(excess), "excess"),
            of=subquery(_violations(requirements), "violated"),
            joins=[inner_join(relation("equivalence_class", as_="of_all"), _same_class("of_all", "violated"))],
            group_by=[part.copy() for part in of_class],
        )
        figures = [or_zero(f.sum(column(name))) for name in ("size", "excess")]
        query = select(*figures, of=subquery(classes, "violating_class"))
        ((people, exceeding),) = self._task.engine.rows(with_steps(query, self.steps(node, known, requirements)))
        return int(people), float(exceeding)

    def steps(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> list[Step]:
        """Returns the steps that make the normal relations of a node's classes for one kind of knowledge."""
        rows = self.people.rows_at(node, known, subjects(requirements))
        return [*relations_of(rows, requirements), *sensitive_values(requirements, rows)]

    def settle(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Each node's loss and the number of people left out; None if that exceeds the limit."""
        return [self._settle(node) for node in nodes]

    def _settle(self, node: Node) -> tuple[int, int] | None:
        gone, number = self.left_out(node)
        return None if number > self._limit else (self.loss.of(node, gone), number)

    def left_out(self, node: Node) -> tuple[str | None, int]:
        """The table of the people who are left out at a node, None for nobody, and their number."""
        if node not in self._left_out:
            self._count(node)
        if not self._left_out[node]:
            return None, 0
        # People may be left out only if all requirements are about the same knowledge, and each person is in one class.
        ((known, _),) = self._groups.items()
        requirements = self._task.requirements
        steps = [*self.steps(node, known, requirements), *kept_classes(requirements)]
        kept_ids = select(column("class_id"), of=relation("kept"))
        gone = select(column(PERSON), of=relation("member"), where=[not_(column("class_id").isin(query=kept_ids))])
        return self._task.temp.counted_table("gone", with_steps(gone, steps))

    def smallest_class(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> int:
        """Returns the number of people in the smallest class that violates a requirement."""
        classes = select(column("class_id"), of=subquery(_violations(requirements), "violation"))
        query = select(
            f.min(column("size")), of=relation("equivalence_class"), where=[column("class_id").isin(query=classes)]
        )
        return int(self._task.engine.rows(with_steps(query, self.steps(node, known, requirements)))[0][0] or 0)


def _violations(requirements: Sequence[BoundRequirement]) -> exp.Query:
    """SELECT of class_id, excess: the classes that violate a requirement; the excess is NULL if it equals the whole
    class.
    """
    text = "SELECT class_id, CAST($excess AS DOUBLE) AS excess FROM violations"
    queries = []
    for requirement, names in zip(requirements, relation_names(requirements), strict=True):
        excess = exp.null() if requirement.question.monotone_under_suppression else column("excess")
        tables = {"violations": requirement.statement("violations", names)}
        queries.append(filled_query(text, tables=tables, excess=excess))
    return union_all(queries)


def _same_class(first: str, second: str) -> exp.Expr:
    return column("class_id", first).eq(column("class_id", second))


# The choice: the levels for several tables, and the people who are left out.


@dataclass(frozen=True)
class RelatedLevels:
    """One level for each quasi-identifier: first the levels of the source, then the levels of each related table.

    `rows` and `suppressed` count people; at most `limit` may be left out. `gone` is the table of the people left out,
    or None. `released` has the number of rows of each published table, by its name. `fewest`, set by a dry run, is the
    size of the smallest class for each kind of knowledge.
    """

    levels: tuple[int, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    searched: Searched
    nodes: RelatedNodes = field(compare=False)
    gone: str | None
    released: Mapping[str, int]
    fewest: tuple[tuple[Known, int], ...] = ()
    loss_name: str = NAME
