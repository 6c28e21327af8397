"""An exported release as whoever received it has it: the file with the rows, and what its certificate says of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.catalog.names import fold
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError, UserError
from sqlanon.export._former import CERTIFICATE_FORMAT
from sqlanon.export.formats.base import ExportFile, export_format, suffixes
from sqlanon.pipeline.estimate import Answered, estimate, source_names
from sqlanon.pipeline.published import Recorded, published
from sqlanon.pipeline.scratch import Scratch
from sqlanon.pipeline.types import ENUM
from sqlanon.sqlgen.names import alias, column
from sqlanon.sqlgen.regions import ENDS
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import CreatePolicy
from sqlanon.workload.queries import parsed

__all__ = ["estimate_export"]

_READ = ("parquet", "csv")
_BESIDE = ".certificate.json"


@dataclass(frozen=True)
class _Export:
    """The data file, its format and its certificate."""

    data: Path
    format: str
    stated: dict[str, Any]


def estimate_export(engine: Engine, path: str, text: str) -> Answered:
    """Estimates a query from an exported release: the path is that of its data file or of its certificate in JSON.

    Raises UserError where they cannot be read or do not belong together, PolicyError for
    whatever of the query they cannot answer.
    """
    query = parsed(text)
    found = _found(engine, Path(path).expanduser())
    try:
        recorded = _recorded(found.stated)
        columns = tuple((str(part["name"]), str(part["type"])) for part in found.stated["columns"])
        file = ExportFile(found.data, str(found.stated["release"]), columns)
    except (KeyError, TypeError, ValueError, AttributeError, SqlanonError):
        raise UserError(
            f"{path}: its certificate does not say what an estimate needs", hint="export the release again"
        ) from None
    rows = _typed(file, export_format(found.format).read(file), recorded)
    release = published(recorded, rows, [*source_names(recorded.policy), recorded.name])
    with engine.transaction(), Scratch(engine) as scratch:
        return estimate(engine, query, release, scratch, recorded.policy)


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
    return _Export(path, format_, _certificate(path, texts[0]))


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
    """The data file that a certificate names, if it still is the one that was certified."""
    for entry in stated.get("files") or []:
        data = path.with_name(Path(str(entry.get("name"))).name)
        format_ = suffixes().get(data.suffix.lower())
        if format_ not in _READ:
            raise UserError(f"{data} is no file that an estimate reads", hint="export the release as parquet or csv")
        if not data.is_file():
            raise UserError(f"there is no file {data}, which the certificate {path} names")
        with data.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != entry.get("sha256"):
                raise UserError(f"{data} is not the file that {path} certifies", hint="take both from one export")
        return _Export(data, format_, stated)
    raise UserError(f"the certificate {path} names no file")


def _recorded(stated: dict[str, Any]) -> Recorded:
    """What the certificate records of the release.

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
        columns=[str(part["name"]) for part in stated["columns"]],
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
    types = dict(recorded.types)
    labels = {
        fold(a.name)
        for a in recorded.policy.quasi_identifiers
        if recorded.levels.get(fold(a.name)) != (0,)
        and (recorded.method != "mondrian" or recorded.arguments.get("publish") != "none")
    }
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
