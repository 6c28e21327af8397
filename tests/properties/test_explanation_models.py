"""The rows that EXPLAIN says a node would suppress, for every model: those that a release at this node leaves out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.domain.explanation import ExaminedNode
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.generalization.explain import Look
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.release.pipeline.encode import encode_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.sql.questions.load import Parameter, load_question, question_names
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.explain_release import ExplainRelease
from tests.oracles.lattice import Node, nodes, recoded
from tests.support.draws import draws
from tests.support.models import search as models
from tests.support.models.search import Drawn
from tests.support.policies import BUDGET, Quasi

pytestmark = pytest.mark.drawn

# Of the others no round follows the first.
OF_OTHERS = [
    name
    for name in question_names()
    if {"sensitive_value", "public_class"} & set(load_question(name).reads) and not load_question(name).one_row_each
]
SOME = settings(BUDGET, max_examples=draws(2, long=4), phases=[Phase.generate])
QUASI = tuple(Quasi("VARCHAR", None, 1, tuple(labels), lambda value: ()) for labels in ("abcd", "xy"))
LATTICE = nodes((0, 0), (1, 1))


@st.composite
def staged(draw: st.DrawFn, question: str) -> Drawn:
    """Few classes, and the bounds of the model and of k under which later rounds have most to withhold of them."""
    rows: list[tuple[Any, ...]] = []
    for label in product("abcd"[: draw(st.integers(2, 4))], "xy"[: draw(st.integers(1, 2))]):
        for value in ("a", "b", None):
            rows += [(*label, value, draw(st.sampled_from(models.NODES)))] * draw(st.integers(0, 4))
    more = draw(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy")), max_size=8))
    public = (*((a, b) for a, b, *_ in rows), *more)
    parameters = [p for p in load_question(question).parameters if p.type not in ("RELATION", "COLUMN")]
    texts = {p.name: draw(st.sampled_from(p.choices)) for p in parameters if p.type == "TEXT"}
    numbers = {p.name: bounds(p) for p in parameters if p.type != "TEXT"}
    candidates = [
        Drawn(QUASI, tuple(rows), public, question, texts | dict(zip(numbers, chosen, strict=True)), k, "0")
        # The least of several comes first, as it has to where there is a greatest too.
        for chosen in {tuple(sorted(drawn)) for drawn in product(*numbers.values())}
        for k in (1, 4)
    ]
    return max(candidates, key=lambda case: (later(case, LATTICE[0]), case.k, str(case.arguments)))


def bounds(parameter: Parameter) -> list[Any]:
    """The values of a parameter that are tried."""
    low, high = parameter.low, parameter.high
    assert low is not None
    assert high is not None
    return [number for number in ((1, 2, 3) if parameter.type == "BIGINT" else models.NUMBERS) if low <= number <= high]


def classes(case: Drawn, node: Node) -> tuple[dict[Hashable, list[int]], dict[Hashable, int]]:
    """The classes of the source, as places of rows, and the rows of the public table in each."""
    keys = [row[:2] for row in case.rows]
    taxonomies = [quasi.taxonomy(quasi.domain) for quasi in case.quasi]
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        found[recoded(key, taxonomies, node)].append(place)
    return dict(found), dict(Counter(recoded(key, taxonomies, node) for key in case.public))


def by_hand(case: Drawn, node: Node) -> int | None:
    """The rows that a release at the node leaves out, counted row by row; None if whatever is left violates."""
    out = models.withheld(case, *classes(case, node))
    return None if out is None else len(out)


def later(case: Drawn, node: Node) -> int:
    """The rows that go after the first round, one more than all of them if something violates to the end."""
    own, public = classes(case, node)
    first = sum(len(own.get(of, ())) for of in models.violating(case, own, public))
    out = by_hand(case, node)
    return (1 if out is None else out - first) if first < len(case.rows) else 0


def looked_at(con: Connection) -> list[ExaminedNode]:
    """Every node as EXPLAIN looks at those that it names, where nothing may be suppressed."""
    (statement,) = parse_script("EXPLAIN ANONYMIZED TABLE t AS POLICY p METHOD generalization")
    assert isinstance(statement, ExplainRelease)
    engine = DuckDBEngine(con.duckdb)
    with engine.transaction(), TempTables(engine) as temp:
        task = encode_stage(bind_stage(resolve_stage(Requested(engine, statement.create, temp)))).task
        cells = task.encoded
        lattice = Nodes(task, cells, (0, 0), 0, "granularity_loss")
        return [node for node, _ in Look(task, lattice, cells, 0).at(LATTICE)]


def released(con: Connection, case: Drawn, node: Node) -> int | None:
    """The rows that a release leaves out whose levels are pinned to the node, whatever has to be suppressed."""
    pinned = tuple(replace(quasi, low=level, high=level) for quasi, level in zip(case.quasi, node, strict=True))
    con.execute(models.policy_text(replace(case, quasi=pinned)).replace("CREATE", "CREATE OR REPLACE", 1))
    try:
        con.execute("CREATE ANONYMIZED TABLE t AS POLICY p METHOD generalization(suppression => 1)")
    except PrivacyViolation:
        return None
    (rows,) = con.duckdb.execute("SELECT count(*) FROM t").fetchone() or (0,)
    return len(case.rows) - int(rows)


def told(node: ExaminedNode) -> int | None:
    return None if node.later is None else node.suppressed


@pytest.mark.one_in(9)
@pytest.mark.parametrize("question", OF_OTHERS)
def test_rows_are_counted_through_all_rounds(question: str) -> None:
    @given(case=staged(question))
    @SOME
    def check(case: Drawn) -> None:
        con = models.install(case)
        seen = {node.levels: told(node) for node in looked_at(con)}
        assert seen == {node: by_hand(case, node) for node in LATTICE}
        furthest = max(LATTICE, key=lambda node: later(case, node))
        assert seen[furthest] == released(con, case, furthest)
        event(f"{sum(later(case, node) > 0 for node in LATTICE)} nodes of several rounds")
        con.close()

    check()
