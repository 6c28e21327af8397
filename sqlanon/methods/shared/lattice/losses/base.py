"""Defines the loss of a node of the lattice, in exact units that the search compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import InternalError
from sqlanon.methods.shared.lattice.node_arrays import LabelCosts
from sqlanon.methods.shared.lattice.node_summary_sql import Key
from sqlanon.methods.shared.lattice.nodes import Classes, Node
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import huge, or_zero, union_all
from sqlanon.sql.build.names import column, parameter, relation
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.cells.cells import rank_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The least and the greatest integer that a NumPy int64 may hold with room for sums.
_INT64 = (1 << 62) - 1


@dataclass(frozen=True)
class Setting:
    """The inputs of a loss: the bound policy, its cells, and the number of rows that may be suppressed.

    A class with fewer than `least_rows` rows violates the policy. `key` extracts a word of the key from a class_id, and
    `index` the node's index in a batch; `temp` makes temporary tables, and `rows` runs a query.
    """

    policy: BoundPolicy
    cells: Cells
    limit: int
    least_rows: int
    key: Key
    temp: TempTables
    index: Callable[[exp.Expr], exp.Expr]
    rows: Callable[[exp.Query], list[tuple[Any, ...]]]

    @property
    def weights(self) -> list[Fraction]:
        return [Fraction(bound.attribute.weight) for bound in self.policy.quasi_identifiers]


class AddsUp(Enum):
    """The figure of several rounds of recoding from which their loss is computed."""

    ROWS = "what each published row loses, and what the suppressed rows do"
    CLASSES = "the published classes"
    LEVELS = "the levels of the first round: the rows of the others count as suppressed"


class Loss(Protocol):
    """A measure of a release's loss. Losses are whole numbers of a unit; less is better."""

    NAME: str
    """The name that `loss => '...'` takes."""

    DEFINITION: str
    """The definition of its figure in a certificate."""

    ADDS_UP: AddsUp
    """The parts by which the loss of several rounds is computed."""

    LATER_ROUNDS: str
    """The name of the loss that the later rounds of a local recoding are chosen by."""

    GROWS: bool
    """Whether withholding more classes never makes it less."""

    PORTABLE: bool
    """Whether `query` is portable, so that it can be asked where the cells are."""

    def __init__(self, setting: Setting) -> None: ...

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """The lower bound of each node's loss if at least `withheld` of its rows are withheld, from marginal counts.

        A row of `levels` is a node.
        """
        ...

    def floor(self, classes: Classes) -> int | None:
        """A lower bound on the loss of a node with these classes, and of every node above; None if classes do not give
        a bound.
        """
        ...

    def least(self, node: Node, withheld: int) -> int | None:
        """The lower bound of a node's loss if at least `withheld` of its rows are withheld; None if there is none."""
        ...

    def query(self, first: int) -> exp.Query:
        """SELECT of one row for each node: its index, its withheld rows, and the further arguments of `of`.

        It reads equivalence_class(class_id, size, entities) and withheld(index, class_id, size) of some nodes.
        `parameters` returns its parameters from `first` on.
        """
        ...

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """The lists that `query` takes as parameters, with an item for each node; the first list has the nodes'
        indexes.
        """
        ...

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """The loss of a node with `withheld` withheld rows; `answer` has the further columns of `query`."""
        ...

    def value(self, loss: int) -> Fraction:
        """The loss in the unit of reports."""
        ...


@runtime_checkable
class SumOfCells(Protocol):
    """A loss that is the sum of the costs of labels, and of a fixed cost of each suppressed row."""

    def label_costs(self) -> LabelCosts: ...


def losses_by_name(losses: Iterable[type[Loss]]) -> dict[str, type[Loss]]:
    """Maps the names that users type to the classes of losses.

    Raises InternalError for a class without a part of `Loss`, and for an unknown name in LATER_ROUNDS.
    """
    known: dict[str, type[Loss]] = {}
    parts = [*Loss.__annotations__, *(name for name in vars(Loss) if not name.startswith("_"))]
    for loss in losses:
        if lacking := [part for part in dict.fromkeys(parts) if not hasattr(loss, part)]:
            raise InternalError(f"the loss {loss.__name__} has no {', '.join(lacking)}")
        if not isinstance(loss.ADDS_UP, AddsUp):
            raise InternalError(f"the loss {loss.NAME} adds up by {loss.ADDS_UP!r}, which is none of {list(AddsUp)}")
        known[loss.NAME] = loss
    for name, loss in known.items():
        if loss.LATER_ROUNDS not in known:
            raise InternalError(f"the later rounds of the loss {name} are chosen by {loss.LATER_ROUNDS}, which is none")
    return known


def additive(costs: Sequence[Sequence[int]], levels: NDArray[Any]) -> NDArray[Any]:
    """Returns for each row of `levels` the sum of its levels' costs, exact for any size."""
    import numpy as np

    fits = sum(max(map(abs, cost)) for cost in costs) <= _INT64
    total: NDArray[Any] = np.zeros(len(levels), dtype=np.int64 if fits else object)
    for index, cost in enumerate(costs):
        total = total + np.array(cost, dtype=total.dtype)[levels[:, index]]
    return total


# Queries that several losses share: the rows that nodes withhold, and the classes that they publish.


_NODE = "node"


def withheld_of(first: int) -> exp.Query:
    """SELECT of one row for each node: its index and its withheld rows. The parameter `first` is the list of
    indexes.
    """
    return filled_query(
        """
        SELECT node.index, CAST(coalesce(sum(withheld.size), 0) AS HUGEINT) AS rows
        FROM (SELECT unnest(CAST($indexes AS BIGINT[])) AS index) AS node
        LEFT JOIN withheld ON withheld.index = node.index
        GROUP BY node.index
        """,
        indexes=parameter(first),
    )


def published_of(index: Callable[[exp.Expr], exp.Expr], first: int) -> exp.Query:
    """SELECT of a row for each node with the number of its published classes; see sql/losses/published_classes.sql.

    `index` returns the SQL of a class_id's node; the parameter `first` has the indexes of the nodes.
    """
    return query_file("losses", "published_classes", index=index(column("class_id")), indexes=parameter(first))


def with_node_tables(query: exp.Query, table: Callable[[exp.Query], str]) -> exp.Query:
    """Replaces the relation `node` of a query, made of parameter lists, by stored tables that `table` makes.

    An engine that takes no lists as parameters needs such tables.
    """
    for rows in list(query.find_all(exp.Subquery)):
        if rows.alias == _NODE:
            rows.replace(relation(table(rows.this), as_=_NODE))
    return query


def rank_path(bound: BoundAttribute, level: int) -> list[str]:
    """Returns the ranks that identify a node of a hierarchy's tree at a level: the node's own rank and its ancestors'
    ranks.
    """
    return [rank_name(i) for i in range(level, bound.height)]


def occurring() -> exp.Expr:
    """The SQL condition that rows of the source have the value of a tree's row; a hierarchy may list other values."""
    return column("n") > 0


def huge_total(part: exp.Expr) -> exp.Expr:
    """The sum over a group, as HUGEINT; 0 for an empty group."""
    return huge(or_zero(f.sum(part)))


# The maximum number of classes of a node: one for every combination of its labels.


class Labels:
    """The number of labels that occur, and the sum of their squared rows, by attribute and level.

    `small` is true if the square of all rows fits an int64; otherwise arrays have Python's integers.
    """

    def __init__(self, setting: Setting) -> None:
        self.rows = setting.cells.rows
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        self.counts = [[0] * (height + 1) for height in heights]
        self.squares = [[0] * (height + 1) for height in heights]
        for attribute, level, labels, squares in setting.rows(_label_counts(setting.policy, setting.cells)):
            self.counts[attribute][level] = int(labels)
            self.squares[attribute][level] = int(squares)
        self.small = self.rows < 1 << 31

    def most(self, levels: NDArray[Any], without: int | None = None) -> NDArray[Any]:
        """Returns the maximum number of classes for each row of `levels`: at least 1, at most the number of rows.

        If `without`, an attribute's index, is given, it is the maximum number of classes into which one of its labels
        can be divided.
        """
        import numpy as np

        most: NDArray[Any] = np.ones(len(levels), dtype=np.int64 if self.small else object)
        top = max(self.rows, 1)
        for index, counts in enumerate(self.counts):
            if index != without:
                capped = np.array([min(max(count, 1), top) for count in counts], dtype=most.dtype)
                most = np.minimum(most * capped[levels[:, index]], top)
        return most

    def squared(self, levels: NDArray[Any], index: int) -> NDArray[Any]:
        """Returns for each row of levels the sum of the squared rows of one attribute's labels."""
        import numpy as np

        squares: NDArray[Any] = np.array(self.squares[index], dtype=np.int64 if self.small else object)
        return squares.take(levels[:, index])


def _label_counts(policy: BoundPolicy, cells: Cells) -> exp.Query:
    """SELECT of a row for each attribute and level: the number of labels that occur, and the sum of their squared
    rows.
    """
    queries: list[exp.Query] = []
    for index, (bound, tree) in enumerate(zip(policy.quasi_identifiers, cells.trees, strict=True)):
        for level in range(bound.height + 1):
            names = {"ranks": rank_path(bound, level)}
            counts = query_file("losses", "label_counts", tables={"tree": tree}, names=names, index=index, level=level)
            queries.append(counts)
    return union_all(queries)
