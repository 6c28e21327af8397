"""What EXPLAIN says of nodes against plain Python that looks at every row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon.domain.explanation import ExaminedNode, Explanation
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.pipeline.encode import encode_stage, solve_stage
from sqlanon.release.pipeline.explain import explain_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.explain_release import ExplainRelease
from tests.oracles.k_anonymity import respondents
from tests.oracles.lattice import Node, recoded
from tests.oracles.models import equal_t_closeness
from tests.oracles.models.support import Table
from tests.support.draws import draws
from tests.support.losses import ORACLES, Demand, demands

pytestmark = pytest.mark.drawn

BUDGET = settings(max_examples=draws(2, long=10), deadline=None, suppress_health_check=list(HealthCheck))


def explained(demand: Demand, loss: str) -> Explanation:
    con = demand.install()
    (statement,) = parse_script(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p {demand.method(loss)}")
    assert isinstance(statement, ExplainRelease)
    engine = DuckDBEngine(con.duckdb)
    with engine.transaction(), TempTables(engine) as temp:
        encoded = encode_stage(bind_stage(resolve_stage(Requested(engine, statement.create, temp))))
        found = explain_stage(solve_stage(encoded)).explanation
    con.close()
    assert found is not None
    return found


def violations(demand: Demand, node: Node) -> dict[str, list[Sequence[int]]]:
    """The classes that violate each requirement by themselves, as places of rows, the smallest first."""
    classes: dict[Hashable, list[int]] = defaultdict(list)
    taxonomies = demand.case.taxonomies()
    for place, row in enumerate(demand.case.rows):
        classes[recoded(row, taxonomies, node)].append(place)
    far: set[Hashable] = set()
    if demand.t is not None:
        far = equal_t_closeness.violating(Table(classes, demand.values), Fraction(demand.t))
    found: dict[str, list[Sequence[int]]] = defaultdict(list)
    for of, places in sorted(classes.items(), key=lambda item: len(item[1])):
        if respondents(places, demand.case.entities) < demand.case.k:
            found["k_anonymity"].append(places)
        if len({demand.values[place] for place in places}) < demand.l:
            found["l_diversity"].append(places)
        if of in far:
            found["t_closeness"].append(places)
    return found


def at_once(demand: Demand, node: Node) -> int:
    """The rows of all classes that violate by themselves."""
    return len({place for classes in violations(demand, node).values() for places in classes for place in places})


def later(demand: Demand, node: Node, limit: int) -> int | None:
    """The rows withheld in later rounds, which are gone through only if the first has left rows to suppress."""
    if at_once(demand, node) > limit:
        return 0
    out = demand.withheld(node)
    return None if out is None else len(out) - at_once(demand, node)


def publishable(demand: Demand, node: Node, limit: int) -> bool:
    out = demand.withheld(node)
    return out is not None and len(out) <= limit


def assert_seen(demand: Demand, node: ExaminedNode, limit: int, loss: str) -> None:
    assert (node.withheld, node.later) == (at_once(demand, node.levels), later(demand, node.levels, limit))
    seen = {one.requirement.partition("(")[0]: (one.rows, one.classes, one.smallest) for one in node.violated}
    expected = violations(demand, node.levels).items()
    assert seen == {name: (sum(map(len, classes)), len(classes), len(classes[0])) for name, classes in expected}
    assert [one.rows for one in node.violated] == sorted((one.rows for one in node.violated), reverse=True)
    assert (node.loss is not None) == publishable(demand, node.levels, limit)
    if node.loss is not None:
        out = demand.withheld(node.levels) or set()
        assert float(node.loss) == pytest.approx(float(demand.loss(loss, node.levels, out)), abs=1e-6)
        assert node.bound <= node.loss + Fraction(1, 10**6)


def lower_neighbours(node: Node, low: Node) -> list[Node | None]:
    """For each attribute that is generalized the node with it a level less general, None below its lowest level."""
    return [
        (*node[:place], level - 1, *node[place + 1 :]) if level > low[place] else None
        for place, level in enumerate(node)
        if level
    ]


@given(demand=demands(), loss=st.sampled_from(sorted(ORACLES)))
@BUDGET
def test_every_figure_is_that_of_the_rows(demand: Demand, loss: str) -> None:
    best = demand.optimum(loss)
    assume(best is not None)
    assert best is not None
    found = explained(demand, loss)
    assert found.limit == int(Fraction(demand.case.suppression) * len(demand.case.rows))
    assert found.chosen.levels == best.node
    low = tuple(quasi.low for quasi in demand.case.quasi)
    lower = lower_neighbours(best.node, low)
    assert [step.node and step.node.levels for step in found.less_general] == lower
    for node in (found.chosen, *found.neighbours, *found.cheaper):
        assert_seen(demand, node, found.limit, loss)
    assert (found.among, found.reach) == (len(demand.lattice), None)
    event(f"{len(found.cheaper)} cheaper")


@pytest.mark.long
@given(demand=demands(), loss=st.sampled_from(sorted(ORACLES)))
@BUDGET
def test_what_could_lose_less_comes_in_the_order_of_its_bound(demand: Demand, loss: str) -> None:
    assume(demand.optimum(loss) is not None)
    found = explained(demand, loss)
    assert found.chosen.loss is not None
    bounds = [node.bound for node in found.cheaper]
    assert bounds == sorted(bounds, reverse=True)
    assert all(bound < found.chosen.loss for bound in bounds)
    assert not any(publishable(demand, node.levels, found.limit) for node in found.cheaper)
    if loss == "granularity_loss" and not found.limit:
        # Nothing can be suppressed: the bound is the loss, and whoever could lose less fails.
        every = (demand.loss(loss, node, set()) for node in demand.lattice)
        assert bounds == sorted((one for one in every if one < found.chosen.loss), reverse=True)[:3]


@given(demand=demands())
@BUDGET
def test_the_binding_requirement(demand: Demand) -> None:
    """Counted over again: at each neighbour that fails, whoever has most rows, if these alone are too many."""
    assume(demand.optimum("granularity_loss") is not None)
    found = explained(demand, "granularity_loss")
    votes: Counter[str | None] = Counter()
    for node in (step.node.levels for step in found.less_general if step.node):
        if not publishable(demand, node, found.limit):
            rows = {name: sum(map(len, classes)) for name, classes in violations(demand, node).items()}
            # Of equals the one that the policy names first.
            worst = max(("k_anonymity", "l_diversity", "t_closeness"), key=lambda name: rows.get(name, 0))
            alone = rows[worst] > found.limit or later(demand, node, found.limit) is None
            votes[worst if alone else None] += 1
    binding = found.binding
    event(f"{binding and binding.requirement}")
    if binding is None:
        assert not votes
        return
    name = binding.requirement and binding.requirement.partition("(")[0]
    assert (binding.at, binding.of) == (max(votes.values()), votes.total())
    assert votes[name] == binding.at
