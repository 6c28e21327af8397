"""What a node of the lattice loses, in exact units that the search compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.node_summary_sql import Key
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.lattice.types import Classes

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The least and the greatest integer that a NumPy int64 may hold with room for sums.
_INT64 = (1 << 62) - 1


@dataclass(frozen=True)
class Setting:
    """What losses are counted from: the bound policy, its cells, and how many rows may be suppressed.

    A class with fewer than `least_rows` rows violates the policy whatever they hold. `key` gives a word of
    the key that a class_id is, `index` the node's index in a batch; `scratch` makes temporary tables,
    `rows` fetches them.
    """

    policy: BoundPolicy
    cells: Cells
    limit: int
    least_rows: int
    key: Key
    scratch: Scratch
    index: Callable[[exp.Expr], exp.Expr]
    rows: Callable[[exp.Query], list[tuple[Any, ...]]]

    @property
    def weights(self) -> list[Fraction]:
        return [Fraction(bound.attribute.weight) for bound in self.policy.quasi_identifiers]


class AddsUp(Enum):
    """What the loss of rows that are recoded in several rounds is made of."""

    ROWS = "what each published row loses, and what the suppressed rows do"
    CLASSES = "the published classes"
    LEVELS = "the levels of the first round: the rows of the others count as suppressed"


class Loss(Protocol):
    """A measure of what a release loses. Losses are whole numbers of a unit; less is better."""

    NAME: str
    """What `loss => '...'` takes."""

    DEFINITION: str
    """What its figure counts, as a certificate says it."""

    ADDS_UP: AddsUp
    """How the rounds of a local recoding add up."""

    LATER_ROUNDS: str
    """The name of the loss that the later rounds of a local recoding are chosen by."""

    GROWS: bool
    """Whether withholding more classes never makes it less."""

    PORTABLE: bool
    """Whether `query` is portable, so that it can be asked where the cells are."""

    def __init__(self, setting: Setting) -> None: ...

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """The least that each node may lose if at least `withheld` of its rows are, as far as marginal counts tell.

        A row of `levels` is a node.
        """
        ...

    def floor(self, classes: Classes) -> int | None:
        """The least that a node with these classes and every node above it loses, if the classes tell."""
        ...

    def least(self, node: Node, withheld: int) -> int | None:
        """The least that a node loses if at least `withheld` of its rows are; None if that number tells nothing."""
        ...

    def query(self, first: int) -> exp.Select:
        """A row a node: its index, its withheld rows, and what `of` needs besides.

        It reads equivalence_class(class_id, size, entities) and withheld(index, class_id,
        size) of some nodes. The parameters from `first` on are those that `parameters` gives.
        """
        ...

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """The lists that `query` takes, an item a node: its index first."""
        ...

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """The loss of a node of which `withheld` rows are withheld."""
        ...

    def value(self, loss: int) -> Fraction:
        """The loss as it is reported."""
        ...


def losses_by_name(losses: Iterable[type[Loss]]) -> dict[str, type[Loss]]:
    """The classes of losses by the names that users type.

    Raises InternalError for one that lacks a part of `Loss`, and for later rounds by a loss that there is not.
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
    """For each row of levels the sum of the costs of its levels, exact whatever their size."""
    import numpy as np

    fits = sum(max(map(abs, cost)) for cost in costs) <= _INT64
    total: NDArray[Any] = np.zeros(len(levels), dtype=np.int64 if fits else object)
    for index, cost in enumerate(costs):
        total = total + np.array(cost, dtype=total.dtype)[levels[:, index]]
    return total
