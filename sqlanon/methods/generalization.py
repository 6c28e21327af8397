"""Full-domain generalization with suppression: one level of its hierarchy for each attribute.

Samarati (2001); Incognito (LeFevre et al. 2005); OLA (El Emam et al. 2009). The node of
least loss among those that meet the requirements after suppressing at most a given
fraction of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from time import monotonic

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.transformation import Generalization
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods._infeasible import infeasible
from sqlanon.questions.ask import BoundRequirement
from sqlanon.search.lattice import Counted, Lattice, Node, Progress, search
from sqlanon.search.losses import LOSSES, Setting
from sqlanon.search.remaining import Rank
from sqlanon.search.rollup import CellSource, Keep, Rollups
from sqlanon.sqlgen.guard import needs_rounds, with_steps
from sqlanon.sqlgen.names import alias, identifier, literal, relation
from sqlanon.sqlgen.nodes import Batch, withheld, withheld_at_once
from sqlanon.sqlgen.render import to_sql
from sqlanon.sqlgen.rows import Step

__all__ = ["Options", "Report", "options", "solve"]

Report = Callable[[Progress], None]

_EXAMPLE = "generalization(suppression => 0.02, loss => 'granularity_loss', time_limit => 60)"


@dataclass(frozen=True)
class Options:
    """METHOD generalization(suppression => fraction, loss => name, time_limit => seconds).

    `suppression` is the share of rows, in [0, 1], that may be left out, `loss` the
    measure that is to be least, `time_limit` the seconds after which the best node so
    far is taken, None for as long as it takes to prove the best.
    """

    suppression: Decimal = Decimal(0)
    loss: str = "granularity_loss"
    time_limit: Decimal | None = None


def options(arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the method's arguments; raises PolicyError for one that is unknown or out of bounds."""
    given = dict(arguments)
    suppression = given.pop("suppression", 0)
    loss = given.pop("loss", "granularity_loss")
    limit = given.pop("time_limit", None)
    if given:
        raise PolicyError(f"generalization has no argument {next(iter(given))!r}", hint=f"write {_EXAMPLE}")
    if isinstance(suppression, bool) or not isinstance(suppression, int | Decimal) or not 0 <= suppression <= 1:
        raise PolicyError(f"generalization: suppression is a fraction between 0 and 1, not {suppression}")
    if not isinstance(loss, str) or loss not in LOSSES:
        raise PolicyError(f"generalization: there is no loss {loss!r}", hint=f"there are: {', '.join(LOSSES)}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | Decimal) or limit <= 0):
        raise PolicyError(f"generalization: time_limit is a number of seconds above 0, not {limit}")
    return Options(Decimal(suppression), loss, None if limit is None else Decimal(limit))


def solve(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    guards: Sequence[tuple[int, str]],
    given: Options,
    cells: CellSource,
    keep: Keep,
    progress: Report | None = None,
) -> Generalization:
    """The optimal node, or the best that was found before the time limit.

    `guards` are the columns of guarding nodes, by the place of their requirement. Raises
    PrivacyViolation, with the class that makes it so, where not even the most general
    node that MAX LEVEL allows meets the requirements.
    """
    limit = int(Fraction(given.suppression) * cells.rows)
    nodes = _Nodes(engine, policy, requirements, guards, cells, keep, limit, given.loss)
    until = None if given.time_limit is None else monotonic() + float(given.time_limit)
    found = search(
        nodes.lattice,
        limit,
        nodes.count,
        nodes.settle,
        batch=nodes.rollups.batch,
        progress=progress,
        expired=lambda: until is not None and monotonic() > until,
    )
    if found is None:
        raise infeasible(engine, policy, requirements, cells, nodes.batch, nodes.steps(nodes.lattice.high), limit)
    return Generalization(
        levels=found.node,
        loss=nodes.loss.value(found.loss),
        rows=cells.rows,
        suppressed=found.suppressed,
        limit=limit,
        nodes=nodes.lattice.size,
        checked=found.checked,
        pruned=found.pruned,
        proven=found.proven,
        least=None if found.least is None else nodes.loss.value(found.least),
        loss_name=given.loss,
    )


class _Nodes:
    """The lattice of a policy over its cells, and what the search asks of its nodes."""

    def __init__(
        self,
        engine: Engine,
        policy: BoundPolicy,
        requirements: Sequence[BoundRequirement],
        guards: Sequence[tuple[int, str]],
        cells: CellSource,
        keep: Keep,
        limit: int,
        loss: str,
    ) -> None:
        self._engine = engine
        self._limit = limit
        self.batch = Batch(
            cells.layout, requirements, policy.entity is not None, cells.carried, tuple(guards), cells.given
        )
        self.rollups = Rollups(engine, cells, self.batch, keep)
        self.loss = LOSSES[loss](
            Setting(policy, cells, limit, _k(requirements), self.batch.key, keep, self.batch.place, engine.rows)
        )
        self._public = cells.public is not None
        self._text = ""
        self.lattice = Lattice(
            low=tuple(b.min_level for b in policy.quasi_identifiers),
            high=tuple(b.max_level for b in policy.quasi_identifiers),
            bounds=self.loss.bounds,
        )

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        found = self.rollups.look(nodes, self._limit)
        return [
            Counted(
                one.suppressed,
                one.excess,
                self.loss.floor(one) if one.whole else None,
                self.loss.least(node, one.suppressed) if one.whole else None,
            )
            for node, one in zip(nodes, found, strict=True)
        ]

    def steps(self, node: Node) -> list[Step]:
        """Steps to the normal relations of a node and to withheld(class_id, size)."""
        return withheld(self.batch, *self.rollups.rows_of(node))

    def settle(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Each node's loss and the rows it suppresses; None if nothing of it may be published, or for more than `best`.

        Where the requirements are settled in one round, all nodes are in one statement. Else
        that tells, for most losses, the least that a node can lose, and the rounds are gone
        through for those that may be the best only.
        """
        if not needs_rounds(self.batch.requirements):
            return list(self._settle_at_once(nodes))
        if not self.loss.GROWS:
            return [self._settle_alone(node) for node in nodes]
        found: dict[Node, tuple[int, int] | None] = {}
        least = zip(self._settle_at_once(nodes), nodes, strict=True)
        for loss, height, node in sorted((one[0], sum(node), node) for one, node in least):
            rank = (loss, height, node)
            found[node] = self._settle_alone(node) if best is None or rank < best else None
            settled = found[node]
            if settled is not None:
                best = min(best, (settled[0], height, node)) if best else (settled[0], height, node)
        return [found[node] for node in nodes]

    def _settle_at_once(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The same with the classes that violate by themselves withheld, and no other."""
        held = self.rollups.rows_of_all(nodes)
        if held is None or self._public:
            return [self._lost(node, withheld_at_once(self.batch, *self.rollups.rows_of(node))) for node in nodes]
        rows, parameters = held
        if not self._text:
            query = self.loss.query(first=len(parameters) + 1)
            self._text = to_sql(with_steps(query, withheld_at_once(self.batch, rows)))
        answers = self._engine.rows(self._text, [*parameters, *self.loss.parameters(nodes)])
        return [
            (self.loss.of(nodes[place], int(rows), answer), int(rows))
            for place, rows, *answer in sorted(answers, key=lambda answer: int(answer[0]))
        ]

    def _settle_alone(self, node: Node) -> tuple[int, int] | None:
        """The same of one node, all rounds gone through; None if a class still violates after the last."""
        still = exp.Exists(this=exp.select(literal(1)).from_(relation("violating")))
        every = exp.Column(this=exp.Star(), table=identifier("lost"))
        query = exp.select(alias(still, "still"), every).from_(self.loss.query(first=1).subquery("lost"))
        text = with_steps(query, self.steps(node))
        blocked, _, rows, *answer = self._engine.rows(text, self.loss.parameters([node]))[0]
        return None if blocked else (self.loss.of(node, int(rows), answer), int(rows))

    def _lost(self, node: Node, steps: Sequence[Step]) -> tuple[int, int]:
        query = with_steps(self.loss.query(first=1), steps)
        _, rows, *answer = self._engine.rows(query, self.loss.parameters([node]))[0]
        return self.loss.of(node, int(rows), answer), int(rows)


def _k(requirements: Sequence[BoundRequirement]) -> int:
    """The k that the policy asks of a class, 1 if it asks for none."""
    asked = [
        int(value)
        for requirement in requirements
        for name, value in requirement.arguments
        if name == "k" and isinstance(value, int)
    ]
    return max(asked, default=1)
