"""The name of a statement in status lines, errors and the log."""

from __future__ import annotations

from sqlanon.errors import without_passwords
from sqlanon.syntax.script import first_word
from sqlanon.syntax.statements import (
    Advance,
    Advise,
    AlterPolicy,
    Attack,
    CheckExport,
    CheckJoined,
    CheckRelation,
    CheckRelease,
    CheckSeries,
    CreateHierarchy,
    CreatePolicy,
    CreateRelease,
    CreateSeries,
    CreateStream,
    CreateWorkload,
    DescribePolicy,
    DropFrontier,
    DropHierarchy,
    DropPolicy,
    DropRelease,
    DropSeries,
    DropStream,
    DropWorkload,
    Estimate,
    ExplainRelease,
    ExportRelease,
    Frontier,
    Measure,
    MeasureFigures,
    MeasureTask,
    PassThrough,
    Profile,
    ProposeHierarchy,
    RefreshRelease,
    Show,
    Statement,
)


def label(statement: Statement) -> str:
    """The statement's kind and the name that it is about: CREATE POLICY hospital, CHECK hospital_2026, SELECT, ..."""
    return without_passwords(_label(statement))


def _label(statement: Statement) -> str:
    match statement:
        case PassThrough(text=text):
            return first_word(text) or "SQL"
        case CreateHierarchy(definition=definition):
            return f"CREATE HIERARCHY {definition.name}"
        case DropHierarchy(name=name):
            return f"DROP HIERARCHY {name}"
        case CreatePolicy(policy=policy):
            return f"CREATE POLICY {policy.name}"
        case DropPolicy(name=name):
            return f"DROP POLICY {name}"
        case AlterPolicy(name=name):
            return f"ALTER POLICY {name}"
        case DescribePolicy(name=name):
            return f"DESCRIBE POLICY {name}"
        case Show(kind=kind):
            return f"SHOW {kind.upper()}"
        case CreateWorkload(name=name):
            return f"CREATE WORKLOAD {name}"
        case DropWorkload(name=name):
            return f"DROP WORKLOAD {name}"
        case CreateRelease(kind=kind, name=release):
            return f"CREATE ANONYMIZED {kind.upper()} {release}"
        case RefreshRelease(name=release):
            return f"REFRESH ANONYMIZED TABLE {release}"
        case ExplainRelease(create=create):
            return f"EXPLAIN ANONYMIZED {create.kind.upper()} {create.name}"
        case DropRelease(kind=kind, name=release):
            return f"DROP ANONYMIZED {kind.upper()} {release}"
        case ProposeHierarchy(name=name):
            return f"CREATE HIERARCHY {name}"
        case Profile(source=source):
            return f"PROFILE {source}"
        case CheckRelease(name=release):
            return f"CHECK {release}"
        case CheckJoined(name=release, other=other):
            return f"CHECK {release} JOINED WITH RELEASE {other}"
        case CheckSeries(name=release, series=series):
            return f"CHECK {release} IN SERIES {series}"
        case CreateStream(name=release):
            return f"CREATE ANONYMIZED STREAM {release}"
        case DropStream(name=release):
            return f"DROP ANONYMIZED STREAM {release}"
        case Advance(name=release):
            return f"ADVANCE {release}"
        case CreateSeries(name=name):
            return f"CREATE SERIES {name}"
        case DropSeries(name=name):
            return f"DROP SERIES {name}"
        case CheckExport(path=path):
            return f"CHECK {path}"
        case CheckRelation(source=source):
            return f"CHECK {source}"
        case Measure(release=release) | MeasureFigures(release=release) | MeasureTask(release=release):
            return f"MEASURE {release}"
        case Attack(release=release, file=file, source=attacked):
            return f"ATTACK {release or file or attacked}"
        case Frontier(name=name):
            return f"FRONTIER {name}"
        case Advise(frontier=name):
            return f"ADVISE {name}"
        case DropFrontier(name=name):
            return f"DROP FRONTIER {name}"
        case ExportRelease(name=release):
            return f"EXPORT {release}"
        case Estimate():
            return f"ESTIMATE FROM RELEASE {statement.release or statement.file}"
