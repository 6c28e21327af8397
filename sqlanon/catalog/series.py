"""Series, which are rows of `anon.series`, `series_requirement` and `series_release`, and the ledger of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import BadJson, arguments_from_json, dumps, loads, typed
from sqlanon.catalog.ledger import head_digest, ledger_digest, renew_checksums, required
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Requirement
from sqlanon.domain.release import Release
from sqlanon.domain.series import Series, SeriesRelease
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, UserError
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

_TEXTS = ("series_id", "policy", "entity", "entity_type", "key_variable", "key_check", "digest")
_TABLES = ("series_member", "series_class", "series_value", "series_release", "series_requirement", "series")


@dataclass(frozen=True)
class _SeriesRow:
    series_id: str
    policy: str
    entity: str
    entity_type: str
    key_variable: str
    key_check: str
    digest: str
    series: str
    attributes: str


@dataclass(frozen=True)
class _ReleaseRow:
    position: int
    release_id: str
    schema_name: str
    object_name: str
    members: int
    digest: str
    checksum: str | None


@dataclass(frozen=True)
class _RequirementRow:
    model: str
    arguments: str


def save(engine: Engine, series: Series) -> None:
    """Writes a series that has no release yet."""
    head: dict[str, object] = {name: getattr(series, name) for name in _TEXTS}
    head |= {"series": series.name, "attributes": dumps(list(map(list, series.attributes)))}
    _rows.insert(engine, "series", [head | {"digest": head_digest(series)}])
    rows: list[dict[str, object]] = [
        {"series_id": series.series_id, "position": position, "model": model, "arguments": arguments}
        for position, (model, arguments) in enumerate(required(series), start=1)
    ]
    _rows.insert(engine, "series_requirement", rows)


def load(engine: Engine, name: str) -> Series:
    """Loads a series with its releases in order.

    Raises UserError, with the nearest name, if there is no such series, and CatalogError if its rows contradict each
    other.
    """
    rows = _rows.read(engine, "series", _SeriesRow, {"series": name}) if migrations.ready(engine) else []
    if not rows:
        raise UserError(
            f"there is no series {name}",
            hint=nearest(name, listing(engine)) or "make it with CREATE SERIES name ON POLICY policy KEY 'variable'",
        )
    if len(rows) > 1:
        raise CatalogError(
            f"series {name} has {len(rows)} rows in anon.series", hint="delete all of these rows but one"
        )
    [head] = rows
    mine = {"series_id": head.series_id}
    releases = _rows.read(engine, "series_release", _ReleaseRow, mine, order=("position",))
    requirements = _rows.read(engine, "series_requirement", _RequirementRow, mine, order=("position",))
    return Series(
        name=head.series,
        attributes=_attributes(head),
        requirements=tuple(_requirement(name, row) for row in requirements),
        releases=tuple(map(_release, releases)),
        **{key: getattr(head, key) for key in _TEXTS},
    )


def _attributes(head: _SeriesRow) -> tuple[tuple[str, str], ...]:
    try:
        return typed(loads(head.attributes), tuple[tuple[str, str], ...], "the attributes")
    except BadJson:
        raise CatalogError(f"series {head.series}: its attributes in anon.series cannot be read") from None


def _requirement(name: str, row: _RequirementRow) -> Requirement:
    try:
        return Requirement(row.model, arguments_from_json(loads(row.arguments)))
    except BadJson as problem:
        raise CatalogError(
            f"series {name}: the arguments of {row.model} in anon.series_requirement cannot be read: {problem}"
        ) from None


def _release(row: _ReleaseRow) -> SeriesRelease:
    name = QualifiedName((row.schema_name, row.object_name))
    return SeriesRelease(row.position, row.release_id, name, row.members, row.digest, row.checksum)


def append(engine: Engine, series: Series, release: Release, position: int, members: int) -> None:
    """Writes a release at the end of a series; the ledger has its members and values already."""
    digest = ledger_digest(engine, series, position, series.digest)
    schema, name = release.name.parts
    row: dict[str, object] = {"series_id": series.series_id, "position": position, "release_id": release.release_id}
    row |= {"schema_name": schema, "object_name": name, "members": members, "digest": digest}
    _rows.insert(engine, "series_release", [row])
    last = exp.update(
        relation(("anon", "series")),
        {"digest": exp.Placeholder()},
        where=column("series_id").eq(exp.Placeholder()),
    )
    engine.run(last, [digest, series.series_id])
    made = SeriesRelease(position, release.release_id, release.name, members, digest)
    renew_checksums(engine, replace(series, releases=(*series.releases, made), digest=digest))


def listing(engine: Engine) -> list[str]:
    """Returns the names of all series."""
    if not migrations.ready(engine):
        return []
    return _rows.read_names(engine, "series", "series")


def exists(engine: Engine, name: str) -> bool:
    return fold(name) in map(fold, listing(engine))


def delete(engine: Engine, name: str) -> None:
    """Deletes a series with its ledger."""
    for series_id in _rows.read_names(engine, "series", "series_id", {"series": name}):
        for table in _TABLES:
            _rows.delete(engine, table, {"series_id": series_id})


def counts(engine: Engine) -> list[tuple[str, str, int, int]]:
    """Returns for each series its name, its policy, and its numbers of releases and respondents."""
    return [
        (str(name), str(policy), int(releases), int(respondents))
        for name, policy, releases, respondents in engine.rows(sql_file("ledger", "series"))
    ]


@dataclass(frozen=True)
class OfSeries:
    """A release in the ledger of a series, which may be dropped; `requires` is true if the series has requirements."""

    release_id: str
    name: QualifiedName
    series: str
    requires: bool


def of_releases(engine: Engine) -> list[OfSeries]:
    """Returns the releases of all series, in the order in which each series has them."""
    return [
        OfSeries(str(made), QualifiedName((schema, name)), str(series), bool(requires))
        for made, series, requires, schema, name in engine.rows(sql_file("ledger", "of_releases"))
    ]


def series_of(engine: Engine, release_id: str) -> str | None:
    """Returns the name of the series in which a release was made; None if it was made outside of a series, or if the
    series was dropped.
    """
    return next((each.series for each in of_releases(engine) if each.release_id == release_id), None)


def rename_policy(engine: Engine, name: str, new_name: str) -> None:
    """Replaces the name of a policy that was renamed."""
    query = exp.update(
        relation(("anon", "series")), {"policy": exp.Placeholder()}, where=column("policy").eq(exp.Placeholder())
    )
    engine.run(query, [new_name, name])
