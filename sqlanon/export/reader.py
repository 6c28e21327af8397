"""An exported release as its receiver has it: the file with the rows, and what its certificate says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PrivacyViolation, SqlanonError, UserError
from sqlanon.estimates.labels.marginal_tables import Marginals
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.access import Export, export_at, files_of, require_known_format, tables_of
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.paths import local_path
from sqlanon.inputs.column_types import ENUM
from sqlanon.plugins import names
from sqlanon.releases.estimable import Recorded, RecordedColumn, RecordedTable, published
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.release.region_rows import ENDS
from sqlanon.statements.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import CreatePolicy

__all__ = ["estimate_export", "opened", "recorded_of", "unreadable"]

# Each level may be one that a label is at.
_MAX_HEIGHT = 10_000

_ENDS = dict(zip((Reading.LOWER_BOUND, Reading.UPPER_BOUND), ENDS, strict=True))
# Readings whose values have the source's type.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE, *_ENDS)


def estimate_export(engine: Engine, path: str, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from an exported release: the path is that of its data file or of its certificate in JSON.

    `marginals` are tables of this database of how frequent the values of generalized columns are.

    Raises UserError where they cannot be read, PrivacyViolation where a file is not the one that was certified,
    PolicyError for whatever of the query they cannot answer.
    """
    if is_database_url(path):
        raise UserError(
            "an estimate reads the files of an export, and this is a database",
            hint="ask for an export as parquet or csv, or query the tables themselves",
        )
    query = parsed(text)
    require_parsed(engine, text)
    export = export_at(engine, local_path(path), names("sqlanon.export.formats"))
    require_known_format(export, path)
    try:
        files = files_of(export)
        recorded = recorded_of(export, files)
        release = published(recorded, [*source_names(recorded.policy), recorded.name])
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, SqlglotError, SqlanonError):
        raise UserError(
            f"{path}: its certificate does not say what an estimate needs", hint="export the release again"
        ) from None
    if export.needs_reader and (marginals or query.lookups):
        raise UserError(
            f"{path} is read on a connection of its own, which has no tables of this database to join or to weigh by",
            hint="ask for an export as parquet or csv",
        )
    with opened(engine, export, files) as engine, engine.transaction(), Scratch(engine) as scratch:
        return estimate(engine, query, release, scratch, recorded.policy, marginals)


@contextmanager
def opened(engine: Engine, export: Export, files: Sequence[ExportFile]) -> Iterator[Engine]:
    """A connection that reads the files: the user's own, or one that opens these files and nothing else."""
    if not export.needs_reader:
        yield engine
        return
    try:
        reader = export.kind.reopen(files, {})
    except EngineError:
        raise unreadable(files) from None
    try:
        yield reader
    finally:
        reader.connection.close()


def unreadable(files: Sequence[ExportFile]) -> PrivacyViolation:
    """The error for files that are not as their certificate says."""
    data = ", ".join(file.path.name for file in files)
    return PrivacyViolation(
        f"{data} cannot be read as the certificate says", hint="take the files and the certificate from one export"
    )


def recorded_of(export: Export, files: Sequence[ExportFile]) -> Recorded:
    """What the certificate records of the release, whose rows are in these files.

    It has no labels of stored hierarchies, which may list values that the release does not show.
    """
    policy = _policy(export.stated["policy"]["statement"])
    stated = export.stated
    if stated["policy"]["source"] == "query":
        # The query is not in a certificate, and what stands for it is no name.
        policy = replace(policy, source=Source(query=""))
    types = {fold(str(a["name"])): str(a["type"]) for a in stated["policy"]["attributes"] if a["type"]}
    rows = map(export.kind.read, files)
    tables = [
        _typed(file, [_column(part) for part in table["columns"]], read, types)
        for file, table, read in zip(files, tables_of(stated), rows, strict=True)
    ]
    return Recorded(
        name=_name(stated["release"]),
        policy=policy,
        tables=tables,
        types=types,
        hierarchies={
            fold(str(h["name"])): (HierarchyDefinition(str(h["name"]), str(h["kind"])), _height(h["height"]))
            for h in stated["policy"]["hierarchies"]
        },
        stored=frozenset(),
        withheld=_number(stated["rows"]["suppressed"]),
    )


def _name(stated: Any) -> str:
    """A name. Raises ValueError for half of a pair of surrogates, which is in no text that a database holds."""
    str(stated).encode()
    return str(stated)


def _number(stated: Any) -> int:
    """A number of rows. Raises ValueError for one below 0."""
    if int(stated) < 0:
        raise ValueError("no number of rows")
    return int(stated)


def _height(stated: Any) -> int:
    """A hierarchy's height. Raises ValueError for one that no hierarchy has."""
    if not 0 <= int(stated) <= _MAX_HEIGHT:
        raise ValueError("no height")
    return int(stated)


def _column(stated: dict[str, Any]) -> RecordedColumn:
    """A column with its reading, by the certificate. Raises ValueError for an unknown reading."""
    levels = stated.get("levels")
    return RecordedColumn(
        name=_name(stated["name"]),
        reading=Reading(stated["reading"]),
        source=str(stated.get("source", stated["name"])),
        levels=None if levels is None else tuple(map(int, levels)),
    )


def _policy(text: str) -> Policy:
    (statement,) = parse_script(text)
    if not isinstance(statement, CreatePolicy):
        raise ValueError("no policy")
    return statement.policy


def _typed(
    file: ExportFile, columns: Sequence[RecordedColumn], rows: exp.Query, types: Mapping[str, str]
) -> RecordedTable:
    """The table with the source's values in the source's types, which a format may not hold."""
    outputs: list[exp.Expr] = []
    for part in columns:
        kind = types.get(fold(_valued(part)))
        as_it_is = kind is None or kind == ENUM or part.reading not in _VALUES
        typed = cast(column(part.name), kind or "VARCHAR")
        outputs.append(column(part.name) if as_it_is else alias(typed, part.name))
    return RecordedTable(columns, exp.select(*outputs).from_(rows.subquery("file")))


def _valued(part: RecordedColumn) -> str:
    """The source's column whose values a column has."""
    if part.reading in _ENDS:
        return part.source.removesuffix(f"_{_ENDS[part.reading]}")
    return part.source
