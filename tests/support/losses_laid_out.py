"""A source laid out as cells, some nodes of its lattice, and what they lose whatever classes are withheld."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import Loss, Setting
from sqlanon.methods.shared.lattice.node_rows_sql import Batch
from sqlanon.methods.shared.lattice.rollup import Rollups
from sqlanon.release.pipeline.encode import encode_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Encoded, Requested
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.statements.releases.create_release import CreateRelease
from tests.oracles.k_anonymity import respondents
from tests.oracles.lattice import nodes
from tests.support.losses import ORACLES
from tests.support.policies import Case

# A batch has few places, and an example little time.
_NODES = 12
# So many sensitive values are asked of a class; all of its rows differ in theirs.
_VALUES = 2

Places = frozenset[int]


class Laid:
    """The nodes, each with its classes as the places of their rows, and the losses."""

    def __init__(self, case: Case, encoded: Encoded, limit: int) -> None:
        bound, policy, cells = encoded.bound, encoded.bound.policy, encoded.task.encoded
        self.case, self._engine = case, bound.engine
        self._batch = Batch(cells.layout, bound.requirements, cells.entity, cells.carried, (), cells.fixed_relations)
        self._rollups = Rollups(bound.engine, cells, self._batch, bound.temp)
        setting = Setting(
            policy, cells, limit, case.k, self._batch.key, bound.temp, self._batch.index, bound.engine.rows
        )
        self.losses: dict[str, Loss] = {name: made(setting) for name, made in LOSSES.items()}
        lattice = nodes([0] * len(case.quasi), [quasi.height for quasi in case.quasi])
        self.nodes = lattice[:: len(lattice) // _NODES + 1]
        self.counted = self._rollups.look(self.nodes, len(case.rows))
        self.classes = self._classes()

    def lost(self, name: str, withheld: Sequence[Sequence[Places]]) -> list[int]:
        """What each node loses by a measure if these classes of it are withheld."""
        loss = self.losses[name]
        steps, parameters = self._relations()
        query = with_steps(loss.query(first=len(parameters) + 1), [*steps, ("withheld", self._withheld(withheld))])
        answers = sorted(self._engine.rows(query, [*parameters, *loss.parameters(self.nodes)]), key=lambda row: row[0])
        assert [(place, rows) for place, rows, *_ in answers] == [
            (place, len(frozenset().union(*chosen))) for place, chosen in enumerate(withheld)
        ]
        return [loss.of(self.nodes[place], int(rows), answer) for place, rows, *answer in answers]

    def violates(self, places: Places) -> bool:
        """Whether a class has fewer respondents or sensitive values than are asked for."""
        return respondents(sorted(places), self.case.entities) < self.case.k or len(places) < _VALUES

    def oracle(self, name: str, place: int, chosen: Sequence[Places]) -> Fraction | float:
        case, out = self.case, frozenset().union(*chosen)
        weights = [Fraction(quasi.weight) for quasi in case.quasi]
        return ORACLES[name](case.rows, case.taxonomies(), self.nodes[place], out, weights, case.k)

    def _relations(self) -> tuple[list[Step], list[list[int]]]:
        held = self._rollups.rows_of_all(self.nodes)
        assert held is not None
        return self._batch.relations(held[0]), held[1]

    def _classes(self) -> list[list[Places]]:
        """Each row's sensitive value is its place: so the values of a class tell which rows it holds."""
        steps, parameters = self._relations()
        pairs = exp.select(self._batch.index(column("class_id")), column("class_id"), column("value"))
        query = with_steps(pairs.from_(relation("class_sensitive_value_0")), steps)
        classes: list[dict[Hashable, list[int]]] = [defaultdict(list) for _ in self.nodes]
        for place, class_id, value in self._engine.rows(query, parameters):
            classes[place][_hashable(class_id)].append(int(value))
        return [[frozenset(places) for places in own.values()] for own in classes]

    def _withheld(self, chosen: Sequence[Sequence[Places]]) -> exp.Query:
        """withheld(index, class_id, size): a class is known by its node and the first of its rows."""
        index, first = self._batch.index(column("class_id")), exp.Min(this=column("value"))
        same = [
            exp.and_(exp.EQ(this=index, expression=literal(node)), exp.EQ(this=first, expression=literal(min(rows))))
            for node, classes in enumerate(chosen)
            for rows in classes
        ]
        size = exp.Cast(this=exp.Sum(this=column("n")), to=exp.DataType.build("BIGINT"))
        query = exp.select(alias(index, "index"), column("class_id"), alias(size, "size"))
        query = query.from_(relation("class_sensitive_value_0")).group_by(column("class_id"))
        return query.having(exp.or_(*same) if same else exp.false())


def _hashable(class_id: Any) -> Hashable:
    return tuple(class_id.items()) if isinstance(class_id, dict) else class_id


@contextmanager
def laid(case: Case, limit: int) -> Iterator[Laid]:
    """Of a case's rows at most `limit` may be suppressed, as far as the losses know."""
    with case.install() as con:
        both = f"k_anonymity(k => {case.k}), l_diversity(l => {_VALUES})"
        con.execute(f"CREATE OR REPLACE POLICY p ON source ({case.attributes()}) REQUIRE {both}")
        engine = DuckDBEngine(con.duckdb)
        with engine.transaction(), TempTables(engine) as temp:
            asked = Requested(engine, CreateRelease("table", QualifiedName(("out",)), "p"), temp)
            yield Laid(case, encode_stage(bind_stage(resolve_stage(asked))), limit)
