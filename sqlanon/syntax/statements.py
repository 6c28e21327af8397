"""The statements that sqlanon adds to SQL, one dataclass each.

`position` is where the statement begins in the script, `parts` where its parts stand, and `placeholders` what needs a
value before it can run; none of them takes part in comparisons, so that a statement equals its own text read back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, Requirement
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.errors import EngineError, Position, SqlanonError, UserError
from sqlanon.syntax._wording import UNPAIRED
from sqlanon.syntax.parts import Parts
from sqlanon.syntax.placeholders import Placeholder

__all__ = [
    "SHOWN",
    "AlterPolicy",
    "CheckExport",
    "CheckRelation",
    "CheckRelease",
    "CreateHierarchy",
    "CreatePolicy",
    "CreateRelease",
    "CreateWorkload",
    "DescribePolicy",
    "DropHierarchy",
    "DropPolicy",
    "DropRelease",
    "DropWorkload",
    "Estimate",
    "ExplainRelease",
    "ExportRelease",
    "Measure",
    "MethodCall",
    "PassThrough",
    "Show",
    "Statement",
]


@dataclass(frozen=True)
class _Placed:
    position: Position | None = field(default=None, compare=False, kw_only=True)
    parts: Parts | None = field(default=None, compare=False, repr=False, kw_only=True)
    placeholders: tuple[Placeholder, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def locate(self, error: SqlanonError) -> SqlanonError:
        """Says where in the script an error belongs, unless it knows, and which line stands there; returns it.

        That is the part that the error is about. Where the statement has no such part, the column of a policy that it
        names, say, it is that name, and without a part the beginning of the statement. Where quotes of the statement
        do not pair, an error that may name what they set free says only that.
        """
        if self.parts and self.parts.is_doubtful and isinstance(error, UserError | EngineError):
            error.message, error.hint = UNPAIRED
            error.args, error.quoted = (error.message,), None
        if error.position is None and self.parts:
            error.position = self.parts.position_in_query(error.quoted) if error.quoted else None
            if error.position is None and error.part:
                error.position = self.parts.position_of(error.part) or self.parts.position_of(("policy",))
        error.at(self.position)
        if error.excerpt is None and self.parts and error.position:
            error.excerpt = self.parts.excerpt(error.position)
        return error


@dataclass(frozen=True)
class PassThrough(_Placed):
    """SQL that is not sqlanon's: DuckDB runs this text as the user wrote it."""

    text: str


@dataclass(frozen=True)
class CreateHierarchy(_Placed):
    """CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS KIND (arguments | SELECT)."""

    definition: HierarchyDefinition
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropHierarchy(_Placed):
    """DROP HIERARCHY [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class CreatePolicy(_Placed):
    """CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name ON source (attributes)
    [CONFIDENTIAL (attributes), ...] [VISIBLE (attributes), ...] [AGAINST public] [REQUIRE requirements].
    """

    policy: Policy
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropPolicy(_Placed):
    """DROP POLICY [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class AlterPolicy(_Placed):
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
class DescribePolicy(_Placed):
    """DESCRIBE POLICY name."""

    name: str


# What SHOW lists.
SHOWN = ("policies", "hierarchies", "releases", "workloads")


@dataclass(frozen=True)
class Show(_Placed):
    """SHOW POLICIES | HIERARCHIES | RELEASES | WORKLOADS; `kind` is the word in lower case."""

    kind: str


@dataclass(frozen=True)
class CreateWorkload(_Placed):
    """CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY policy [(name => value, ...)]."""

    name: str
    policy: str
    arguments: tuple[tuple[str, Value], ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropWorkload(_Placed):
    """DROP WORKLOAD [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class Measure(_Placed):
    """MEASURE release WITH WORKLOAD workload."""

    release: QualifiedName
    workload: str


@dataclass(frozen=True)
class MethodCall:
    """METHOD name(argument => value, ...) [FRAGMENTS (attributes), ...].

    Without METHOD there is no name, and the default method is meant. `sets` are those of columns after FRAGMENTS.
    """

    name: str = ""
    arguments: tuple[tuple[str, Value], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class CreateRelease(_Placed):
    """CREATE [OR REPLACE] ANONYMIZED VIEW|TABLE [IF NOT EXISTS] name AS POLICY policy [METHOD method].

    `kind` is 'view' or 'table'.
    """

    kind: str
    name: QualifiedName
    policy: str
    method: MethodCall = MethodCall()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class ExplainRelease(_Placed):
    """EXPLAIN ANONYMIZED VIEW|TABLE name AS POLICY policy [METHOD method]: a dry run."""

    create: CreateRelease


@dataclass(frozen=True)
class DropRelease(_Placed):
    """DROP ANONYMIZED VIEW|TABLE [IF EXISTS] name."""

    kind: str
    name: QualifiedName
    if_exists: bool = False


@dataclass(frozen=True)
class CheckRelease(_Placed):
    """CHECK name: a release against the requirements it was made for."""

    name: QualifiedName


@dataclass(frozen=True)
class CheckRelation(_Placed):
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
class CheckExport(_Placed):
    """CHECK 'path': an export, by its folder, a data file or its certificate."""

    path: str


@dataclass(frozen=True)
class ExportRelease(_Placed):
    """EXPORT name TO 'path' [(FORMAT parquet|csv|duckdb [, REPLACE true])].

    Without a format it is that of the path's suffix, and Parquet where the path names a folder.
    """

    name: QualifiedName
    path: str
    format: str | None = None
    replace: bool = False


@dataclass(frozen=True)
class Estimate(_Placed):
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
    | DropHierarchy
    | CreatePolicy
    | DropPolicy
    | AlterPolicy
    | DescribePolicy
    | Show
    | CreateWorkload
    | DropWorkload
    | CreateRelease
    | ExplainRelease
    | DropRelease
    | CheckRelease
    | CheckRelation
    | CheckExport
    | ExportRelease
    | Measure
    | Estimate
)
