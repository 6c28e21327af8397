"""What the stages of a release hand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from sqlanon.catalog.exports import KnownReleases
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.choice import Choice
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release, SourceRead
from sqlanon.domain.report import PrivacyReport
from sqlanon.domain.series import Series
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.inputs.joins.join import Join
from sqlanon.inputs.source import BoundSource
from sqlanon.methods.base import Recoded, Task
from sqlanon.methods.shared.cells import Cells
from sqlanon.pipeline.candidate import Candidate
from sqlanon.questions.ask import BoundRequirement
from sqlanon.series.respondents import Respondents
from sqlanon.series.signatures import latest_signatures
from sqlanon.sqlgen.release.multi_table_query import TablesQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery
from sqlanon.syntax.statements import CreateRelease

__all__ = ["KeptCells", "State", "need"]

_T = TypeVar("_T")
# Cells by what they depend on, each with what tells the rows of their source from others.
KeptCells = dict[object, tuple[Sequence[Any], Cells]]


@dataclass(frozen=True)
class State:
    """Filled from left to right: each stage returns it with one more part.

    `dry` says that nothing is published, `shared_cells` are those of other releases, `options` are the method's
    arguments, checked. `series` is the one that the release is made in, which knows its `respondents`, and `leveled`
    the release whose levels it keeps. `other` is the release that the policy joins, and `join` the join with it.
    `former` has the types of the columns, by table, of the release that is replaced. `known` are the releases beside
    the published one; if `alone`, nobody asks for them.
    """

    engine: Engine
    create: CreateRelease
    scratch: Scratch
    progress: Watching | None = None
    dry: bool = False
    alone: bool = False
    shared_cells: KeptCells | None = None
    options: object = None
    policy: Policy | None = None
    hierarchies: tuple[StoredHierarchy, ...] = ()
    requirements: tuple[BoundRequirement, ...] = ()
    source: BoundSource | None = None
    public: BoundSource | None = None
    sources: tuple[SourceRead, ...] | None = None
    bound: BoundPolicy | None = None
    cells: Cells | None = None
    choice: Choice | None = None
    explanation: Explanation | None = None
    recoded: Recoded | None = None
    query: ReleaseQuery | TablesQuery | None = None
    candidates: tuple[Candidate, ...] = ()
    report: PrivacyReport | None = None
    remarks: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    released_rows: int = 0
    release: Release | None = None
    known: KnownReleases | None = None
    series: Series | None = None
    respondents: Respondents | None = None
    leveled: Release | None = None
    other: Release | None = None
    join: Join | None = None
    former: Mapping[tuple[str | None, str], str] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """The task of the method."""
        signatures = None if self.respondents is None else partial(latest_signatures, self.respondents)
        return Task(
            engine=self.engine,
            policy=need(self.bound),
            requirements=self.requirements,
            name=self.create.name,
            kind=self.create.kind,
            sets=self.create.method.sets,
            columns=self.create.method.columns,
            each_apart=self.create.method.each_apart,
            dry=self.dry,
            scratch=self.scratch,
            cells=self.cells,
            watching=self.progress,
            signatures=signatures,
            join=self.join,
        )

    @property
    def hierarchies_by_name(self) -> dict[str, StoredHierarchy]:
        """The hierarchies of the policy, by their folded names."""
        return {fold(stored.definition.name): stored for stored in self.hierarchies}

    @property
    def compiled(self) -> ReleaseQuery | TablesQuery:
        """What the release is made from."""
        if self.query is None:
            raise InternalError("a stage asks for the SELECT of a release before it is compiled")
        return self.query

    @property
    def one_query(self) -> ReleaseQuery:
        """The SELECT of a release of one table or view."""
        if not isinstance(self.query, ReleaseQuery):
            raise InternalError("a stage asks for the one SELECT of a release that has none, or several")
        return self.query

    def having(self, **parts: Any) -> State:
        return replace(self, **parts)


def need(part: _T | None) -> _T:
    """A part of the state that an earlier stage has filled."""
    if part is None:
        raise InternalError("a stage asks for what an earlier one has not made")
    return part
