"""An exported release as whoever received it has it: the file with the rows, and what its certificate says of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.catalog.names import fold
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import SqlanonError, UserError
from sqlanon.estimates.labels.marginal_tables import Marginals
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.formats.base import ExportFile, export_format, suffixes
from sqlanon.export.previous_export import CERTIFICATE_FORMAT, file_hash
from sqlanon.inputs.column_types import ENUM
from sqlanon.methods.anatomy.tables import COUNT, VALUE, sensitive_names
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP, association_columns
from sqlanon.releases.estimable import Recorded, RecordedFragment, published
from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.release.region_rows import BUCKET, ENDS
from sqlanon.statements.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import CreatePolicy

__all__ = ["estimate_export"]

_READ = ("parquet", "csv")
_BESIDE = ".certificate.json"


@dataclass(frozen=True)
class _Export:
    """The data files, one a table, their format and their certificate."""

    data: tuple[Path, ...]
    format: str
    stated: dict[str, Any]


def estimate_export(engine: Engine, path: str, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from an exported release: the path is that of its data file or of its certificate in JSON.

    `marginals` are tables of this database of how frequent the values of generalized columns are.

    Raises UserError where they cannot be read or do not belong together, PolicyError for
    whatever of the query they cannot answer.
    """
    query = parsed(text)
    require_parsed(engine, text)
    found = _found(engine, Path(path).expanduser())
    try:
        files = _files(found)
        recorded = _recorded(found.stated, files[0])
        rows, *values = (export_format(found.format).read(file) for file in files)
        if recorded.method in ("fragments", "loose"):
            recorded, rows = _fragments(recorded, files, [rows, *values])
        else:
            rows = _typed(files[0], rows, recorded)
        if recorded.method == "anatomy":
            recorded = replace(recorded, buckets=_buckets(recorded, files, values))
    except (KeyError, TypeError, ValueError, AttributeError, SqlanonError):
        raise UserError(
            f"{path}: its certificate does not say what an estimate needs", hint="export the release again"
        ) from None
    release = published(recorded, rows, [*source_names(recorded.policy), recorded.name])
    with engine.transaction(), Scratch(engine) as scratch:
        return estimate(engine, query, release, scratch, recorded.policy, marginals)


def _found(engine: Engine, path: Path) -> _Export:
    """The data file and the certificate that stands beside it or in it."""
    if not path.is_file():
        raise UserError(f"there is no file {path}", hint="name the file of an export, or its certificate in JSON")
    if path.suffix.lower() == ".json":
        stated = _certificate(path, path.read_text(encoding="utf-8", errors="replace"))
        return _with_data(path, stated)
    format_ = suffixes().get(path.suffix.lower())
    if format_ not in _READ:
        raise UserError(f"{path} is no file that an estimate reads", hint="export the release as parquet or csv")
    for beside in (path.with_name(path.name + _BESIDE), path.with_name("certificate.json")):
        if beside.is_file():
            stated = _certificate(beside, beside.read_text(encoding="utf-8", errors="replace"))
            if path.name in _names(stated):
                return _with_data(beside, stated)
    texts = export_format(format_).certificate(engine, ExportFile(path, "", ()))
    if not texts:
        raise UserError(f"{path} has no certificate", hint=f"put {path.name}{_BESIDE} beside it")
    stated = _certificate(path, texts[0])
    if "tables" in stated:
        raise UserError(f"{path} is one of several files", hint="keep it beside the others and their certificate.json")
    return _Export((path,), format_, stated)


def _files(found: _Export) -> list[ExportFile]:
    """The files with the names of their tables and columns, in the certificate's order."""
    tables = found.stated.get("tables") or [{"name": found.stated["release"], "columns": found.stated["columns"]}]
    return [
        ExportFile(path, str(table["name"]), tuple((str(c["name"]), str(c["type"])) for c in table["columns"]))
        for path, table in zip(found.data, tables, strict=True)
    ]


def _buckets(recorded: Recorded, files: Sequence[ExportFile], values: Sequence[exp.Query]) -> dict[str, exp.Query]:
    """The tables with the values of each sensitive column, in that column's type."""
    tables = {fold(file.table): rows for file, rows in zip(files[1:], values, strict=True)}
    found: dict[str, exp.Query] = {}
    names = sensitive_names([attribute.name for attribute in recorded.policy.having(Role.SENSITIVE)])
    for name, fragment in names.items():
        rows = tables[fold(f"{recorded.name}_{fragment}")]
        kind = recorded.types.get(fold(name), ENUM)
        to = exp.DataType.build("VARCHAR" if kind == ENUM else kind, dialect="duckdb")
        typed = alias(exp.Cast(this=column(VALUE), to=to), VALUE)
        found[fold(name)] = exp.select(column(BUCKET), typed, column(COUNT)).from_(rows.subquery("dealt"))
    return found


def _fragments(
    recorded: Recorded, files: Sequence[ExportFile], tables: Sequence[exp.Query]
) -> tuple[Recorded, exp.Query]:
    """The release with its fragments, and its rows: those of the association, or else of any fragment."""
    parts = list(zip(files, tables, strict=True))
    names = [f"{recorded.name}_{number}" for number in range(1, len(parts) + 1)]
    loose = recorded.method == "loose"
    if loose:
        names[-1] = f"{recorded.name}_{ASSOCIATION}"
        association, rows = parts.pop()
        if [name for name, _ in association.columns] != association_columns(len(parts)):
            raise ValueError("no association")
    if [file.table for file in files] != names:
        raise ValueError("no fragments")
    fragments: list[RecordedFragment] = []
    for (file, table), linked_by in zip(parts, association_columns(len(parts)), strict=True):
        own = [name for name, _ in file.columns if not loose or name != GROUP]
        typed = _typed(file, table, recorded)
        fragments.append(RecordedFragment(own, typed, *((GROUP, linked_by) if loose else ())))
    return replace(recorded, fragments=fragments), rows if loose else fragments[0].rows


def _certificate(path: Path, text: str) -> dict[str, Any]:
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        stated = None
    if not isinstance(stated, dict) or stated.get("format") != CERTIFICATE_FORMAT:
        raise UserError(f"{path} is no certificate of an export", hint="name the file of an export, or its certificate")
    return stated


def _names(stated: dict[str, Any]) -> list[str]:
    files = stated.get("files")
    return [str(e.get("name")) for e in files if isinstance(e, dict)] if isinstance(files, list) else []


def _with_data(path: Path, stated: dict[str, Any]) -> _Export:
    """The data files that a certificate names, if they still are the ones that were certified."""
    found: list[tuple[Path, str]] = []
    for entry in stated.get("files") or []:
        data = path.with_name(Path(str(entry.get("name"))).name)
        format_ = suffixes().get(data.suffix.lower())
        if format_ not in _READ:
            raise UserError(f"{data} is no file that an estimate reads", hint="export the release as parquet or csv")
        if not data.is_file():
            raise UserError(f"there is no file {data}, which the certificate {path} names")
        if file_hash(data) != entry.get("sha256"):
            raise UserError(f"{data} is not the file that {path} certifies", hint="take both from one export")
        found.append((data, str(format_)))
    if not found:
        raise UserError(f"the certificate {path} names no file")
    return _Export(tuple(data for data, _ in found), found[0][1], stated)


def _recorded(stated: dict[str, Any], rows: ExportFile) -> Recorded:
    """What the certificate records of the release, whose rows are in this file.

    It has no labels of stored hierarchies, which may list values that the release does not show.
    """
    policy = _policy(stated["policy"]["statement"])
    if stated["policy"]["source"] == "query":
        # The query is not in a certificate, and what stands for it is no name.
        policy = replace(policy, source=Source(query=""))
    arguments = dict(stated["method"]["arguments"])
    # A certificate states the levels of the first round of a local recoding alone.
    several = arguments.get("recoding") == "local"
    types = {fold(str(a["name"])): str(a["type"]) for a in stated["policy"]["attributes"] if a.get("type")}
    return Recorded(
        name=str(stated["release"]),
        policy=policy,
        method=str(stated["method"]["name"]),
        arguments=arguments,
        columns=[name for name, _ in rows.columns],
        types=types,
        levels={fold(str(one["attribute"])): None if several else (int(one["level"]),) for one in stated["levels"]},
        hierarchies={
            fold(str(h["name"])): (HierarchyDefinition(str(h["name"]), str(h["kind"])), int(h["height"]))
            for h in stated["policy"]["hierarchies"]
        },
        stored=frozenset(),
        withheld=int(stated["rows"]["suppressed"]),
    )


def _policy(text: str) -> Policy:
    (statement,) = parse_script(text)
    if not isinstance(statement, CreatePolicy):
        raise ValueError("no policy")
    return statement.policy


def _typed(file: ExportFile, rows: exp.Query, recorded: Recorded) -> exp.Query:
    """The rows with what is published as it is in the source's types, which a format may not hold."""
    # What the method added is no column of the source, whatever one of these is called.
    added = {"anatomy": BUCKET, "loose": GROUP}.get(recorded.method)
    types = {name: kind for name, kind in recorded.types.items() if name != added}
    recodes = recorded.method in ("generalization", "mondrian") and recorded.arguments.get("publish") != "none"
    labels = {fold(a.name) for a in recorded.policy.quasi_identifiers if recorded.levels.get(fold(a.name)) != (0,)}
    if not recodes:
        labels = set()
    for attribute in recorded.policy.having(Role.QUASI_IDENTIFIER):
        if kind := types.get(fold(attribute.name)):
            types |= {f"{fold(attribute.name)}_{end}": kind for end in ENDS if recorded.arguments.get("bounds") is True}
    tokens = {fold(a.name) for a in recorded.policy.attributes if a.pseudonym}
    outputs: list[exp.Expr] = []
    for name, _ in file.columns:
        kind = types.get(fold(name))
        as_it_is = kind is None or kind == ENUM or fold(name) in labels | tokens
        to = exp.DataType.build("VARCHAR" if as_it_is or kind is None else kind, dialect="duckdb")
        outputs.append(column(name) if as_it_is else alias(exp.Cast(this=column(name), to=to), name))
    return exp.select(*outputs).from_(rows.subquery("file"))
