"""The rows of an export, read again: what its certificate says of the files, and the files as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url, schema_url
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PrivacyViolation, SqlanonError, UserError
from sqlanon.export.access import Export, export_at, files_of, require_known_format
from sqlanon.export.destinations.received import export_in_schema
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.paths import local_path
from sqlanon.export.reader import opened, recorded_of, unreadable
from sqlanon.export.stated import stated_arguments, stated_requirements, stated_rows
from sqlanon.export.stated_columns import unlike_attributes, unlike_release, unpublished
from sqlanon.inputs.column_types import ENUM
from sqlanon.inputs.requirements import resolve_requirements
from sqlanon.methods.registry import promised_by, worded
from sqlanon.plugins import names
from sqlanon.questions.ask import BoundRequirement
from sqlanon.releases.classes import rows_of_each
from sqlanon.releases.estimable import Recorded, RecordedTable
from sqlanon.releases.people import PeopleColumns
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, cast
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.buckets import BucketValues, bucket_rows, rows_of_buckets, values_of_table
from sqlanon.sqlgen.classes.requirement import SqlRequirement
from sqlanon.sqlgen.classes.rows import RowsOfRequirements, rows_of

__all__ = ["ReadExport", "exported_tables", "read_export", "rows_of_export", "values_of_export"]

# Roles of columns that do not tell classes apart.
_NO_KEYS = (Role.SENSITIVE, Role.INSENSITIVE, Role.IDENTIFIER, Role.ENTITY)
# Roles of columns that are in no release, but as tokens.
_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)


# The types of what no column of the source has: some formats have texts only.
_KINDS = {
    Reading.COUNT: "BIGINT",
    Reading.COUNTERFEITS: "BIGINT",
    Reading.ITEM_LABELS: "VARCHAR[]",
    Reading.RESPONDENT: "BIGINT",
}
# The types of which each value has one text: of others a cast may change the text, and not the value.
_ONE_TEXT = re.compile(r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|DATE")


@dataclass(frozen=True)
class ReadExport:
    """An export as its certificate has it: the policy and the columns, the method, and all that is promised.

    `unpublished` are the quasi-identifiers and sensitive columns of the policy that no column shows.
    """

    path: str
    export: Export
    files: tuple[ExportFile, ...]
    recorded: Recorded
    rows: tuple[tuple[str, int], ...]
    method: str
    arguments: tuple[tuple[str, Value], ...]
    requirements: tuple[BoundRequirement, ...]
    unpublished: tuple[str, ...] = ()


def read_export(engine: Engine, path: str) -> ReadExport:
    """The export at a path, that of its folder, of a data file or of the certificate; no data is read yet.

    Raises UserError where it cannot be read, and PrivacyViolation where the files are not those of the certificate, or
    show what its policy hides.
    """
    if is_database_url(path):
        export = export_in_schema(path)
        path = schema_url(path).called
    else:
        export = export_at(engine, local_path(path), names("sqlanon.export.formats"))
    require_known_format(export, path)
    try:
        files = files_of(export)
        recorded = recorded_of(export, files)
        stated_requirements(export)
        rows = stated_rows(export)
        method = str(export.stated["method"]["name"])
        arguments = stated_arguments(export.stated["method"]["arguments"])
        sensitive = [a.name for a in recorded.policy.all_having(Role.SENSITIVE)]
        requirements = resolve_requirements(recorded.policy, sensitive, promised_by(method, arguments))
        other = unlike_attributes(export.stated["policy"]["attributes"], recorded.policy)
        tables = worded(method, arguments).tables
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, SqlglotError, SqlanonError):
        raise UserError(
            f"{path}: its certificate does not say what a check needs", hint="ask who published it for the export again"
        ) from None
    _require_hidden(recorded, path)
    if (why := other or unlike_release(recorded, tables)) is not None:
        raise PrivacyViolation(
            f"{path}: its certificate contradicts its policy: {why}",
            hint="ask who published it for the export again; CHECK recomputes nothing from what contradicts itself",
        )
    hidden = tuple(unpublished(recorded))
    return ReadExport(path, export, tuple(files), recorded, tuple(rows), method, arguments, requirements, hidden)


@contextmanager
def exported_tables(engine: Engine, read: ReadExport) -> Iterator[tuple[Engine, Scratch, dict[str, exp.Table]]]:
    """The engine that reads the files, and the rows of each as a temporary table, by its fragment.

    Raises PrivacyViolation where a file has other columns or another number of rows than its certificate says.
    """
    with opened(engine, read.export, read.files) as engine, engine.transaction(), Scratch(engine) as scratch:
        tables = _copied(engine, read.export, read.files, read.recorded, scratch)
        _require_rows(engine, read.rows, tables, read.path)
        yield engine, scratch, tables


def _rows_of_file(
    engine: Engine, export: Export, file: ExportFile, table: RecordedTable, recorded: Recorded
) -> exp.Query:
    """The rows of a file as it has them: in another type, values that differ could become one class.

    Sensitive values that are texts have the source's type, whose order they are in, and numbers of rows are numbers:
    some formats have texts only. Raises PrivacyViolation for texts that are not that type's.
    """
    sensitive = {fold(a.name) for a in recorded.policy.all_having(Role.SENSITIVE)}
    rows = _as_stored(export, file).subquery("file")
    stored = dict(engine.columns(exp.select(exp.Star()).from_(rows.copy())))
    outputs: list[exp.Expr] = []
    changed: list[exp.Expr] = []
    text: exp.Expr
    expected: exp.Expr
    for part in table.columns:
        is_text = fold(part.source) in sensitive and stored[part.name] == "VARCHAR"
        kind = recorded.types.get(fold(part.source)) if is_text else None
        kind = _KINDS.get(part.reading, None if kind == ENUM else kind)
        outputs.append(alias(cast(column(part.name), kind), part.name) if kind else column(part.name))
        if is_text and kind and _ONE_TEXT.fullmatch(kind):
            text, expected = column(part.name), as_text(cast(column(part.name), kind))
            if kind.startswith("DECIMAL"):
                text, expected = _without_last_zeros(text), _without_last_zeros(expected)
            changed.append(exp.NEQ(this=text, expression=expected))
    if changed and engine.rows(exp.select(literal(1)).from_(rows.copy()).where(exp.or_(*changed)).limit(1)):
        raise PrivacyViolation(
            f"{file.path.name} has values of another type than its certificate says",
            hint="take the files and the certificate from one export",
        )
    return exp.select(*outputs).from_(rows)


def _without_last_zeros(text: exp.Expr) -> exp.Expr:
    """A number as text without the zeros at its end: PostgreSQL writes 0.5 where a DECIMAL(10,2) has 0.50."""
    return f.built_in("regexp_replace", text, literal(r"(\.[0-9]*[1-9])0+$|\.0+$"), literal(r"\1"))


def _copied(
    engine: Engine, export: Export, files: Sequence[ExportFile], recorded: Recorded, scratch: Scratch
) -> dict[str, exp.Table]:
    """The rows of each file as a table, by its fragment. Raises PrivacyViolation where a file has other columns."""
    try:
        _require_columns(engine, export, files)
        return {
            _fragment(export, file.table): relation(
                scratch.table("exported", _rows_of_file(engine, export, file, table, recorded))
            )
            for file, table in zip(files, recorded.tables, strict=True)
        }
    except EngineError:
        raise unreadable(files) from None


def _fragment(export: Export, table: str) -> str:
    """What stands behind the release's name in that of a table; empty for the table of a release of one."""
    return table.removeprefix(f"{export.stated['release']}_") if "tables" in export.stated else ""


def _require_rows(
    engine: Engine, expected: Sequence[tuple[str, int]], tables: Mapping[str, exp.Table], path: str
) -> None:
    for (name, rows), table in zip(expected, tables.values(), strict=True):
        count = engine.rows(exp.select(f.count()).from_(table.copy()))[0][0]
        if count != rows:
            raise PrivacyViolation(
                f"{path}: {name} has {count} rows, and the certificate says {rows}",
                hint="take the files and the certificate from one export",
            )


def _as_stored(export: Export, file: ExportFile) -> exp.Query:
    """All columns of a file in the types in which it has them."""
    query = export.kind.read(file).copy()
    query.set("expressions", [exp.Star()])
    return query


def _require_columns(engine: Engine, export: Export, files: Sequence[ExportFile]) -> None:
    """Raises PrivacyViolation where a file has other columns than its certificate says."""
    for file in files:
        kind, stated = export.kind, [name for name, _ in file.columns]
        header = kind.header(file) or [name for name, _ in engine.columns(_as_stored(export, file))]
        # A type that the format does not have is not that of the file's values.
        if list(header) != stated or any(kind.published_type(type_) != type_ for _, type_ in file.columns):
            raise PrivacyViolation(
                f"{file.path.name} has other columns than its certificate says",
                hint="take the files and the certificate from one export",
            )


def _require_hidden(recorded: Recorded, path: str) -> None:
    """Raises PrivacyViolation for a column that the policy hides, and the certificate lists as published."""
    hidden = {fold(a.name) for a in recorded.policy.all_attributes if a.role in _HIDDEN and not a.pseudonym}
    for part in (part for table in recorded.tables for part in table.columns):
        if part.reading is Reading.RESPONDENT and recorded.policy.related:
            continue
        if fold(part.source) in hidden or fold(part.name) in hidden:
            raise PrivacyViolation(f"{path}: its policy hides the column {part.source}, and it is published")


def values_of_export(recorded: Recorded, tables: Mapping[str, exp.Table]) -> dict[str, BucketValues]:
    """Where the values of each sensitive attribute are, if they are in tables of their own, by bucket."""
    values: dict[str, BucketValues] = {}
    if len(tables) == 1:
        return values
    sensitive = [attribute.name for attribute in recorded.policy.having(Role.SENSITIVE)]
    for fragment, table in zip(tables, recorded.tables, strict=True):
        columns = [(part.name, part.source, part.reading) for part in table.columns]
        values |= values_of_table(fragment, columns, sensitive)
    return values


def rows_of_export(
    engine: Engine,
    recorded: Recorded,
    requirements: Sequence[SqlRequirement],
    indexes: Sequence[int],
    tables: Mapping[str, exp.Table],
) -> list[RowsOfRequirements]:
    """The rows of the files, in the classes that they show."""
    if recorded.policy.related:
        columns = {
            fragment: [(part.name, part.reading) for part in table.columns]
            for fragment, table in zip(tables, recorded.tables, strict=True)
        }
        sensitive_names = tuple(a.name for a in recorded.policy.all_having(Role.SENSITIVE))
        return PeopleColumns(recorded.policy, columns, sensitive_names).rows(tables, requirements, indexes)
    if values := values_of_export(recorded, tables):
        readings = {
            fragment: [(part.name, part.reading) for part in table.columns]
            for fragment, table in zip(tables, recorded.tables, strict=True)
        }
        return list(rows_of_buckets(tables, requirements, indexes, values, rows=bucket_rows(readings)))
    ((source, table),) = zip(tables.values(), recorded.tables, strict=True)
    others = {fold(a.name) for a in recorded.policy.attributes if a.role in _NO_KEYS}
    buckets = [part.name for part in table.having(Reading.BUCKET)]
    keys = buckets or [part.name for part in table.columns if fold(part.source) not in others]
    sensitive = {
        attribute.name: column(part.name)
        for attribute in recorded.policy.having(Role.SENSITIVE)
        for part in table.columns
        if fold(part.source) == fold(attribute.name)
    }
    types = dict(engine.columns(exp.select(exp.Star()).from_(source.copy())))
    typed = [(name, types[name]) for name in keys]
    return rows_of_each(requirements, indexes, typed, lambda names: rows_of(source, names, sensitive))
