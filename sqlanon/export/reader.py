"""An exported release as its receiver has it: the file with the rows, and what its certificate says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PrivacyViolation, SqlanonError, UserError
from sqlanon.estimates.labels.marginal_tables import Marginals
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.formats.base import ExportFile, export_format, suffixes
from sqlanon.export.paths import local_path
from sqlanon.export.previous_export import RepeatedMemberError, certificate_content, file_hash
from sqlanon.inputs.column_types import ENUM
from sqlanon.methods.former_certificates import upgraded
from sqlanon.releases.estimable import Recorded, RecordedColumn, RecordedTable, published
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.release.region_rows import ENDS
from sqlanon.statements.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import CreatePolicy

__all__ = ["READ", "Export", "estimate_export", "export_at", "files_of", "recorded_of", "tables_of"]

# What any connection can read.
READ = ("parquet", "csv")
_BESIDE = ".certificate.json"
_OF_FOLDER = "certificate.json"

# Each level may be one that a label is at.
_MAX_HEIGHT = 10_000

_ENDS = dict(zip((Reading.LOWER_BOUND, Reading.UPPER_BOUND), ENDS, strict=True))
# Readings whose values have the source's type.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE, *_ENDS)


@dataclass(frozen=True)
class Export:
    """The data files, one for each table, their format and their certificate."""

    data: tuple[Path, ...]
    format: str
    stated: dict[str, Any]


def estimate_export(engine: Engine, path: str, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from an exported release: the path is that of its data file or of its certificate in JSON.

    `marginals` are tables of this database of how frequent the values of generalized columns are.

    Raises UserError where they cannot be read, PrivacyViolation where a file is not the one that was certified,
    PolicyError for whatever of the query they cannot answer.
    """
    query = parsed(text)
    require_parsed(engine, text)
    export = export_at(engine, local_path(path))
    try:
        files = files_of(export)
        recorded = recorded_of(export, files)
        release = published(recorded, [*source_names(recorded.policy), recorded.name])
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, SqlglotError, SqlanonError):
        raise UserError(
            f"{path}: its certificate does not say what an estimate needs", hint="export the release again"
        ) from None
    with engine.transaction(), Scratch(engine) as scratch:
        return estimate(engine, query, release, scratch, recorded.policy, marginals)


def export_at(engine: Engine, path: Path, formats: Sequence[str] = READ) -> Export:
    """The data files, in one of these formats, and their certificate.

    The path is that of a folder, of a data file or of the certificate.
    """
    if (path / _OF_FOLDER).is_file():
        path /= _OF_FOLDER
    if not path.is_file():
        problem = f"{path} is a folder without {_OF_FOLDER}" if path.is_dir() else f"there is no file {path}"
        raise UserError(problem, hint="name the folder of an export, a data file, or its certificate in JSON")
    if path.suffix.lower() == ".json":
        stated = _certificate(path, path.read_text(encoding="utf-8", errors="replace"))
        return _with_data(path, stated, formats)
    format_ = suffixes().get(path.suffix.lower(), "")
    if format_ not in formats:
        raise UserError(
            f"{path} is no file that an estimate or a check reads", hint="export the release as parquet or csv"
        )
    for beside in (path.with_name(path.name + _BESIDE), path.with_name(_OF_FOLDER)):
        if beside.is_file():
            stated = _certificate(beside, beside.read_text(encoding="utf-8", errors="replace"))
            if path.name in _names(stated):
                return _with_data(beside, stated, formats)
    kind = export_format(format_)
    texts = kind.certificate(engine, ExportFile(path, "", ())) if format_ in READ else kind.carried(path)
    if not texts:
        raise UserError(f"{path} has no certificate", hint=f"put {path.name}{_BESIDE} beside it")
    stated = _certificate(path, texts[0])
    if "tables" in stated:
        raise UserError(f"{path} is one of several files", hint="keep it beside the others and their certificate.json")
    return Export((path,), format_, stated)


def _unreadable(path: Path) -> UserError:
    hint = "ask for an export as parquet or csv; a database file is read with ATTACH"
    return UserError(f"{path} is no file that an estimate or a check reads", hint=hint)


def tables_of(stated: dict[str, Any]) -> list[dict[str, Any]]:
    """What the certificate says of each table, in its order."""
    return stated.get("tables") or [{"name": stated["release"], "columns": stated["columns"]}]


def files_of(export: Export) -> list[ExportFile]:
    """The files with the names of their tables and columns, in the certificate's order.

    Those of a release of one table are parts of it. Raises ValueError where the files are not as many as the tables.
    """
    tables = tables_of(export.stated)
    data = export.data
    if export.format == "parquet" and len(tables) == 1:
        data = data[:1]
    return [
        ExportFile(
            path,
            str(table["name"]),
            tuple((str(c["name"]), str(c["type"])) for c in table["columns"]),
            export.data[1:] if len(data) == 1 and len(export.data) > 1 else (),
        )
        for path, table in zip(data, tables, strict=True)
    ]


def _certificate(path: Path, text: str) -> dict[str, Any]:
    try:
        stated = certificate_content(text)
    except RepeatedMemberError:
        raise PrivacyViolation(
            f"the certificate of {path} says something twice in one object, of which programs read one or the other",
            hint="ask who published it for the export again",
        ) from None
    if not stated:
        raise UserError(f"{path} is no certificate of an export", hint="name the file of an export, or its certificate")
    return stated


def _entries(stated: dict[str, Any]) -> list[dict[str, Any]]:
    """What the certificate says of each file that it names."""
    files = stated.get("files")
    return [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []


def _names(stated: dict[str, Any]) -> list[str]:
    return [str(entry.get("name")) for entry in _entries(stated)]


def _with_data(path: Path, stated: dict[str, Any], formats: Sequence[str]) -> Export:
    """The data files that a certificate names, if they still are the ones that were certified."""
    export: list[tuple[Path, str]] = []
    for entry in _entries(stated):
        data = path.with_name(Path(str(entry.get("name"))).name)
        format_ = suffixes().get(data.suffix.lower())
        if format_ not in formats:
            raise UserError(
                f"{data} is no file that an estimate or a check reads", hint="export the release as parquet or csv"
            )
        if set(str(data)) & set("*?["):
            # DuckDB would read whatever other files fit the pattern.
            raise UserError(
                f"{data} has a name that DuckDB takes for a pattern", hint="move it to a path without *, ? and ["
            )
        if not data.is_file():
            raise UserError(f"there is no file {data}, which the certificate {path} names")
        if file_hash(data) != entry.get("sha256"):
            raise PrivacyViolation(f"{data} is not the file that {path} certifies", hint="take both from one export")
        export.append((data, str(format_)))
    if not export:
        raise UserError(f"the certificate {path} names no file")
    return Export(tuple(data for data, _ in export), export[0][1], stated)


def recorded_of(export: Export, files: Sequence[ExportFile]) -> Recorded:
    """What the certificate records of the release, whose rows are in these files.

    It has no labels of stored hierarchies, which may list values that the release does not show.
    """
    policy = _policy(export.stated["policy"]["statement"])
    stated = upgraded(export.stated, policy)
    if stated["policy"]["source"] == "query":
        # The query is not in a certificate, and what stands for it is no name.
        policy = replace(policy, source=Source(query=""))
    types = {fold(str(a["name"])): str(a["type"]) for a in stated["policy"]["attributes"] if a.get("type")}
    rows = map(export_format(export.format).read, files)
    tables = [
        _typed(file, [_column(part) for part in table["columns"]], read, types)
        for file, table, read in zip(files, tables_of(stated), rows, strict=True)
    ]
    return Recorded(
        name=str(stated["release"]),
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
        name=str(stated["name"]),
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
