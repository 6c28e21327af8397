"""The results of a release's stages: each type holds the result of the stage before and adds its own parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlanon.catalog.exports import KnownReleases
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.context import Watching
from sqlanon.domain.explanation import Choice, Explanation
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import ChoiceList, Comparison, Contender, PrivacyReport, Reading, Release, SourceRead
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.series import Series
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.base import Method
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.methods.shared.wording import TreeFigures
from sqlanon.republication.series.respondents import Respondents, latest_signatures
from sqlanon.sources.coarse import Telling
from sqlanon.sources.joins import Join
from sqlanon.sources.requirement_columns import Carried
from sqlanon.sources.source import BoundSource
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery

# The cells that depend on each part of a policy, with values that identify the rows of the source.
KeptCells = dict[object, tuple[Sequence[Any], Cells]]


@dataclass(frozen=True)
class Requested:
    """The release that a statement requests, before any data are read.

    `create` is the statement as written. If `dry` is true, nothing is published; if `alone` is true, remarks and other
    releases are not needed. `leveled` is the release whose levels are reused. `policy` replaces the catalog's policy of
    the same name. `shared_cells` are the cells of other releases. `replaced` is the release that is replaced, and
    `former` has the types of its columns, by (fragment, column). If `refreshing` is true, the method of the replaced
    release is used.
    """

    engine: Engine
    create: ReleaseRequest
    temp: TempTables
    progress: Watching | None = None
    dry: bool = False
    alone: bool = False
    leveled: Release | None = None
    policy: Policy | None = None
    shared_cells: KeptCells | None = None
    replaced: Release | None = None
    former: Mapping[tuple[str | None, str], str] = field(default_factory=dict)
    refreshing: bool = False


@dataclass(frozen=True)
class Resolved:
    """The catalog entries that the statement names, validated, and the method's checked options.

    `create` is the statement with the name of its method and of all arguments. `hierarchies` has the policy's
    hierarchies by their folded names. `series` is the series of the release, and `other` the release that the policy
    joins. `contenders` are the methods to compare, empty if the statement names a method or the method does not depend
    on the rows.
    """

    requested: Requested
    create: ReleaseRequest
    options: Any
    policy: Policy
    hierarchies: Mapping[str, StoredHierarchy]
    series: Series | None
    other: Release | None
    contenders: tuple[Contender, ...] = ()


@dataclass(frozen=True)
class Bound:
    """The policy and its requirements with the columns of the source.

    `public` is the public table. `sources` has the tables that the source reads, for the record of lineage.
    `respondents` links respondents to the series' ledger, and `join` is the join with the other release. `comparison`
    is the comparison that chose the method, None if methods were not compared. `kept_comparison` is the comparison of
    the replaced release, if its method is kept; otherwise `recompared` is the reason why methods were compared again.
    `telling` has the published columns that reveal the values behind labels of other columns.
    """

    resolved: Resolved
    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    source: BoundSource
    public: BoundSource | None
    sources: tuple[SourceRead, ...]
    respondents: Respondents | None
    join: Join | None
    comparison: Comparison | None = None
    kept_comparison: Comparison | None = None
    recompared: str | None = None
    telling: tuple[Telling, ...] = ()

    @property
    def engine(self) -> Engine:
        return self.resolved.requested.engine

    @property
    def temp(self) -> TempTables:
        return self.resolved.requested.temp

    @property
    def create(self) -> ReleaseRequest:
        return self.resolved.create

    @property
    def method(self) -> Method[Any, Any]:
        """The variant of the statement's method for the engine of the rows."""
        return find_method(self.create.method.name, self.engine)

    @property
    def is_live(self) -> bool:
        """Whether the release is a view, which reads its source at each query."""
        return self.create.kind == "view"

    def task(self, cells: Cells | None = None) -> Task:
        """Returns the task of the method, with the cells once the source is encoded."""
        requested, create = self.resolved.requested, self.create
        return Task(
            engine=requested.engine,
            policy=self.policy,
            requirements=self.requirements,
            name=create.name,
            kind=create.kind,
            sets=create.method.sets,
            columns=create.method.columns,
            each_apart=create.method.each_apart,
            dry=requested.dry,
            temp=requested.temp,
            cells=cells,
            watching=requested.progress,
            signatures=None if self.respondents is None else partial(latest_signatures, self.respondents),
            join=self.join,
            draft=requested.alone,
        )


@dataclass(frozen=True)
class Compared:
    """The release with the method that was chosen; `encoded` has its cells and its choice if the comparison made
    them.
    """

    bound: Bound
    encoded: Encoded | None = None


@dataclass(frozen=True)
class ValuesOfColumns:
    """The values of the columns of cells, in temporary tables that all encodings of a source share.

    `of` has the quasi-identifiers, the requirements and the other columns. For each quasi-identifier, `trees` has the
    table of its tree, `counts` the number of its values, and `figures` the figures of its tree. `carried` has the
    columns that requirements read, and the other columns.
    """

    of: tuple[Sequence[BoundAttribute], Sequence[BoundRequirement], Sequence[BoundAttribute]]
    trees: Sequence[str]
    counts: Sequence[int]
    figures: Sequence[TreeFigures]
    carried: Sequence[Carried]


@dataclass(frozen=True)
class Encoded:
    """The cells of the source, None for a method that does not need them.

    `values` has the values from which the cells were made, which is None for cells of another release. `choice` is the
    method's choice if a comparison has made it.
    """

    bound: Bound
    cells: Cells | None
    values: ValuesOfColumns | None = None
    choice: Choice | None = None

    @property
    def task(self) -> Task:
        return self.bound.task(self.cells)


@dataclass(frozen=True)
class Chosen:
    """The method's choice, which determines the published columns and rows."""

    encoded: Encoded
    choice: Choice

    @property
    def bound(self) -> Bound:
        return self.encoded.bound


@dataclass(frozen=True)
class Explained:
    """The reasons for the choice, None if the method gives no reasons."""

    chosen: Chosen
    explanation: Explanation | None


@dataclass(frozen=True)
class Advised:
    """Sentences about the loss of other options and other methods."""

    explained: Explained
    advice: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """The SELECT of the release, or the SELECTs of its tables.

    For a release that is one table or view, `readings` has the reading of each column that the method recodes or adds,
    and `rounds` has the levels of each round of a local recoding, with the number of rows that it publishes. The level
    of a suppressed cell is its column's height.
    """

    chosen: Chosen
    query: ReleaseQuery | TablesQuery
    readings: Mapping[str, Reading]
    rounds: tuple[tuple[tuple[int, ...], int], ...]

    def levels_of(self, name: str) -> tuple[int, ...]:
        """Returns the levels of a quasi-identifier in the rounds of a local recoding, ascending; empty for a column
        without levels.
        """
        recodings = () if isinstance(self.query, TablesQuery) else self.query.recodings
        of_columns = {recoding.bound.column: recoding.levels for recoding in recodings}
        if not recodings and self.rounds:
            quasi = (bound.column for bound in self.bound.policy.quasi_identifiers)
            of_columns = dict(zip(quasi, zip(*(levels for levels, _ in self.rounds), strict=True), strict=True))
        return tuple(sorted(of_columns.get(name, ())))

    @property
    def bound(self) -> Bound:
        return self.chosen.encoded.bound

    @property
    def choice(self) -> Choice:
        return self.chosen.choice


@dataclass(frozen=True)
class Candidate:
    """A table or view before it is published: `stands` is its current full name, `name` its final name."""

    fragment: str | None
    name: QualifiedName
    stands: QualifiedName


@dataclass(frozen=True)
class Materialized:
    """The candidates and the number of their rows. The query of `compiled` made the candidates.

    `choices` are the lists from which masks were chosen.
    """

    compiled: Compiled
    candidates: tuple[Candidate, ...]
    released_rows: int
    choices: tuple[ChoiceList, ...] = ()

    @property
    def bound(self) -> Bound:
        return self.compiled.bound

    @property
    def query(self) -> ReleaseQuery | TablesQuery:
        return self.compiled.query


@dataclass(frozen=True)
class Checked:
    """The measurements of the candidates."""

    materialized: Materialized
    report: PrivacyReport


@dataclass(frozen=True)
class Remarked:
    """Sentences about possible oversights of the policy."""

    checked: Checked
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """The release as recorded in the catalog.

    `known` are the other releases, empty if they are not needed. `remarks` has the remarks of the stage before, and
    remarks on columns whose types differ from the replaced release.
    """

    remarked: Remarked
    release: Release
    known: KnownReleases
    remarks: tuple[str, ...]

    @property
    def report(self) -> PrivacyReport:
        return self.remarked.checked.report


@dataclass(frozen=True)
class Planned:
    """The plan of a release that is not made: its SELECT, and the advice about its choice."""

    advised: Advised
    compiled: Compiled


@dataclass(frozen=True)
class Plan:
    """The report of EXPLAIN: a plan, with sentences about possible oversights of the policy."""

    planned: Planned
    remarks: tuple[str, ...]
