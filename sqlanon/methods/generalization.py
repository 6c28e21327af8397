"""Full-domain generalization with suppression: one level of its hierarchy for each attribute.

Samarati (2001); Incognito (LeFevre et al. 2005); OLA (El Emam et al. 2009). The node of
least granularity loss among those that meet the requirements after suppressing at most
a given fraction of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.transformation import Generalization
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods._infeasible import infeasible
from sqlanon.questions.ask import BoundRequirement
from sqlanon.search.lattice import Lattice, Node, search
from sqlanon.search.rollup import CellSource, Keep, Rollups
from sqlanon.sqlgen.lattice import node_loss

__all__ = ["Options", "Report", "options", "solve"]

# Called with how many nodes are settled, and how many there are.
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """METHOD generalization(suppression => fraction): the share of rows, in [0, 1], that may be left out."""

    suppression: Decimal = Decimal(0)


def options(arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the method's arguments; raises PolicyError for one that is unknown or out of bounds."""
    given = dict(arguments)
    suppression = given.pop("suppression", 0)
    if given:
        raise PolicyError(
            f"generalization has no argument {next(iter(given))!r}", hint="write generalization(suppression => 0.02)"
        )
    if isinstance(suppression, bool) or not isinstance(suppression, int | Decimal) or not 0 <= suppression <= 1:
        raise PolicyError(f"generalization: suppression is a fraction between 0 and 1, not {suppression}")
    return Options(Decimal(suppression))


def solve(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    given: Options,
    cells: CellSource,
    keep: Keep,
    progress: Report | None = None,
) -> Generalization:
    """The optimal node.

    Raises PrivacyViolation, with the class that makes it so, where not even the most
    general node that MAX LEVEL allows meets the requirements.
    """
    for requirement in requirements:
        if not requirement.question.monotone_under_suppression:
            raise InternalError(f"the search cannot prune by {requirement.question.name} yet")
    limit = int(Fraction(given.suppression) * cells.rows)
    rollups = Rollups(engine, cells, keep, entity=policy.entity is not None)
    nodes = _Nodes(engine, policy, requirements, cells, rollups, limit)
    found = search(nodes.lattice, limit, nodes.suppressed, nodes.loss, batch=nodes.rollups.batch, progress=progress)
    if found is None:
        classes = nodes.rollups.equivalence_class(nodes.lattice.high)
        raise infeasible(engine, policy, requirements, cells, classes, limit)
    share = Fraction(found.loss, nodes.lattice.row * cells.rows) if cells.rows else Fraction()
    return Generalization(found.node, share, cells.rows, found.suppressed, limit, nodes.lattice.size, found.checked)


class _Nodes:
    """The lattice of a policy over its cells, and what the search asks of its nodes."""

    def __init__(
        self,
        engine: Engine,
        policy: BoundPolicy,
        requirements: Sequence[BoundRequirement],
        cells: CellSource,
        rollups: Rollups,
        limit: int,
    ) -> None:
        self._engine = engine
        self._policy = policy
        self._requirements = requirements
        self._cells = cells
        self._weights = [Fraction(b.attribute.weight) for b in policy.quasi_identifiers]
        self._limit = limit
        self.rollups = rollups
        # Losses are counted in units that divide the loss of a cell exactly, for every attribute and weight.
        self._unit = lcm(*(w.denominator * max(v - 1, 1) for w, v in zip(self._weights, cells.values, strict=True)))
        self.lattice = Lattice(
            low=tuple(b.min_level for b in policy.quasi_identifiers),
            high=tuple(b.max_level for b in policy.quasi_identifiers),
            costs=tuple(
                tuple(self._cost(place, spread) for spread in spreads) for place, spreads in enumerate(cells.spread)
            ),
            row=int(self._unit * sum(self._weights)),
        )

    def _cost(self, place: int, spread: int) -> int:
        """The loss of an attribute whose cells together spread over so many further leaves."""
        return int(self._unit * self._weights[place] * spread / max(self._cells.values[place] - 1, 1))

    def suppressed(self, nodes: Sequence[Node]) -> list[int]:
        return self.rollups.suppressed(nodes, self._requirements, self._limit)

    def loss(self, node: Node) -> int:
        """That of the node's recoding, with the suppressed rows' own loss replaced by 1 a cell."""
        classes = self.rollups.equivalence_class(node)
        rows, *spreads = self._engine.rows(node_loss(self._policy, classes, self._requirements, self._cells, node))[0]
        own = sum(self._cost(place, int(spread)) for place, spread in enumerate(spreads))
        return self.lattice.bound(node) + int(rows) * self.lattice.row - own
