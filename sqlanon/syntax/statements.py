"""The statements that sqlanon adds to SQL, one dataclass each.

`position` is where the statement begins in the script, `parts` where its parts stand, and `placeholders` what needs a
value before it can run; none of them takes part in comparisons, so that a statement equals its own text read back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, Requirement
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.errors import Position
from sqlanon.syntax._calls import FigureCall, MethodCall
from sqlanon.syntax._export_statements import CheckExport, ExportRelease
from sqlanon.syntax._frontier_statements import Advise, Bound, DropFrontier, Frontier, Sweep
from sqlanon.syntax._measures import CreateWorkload, DropWorkload, Measure, MeasureFigures, MeasureTask
from sqlanon.syntax._placed import Placed
from sqlanon.syntax._profile_statements import Profile, ProposeHierarchy
from sqlanon.syntax._series_statements import CheckJoined, CheckSeries, CreateSeries, DropSeries, RefreshRelease
from sqlanon.syntax._stream_statements import Advance, CreateStream, DropStream

__all__ = [
    "SHOWN",
    "Advance",
    "Advise",
    "AlterPolicy",
    "Attack",
    "Bound",
    "CheckExport",
    "CheckJoined",
    "CheckRelation",
    "CheckRelease",
    "CheckSeries",
    "CreateHierarchy",
    "CreatePolicy",
    "CreateRelease",
    "CreateSeries",
    "CreateStream",
    "CreateWorkload",
    "DescribePolicy",
    "DropFrontier",
    "DropHierarchy",
    "DropPolicy",
    "DropRelease",
    "DropSeries",
    "DropStream",
    "DropWorkload",
    "Estimate",
    "ExplainRelease",
    "ExportRelease",
    "FigureCall",
    "Frontier",
    "Measure",
    "MeasureFigures",
    "MeasureTask",
    "MethodCall",
    "PassThrough",
    "Profile",
    "ProposeHierarchy",
    "RefreshRelease",
    "Show",
    "Statement",
    "Sweep",
]


# Of a statement without METHOD.
_DEFAULT = MethodCall()


@dataclass(frozen=True)
class PassThrough(Placed):
    """SQL that is not sqlanon's: DuckDB runs this text as the user wrote it."""

    text: str


@dataclass(frozen=True)
class CreateHierarchy(Placed):
    """CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS KIND (arguments | SELECT)."""

    definition: HierarchyDefinition
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropHierarchy(Placed):
    """DROP HIERARCHY [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class CreatePolicy(Placed):
    """CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name ON source [PIVOT item VALUES rating] (attributes)
    [CONFIDENTIAL (attributes), ...] [VISIBLE (attributes), ...] [AGAINST public] [REQUIRE requirements].
    """

    policy: Policy
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropPolicy(Placed):
    """DROP POLICY [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class AlterPolicy(Placed):
    """ALTER POLICY [IF EXISTS] name, and one change: ADD or ALTER [COLUMN] attribute, DROP [COLUMN] column,
    RENAME TO new_name, ADD REQUIRE requirements, or REQUIRE requirements, which are then all that is required.

    `action` is its first word in lower case. What does not belong to it is empty.
    """

    name: str
    action: str
    attribute: Attribute | None = None
    new_name: str = ""
    column: str = ""
    requirements: tuple[Requirement, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True)
class DescribePolicy(Placed):
    """DESCRIBE POLICY name."""

    name: str


# What SHOW lists.
SHOWN = ("policies", "hierarchies", "releases", "workloads", "frontiers", "series", "streams")


@dataclass(frozen=True)
class Show(Placed):
    """SHOW POLICIES | HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS.

    `kind` is the word in lower case.
    """

    kind: str


@dataclass(frozen=True)
class CreateRelease(Placed):
    """CREATE [OR REPLACE] ANONYMIZED VIEW|TABLE [IF NOT EXISTS] name AS POLICY policy [METHOD method]
    [LEVELS FROM RELEASE release] [IN SERIES series].

    `kind` is 'view' or 'table', `levels_from` the release whose levels are kept.
    """

    kind: str
    name: QualifiedName
    policy: str
    method: MethodCall = _DEFAULT
    or_replace: bool = False
    if_not_exists: bool = False
    series: str | None = None
    levels_from: QualifiedName | None = None


@dataclass(frozen=True)
class ExplainRelease(Placed):
    """EXPLAIN ANONYMIZED VIEW|TABLE name AS POLICY policy [METHOD method]: a dry run."""

    create: CreateRelease


@dataclass(frozen=True)
class DropRelease(Placed):
    """DROP ANONYMIZED VIEW|TABLE [IF EXISTS] name."""

    kind: str
    name: QualifiedName
    if_exists: bool = False


@dataclass(frozen=True)
class CheckRelease(Placed):
    """CHECK name: a release against the requirements it was made for."""

    name: QualifiedName


@dataclass(frozen=True)
class CheckRelation(Placed):
    """CHECK source (quasi-identifiers) [SENSITIVE columns] [AGAINST public] REQUIRE requirements.

    The source is any table or (SELECT ...). `hierarchies` are the sensitive columns that
    say USING, each with the hierarchy that its distances use.
    """

    source: Source
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    hierarchies: tuple[tuple[str, str], ...] = ()
    against: Source | None = None


@dataclass(frozen=True)
class Attack(Placed):
    """ATTACK release | 'path' | source (quasi-identifiers) [SENSITIVE columns] WITH attack [(argument => value, ...)].

    Exactly one of `release`, a name, `file`, the path of an export, and `source`, any table or (SELECT ...), is set;
    only a source has `quasi_identifiers`. Without `sensitive` all sensitive attributes of a release are meant;
    `hierarchies` are those columns among them that say USING.
    """

    attack: str
    arguments: tuple[tuple[str, Value], ...] = ()
    release: QualifiedName | None = None
    file: str | None = None
    source: Source | None = None
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    hierarchies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Estimate(Placed):
    """ESTIMATE query FROM RELEASE name | 'file' [MARGINALS (column => table, ...)].

    An aggregate query on the source, answered from a release alone. `query` is the user's
    own text. Exactly one of `release`, a name, and `file`, the path of an exported release
    or of its certificate, is set. `marginals` name tables of how frequent the values of a column are.
    `query_position` is where the query begins in the script, None where parameters in it were replaced by literals.
    """

    query: str
    release: QualifiedName | None = None
    file: str | None = None
    marginals: tuple[tuple[str, QualifiedName], ...] = ()
    query_position: Position | None = field(default=None, compare=False, kw_only=True)


Statement = (
    PassThrough
    | CreateHierarchy
    | ProposeHierarchy
    | DropHierarchy
    | CreatePolicy
    | DropPolicy
    | AlterPolicy
    | DescribePolicy
    | Show
    | CreateWorkload
    | DropWorkload
    | CreateSeries
    | DropSeries
    | CheckSeries
    | CreateStream
    | Advance
    | DropStream
    | CheckJoined
    | CreateRelease
    | RefreshRelease
    | ExplainRelease
    | DropRelease
    | CheckRelease
    | CheckRelation
    | CheckExport
    | Attack
    | Profile
    | ExportRelease
    | Measure
    | MeasureFigures
    | MeasureTask
    | Estimate
    | Frontier
    | Advise
    | DropFrontier
)
