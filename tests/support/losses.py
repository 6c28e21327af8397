"""What a release loses by each measure, and random cases that ask for different sensitive values too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hypothesis import strategies as st

from sqlanon import Connection
from tests.oracles.granularity_loss import granularity_loss
from tests.oracles.k_anonymity import respondents
from tests.oracles.lattice import Node, nodes, recoded
from tests.oracles.losses.average_class_size import average_class_size
from tests.oracles.losses.discernibility import discernibility
from tests.oracles.losses.height import height
from tests.oracles.losses.non_uniform_entropy import non_uniform_entropy
from tests.oracles.losses.precision import precision
from tests.oracles.models import equal_t_closeness
from tests.oracles.models.support import Table
from tests.support.database import new_database
from tests.support.policies import Case, cases, insert


def _granularity(rows, taxonomies, levels, suppressed=frozenset(), weights=None, k=1) -> Fraction:  # type: ignore[no-untyped-def]
    return granularity_loss(rows, taxonomies, levels, suppressed, weights)


ORACLES: Mapping[str, Callable[..., Fraction | float]] = {
    "granularity_loss": _granularity,
    "discernibility": discernibility,
    "average_class_size": average_class_size,
    "height": height,
    "precision": precision,
    "non_uniform_entropy": non_uniform_entropy,
}
# How often classes are asked, where withholding some changes the verdict on others.
ROUNDS = 8
# Entropies that differ by less are equal: far more than the error of their logarithms.
CLOSE = 2.0**-28


@dataclass(frozen=True)
class Best:
    """The node of least loss, and the places of the rows that it suppresses."""

    node: Node
    loss: Fraction | float
    suppressed: frozenset[int]


@dataclass(frozen=True)
class Demand:
    """A case whose classes need `l` different sensitive values as well, and closeness `t` if that is given."""

    case: Case
    values: tuple[Hashable, ...]
    l: int = 1  # noqa: E741 - the paper's name
    t: Decimal | None = None

    def loss(self, name: str, node: Node, suppressed: frozenset[int] | set[int]) -> Fraction | float:
        case = self.case
        weights = [Fraction(quasi.weight) for quasi in case.quasi]
        return ORACLES[name](case.rows, case.taxonomies(), node, suppressed, weights, case.k)

    def withheld(self, node: Node) -> set[int] | None:
        """The places of the rows whose class violates a requirement; None if nothing of the node may be published.

        What remains is asked again, until no class of it violates.
        """
        classes: dict[Hashable, list[int]] = defaultdict(list)
        taxonomies = self.case.taxonomies()
        for place, row in enumerate(self.case.rows):
            classes[recoded(row, taxonomies, node)].append(place)
        for _ in range(ROUNDS):
            violating = self._violating(classes)
            if not violating:
                return set(range(len(self.case.rows))) - {place for places in classes.values() for place in places}
            for of in violating:
                del classes[of]
        return None

    def _violating(self, classes: Mapping[Hashable, Sequence[int]]) -> set[Hashable]:
        case = self.case
        found = {
            of
            for of, places in classes.items()
            if respondents(places, case.entities) < case.k or len({self.values[place] for place in places}) < self.l
        }
        if self.t is not None:
            found |= equal_t_closeness.violating(Table(classes, self.values), Fraction(self.t))
        return found

    @property
    def lattice(self) -> list[Node]:
        return nodes([quasi.low for quasi in self.case.quasi], [quasi.top for quasi in self.case.quasi])

    def optimum(self, name: str) -> Best | None:
        """Of the nodes of least loss that of least height, then the first by its levels; None if none satisfies."""
        found: list[tuple[Fraction | float, int, Node, frozenset[int]]] = []
        for node in self.lattice:
            out = self.withheld(node)
            if out is not None and len(out) <= Fraction(self.case.suppression) * len(self.case.rows):
                found.append((self.loss(name, node, out), sum(node), node, frozenset(out)))
        if not found:
            return None
        least = min(loss for loss, *_ in found)
        scale = float(max(quasi.weight for quasi in self.case.quasi))
        near = least + CLOSE * scale if isinstance(least, float) else least
        loss, _, node, suppressed = min((one for one in found if one[0] <= near), key=lambda rank: rank[1:3])
        return Best(node, loss, suppressed)

    def install(self) -> Connection:
        """The table, the hierarchies and the policy `p`, in a database of their own."""
        con = new_database()
        columns = [f"q{i} {quasi.type}" for i, quasi in enumerate(self.case.quasi)]
        con.execute(f"CREATE TABLE source ({', '.join(columns)}, who INTEGER, s INTEGER)")
        for place in range(len(self.case.rows)):
            insert(con, (*self.case.full_row(place)[:-1], self.values[place]))
        for i, quasi in enumerate(self.case.quasi):
            if quasi.hierarchy:
                con.execute(f"CREATE HIERARCHY h{i} AS {quasi.hierarchy}")
        asked = f"k_anonymity(k => {self.case.k})"
        if self.l > 1:
            asked += f", l_diversity(l => {self.l})"
        if self.t is not None:
            asked += f", t_closeness(t => {self.t})"
        con.execute(f"CREATE POLICY p ON source ({self.case.attributes()}) REQUIRE {asked}")
        return con

    def method(self, loss: str) -> str:
        return f"METHOD generalization(suppression => {self.case.suppression}, loss => '{loss}')"


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    case = draw(cases())
    one = st.sampled_from([None, 1, 2, 3])
    values = tuple(draw(st.lists(one, min_size=len(case.rows), max_size=len(case.rows))))
    t = draw(st.sampled_from([None, None, None, "0.1", "0.3", "0.5"]))
    return Demand(case, values, draw(st.sampled_from([1, 1, 2, 3])), None if t is None else Decimal(t))


def shown(demand: Demand, best: Best) -> Sequence[tuple[Hashable, ...]]:
    """The rows that a release of the best node has: labels, and the sensitive value."""
    taxonomies = demand.case.taxonomies()
    return [
        (*recoded(row, taxonomies, best.node), demand.values[place])
        for place, row in enumerate(demand.case.rows)
        if place not in best.suppressed
    ]
