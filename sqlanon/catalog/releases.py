"""Releases and their measurements, as rows of the catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256

from sqlglot import exp

from sqlanon.catalog import _rows, migrations, streams
from sqlanon.catalog._json import (
    BadJson,
    arguments_from_json,
    arguments_to_json,
    dumps,
    loads,
    read_sources,
    write_sources,
)
from sqlanon.catalog.choice_lists import save_choices
from sqlanon.catalog.comparisons import ComparisonRow, comparison_of, save_comparison
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.policy import Role
from sqlanon.domain.release import ChoiceList, Measurement, Reading, Release, ReleaseAttribute, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import CatalogError, EngineError, InternalError, UserError
from sqlanon.sql.build.expressions import and_, in_utc
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.syntax.texts import typed_name

# Checks that the rows that describe a release are unchanged.
#
# The release's own row has a digest over all of them. It detects mistakes, made by hand or by a program. It is not a
# signature, because an attacker can compute it again.


def digests(engine: Engine, release_ids: Sequence[str]) -> dict[str, str]:
    """Computes the digest of each release's catalog rows as they are now: the SHA-256 of their lines.

    The lines are sorted by their bytes, which no collation of a session changes. They are not grouped by release in
    DuckDB, which would make a hash table for each table and take longer than reading the lines of most releases.
    """
    lines: dict[str, list[bytes]] = defaultdict(list)
    for release_id, line in engine.rows(sql_file("catalog", "queries", "release_digests"), [list(release_ids)]):
        lines[release_id].append(line.encode())
    return {release_id: sha256(b"\n".join(sorted(of_release))).hexdigest() for release_id, of_release in lines.items()}


def seal(engine: Engine, release_id: str) -> None:
    """Stores the digest of a release's catalog rows, which may not change from then on; it is written last."""
    keep_digest(engine, release_id, digests(engine, [release_id])[release_id])


def keep_digest(engine: Engine, release_id: str, digest: str) -> None:
    """Stores the digest of a release's catalog rows, which `digests` has just computed."""
    engine.run(sql_file("catalog", "queries", "seal_release"), [digest, release_id])


def require_sealed(engine: Engine, name: QualifiedName, release_id: str, digest: str | None) -> None:
    """Raises CatalogError unless a release's catalog rows have the stored digest."""
    if digest is None or digests(engine, [release_id]).get(release_id) != digest:
        raise CatalogError(
            f"release {name}: its rows in the catalog were changed after it was made; nothing was done",
            hint="undo the change; or drop the tables or views of the release with DROP TABLE or DROP VIEW, and "
            f"delete its rows from the catalog: {forgetting(name)}",
        )


def forgetting(name: QualifiedName) -> str:
    """Returns the statement that deletes a release from the catalog without dropping its objects."""
    schema_and_name = zip(("schema_name", "object_name"), name.parts, strict=True)
    where = and_(*(column(key).eq(literal(part)) for key, part in schema_and_name))
    return to_sql(exp.delete(relation(("anon", "release")), where=where))


def table_digest(engine: Engine, name: QualifiedName) -> str:
    """Computes the digest of a table's rows; the session's time zone does not change it."""
    rows = rows_in_utc(relation(name), engine.columns(select(exp.Star(), of=relation(name))))
    [(digest,)] = engine.rows(sql_file("catalog", "queries", "table_digest"), [to_sql(rows)])
    return str(digest)


def rows_in_utc(table: exp.Table, columns: Sequence[Column]) -> exp.Select:
    """Returns a table's rows with timestamps in UTC, which the session's time zone does not change."""
    return select(*(alias(in_utc(name, kind), name) for name, kind in columns), of=table)


def require_own_rows(engine: Engine, release: Release) -> None:
    """Raises CatalogError if a table that belongs to a live view is missing, or its rows have changed."""
    for made in release.objects:
        if made.kind == "table" and made.digest is not None and made.digest != _digest_now(engine, made):
            raise CatalogError(
                f"release {release.name}: the rows of {made.name}, which determine the release's rows, were changed "
                "after the release was made; nothing was done",
                hint=f"create it again with CREATE OR REPLACE ANONYMIZED {release.kind.upper()}",
            )


def _digest_now(engine: Engine, made: ReleaseObject) -> str | None:
    try:
        return table_digest(engine, made.name)
    except EngineError:
        return None


# The columns of anon.release that Release has under the same name and in the same form.
_PLAIN = (
    "release_id",
    "kind",
    "policy",
    "policy_fingerprint",
    "policy_json",
    "method",
    "source_rows",
    "released_rows",
    "suppressed_rows",
    "loss",
    "nodes",
    "nodes_checked",
    "nodes_pruned",
    "proven_optimal",
    "loss_bound",
    "loss_name",
    "content_fingerprint",
    "engine_version",
    "sqlanon_version",
    "created_at",
)
# The columns of release_parts.sql after the part.
_PART = (
    *("attribute", "role", "hierarchy", "level", "height", "weight", "fragment", "source", "reading"),
    *("kind", "schema_name", "object_name", "digest"),
    *_rows.columns_of(ComparisonRow),
    *("list_name", "key_variable"),
)
_TABLES = (
    "release",
    "release_attribute",
    "release_object",
    "release_recoding",
    "release_taxonomy",
    "release_value_range",
    "release_known_triple",
    "release_round",
    "release_comparison",
    "release_choice",
    "measurement",
    "query_error",
    "release_figure",
)


@dataclass(frozen=True)
class _ReleaseRow:
    release_id: str
    kind: str
    policy: str
    policy_fingerprint: str
    policy_json: str
    method: str
    source_rows: int | None
    released_rows: int
    suppressed_rows: int
    loss: float
    nodes: int | None
    nodes_checked: int | None
    nodes_pruned: int | None
    proven_optimal: bool | None
    loss_bound: float | None
    loss_name: str
    content_fingerprint: str | None
    engine_version: str
    sqlanon_version: str
    created_at: datetime
    schema_name: str
    object_name: str
    method_arguments: str
    sources: str
    digest: str | None

    @property
    def name(self) -> QualifiedName:
        return QualifiedName((self.schema_name, self.object_name))


@dataclass(frozen=True)
class _AttributeRow:
    attribute: str
    role: str
    hierarchy: str | None
    level: int | None
    height: int | None
    weight: Decimal
    fragment: str | None
    source: str | None
    reading: str


@dataclass(frozen=True)
class _RoundRow:
    attribute: str
    level: int


@dataclass(frozen=True)
class _ObjectRow:
    kind: str
    schema_name: str
    object_name: str
    fragment: str | None
    digest: str | None


@dataclass(frozen=True)
class _MeasurementRow(Measurement):
    measured_at: datetime


def save(engine: Engine, release: Release) -> None:
    """Records a new release with its attributes, objects, comparison and choices; its labels may be recorded already.

    The release can be read after `seal`, which follows the last row. Raises UserError if a release of this name is
    recorded: the caller deletes it first.
    """
    schema, name = _schema_and_name(release.name)
    migrations.install(engine)
    row = {column: getattr(release, column) for column in _PLAIN}
    row |= {"schema_name": schema, "object_name": name}
    row["method_arguments"] = dumps(arguments_to_json(release.method_arguments))
    row["sources"] = write_sources(release.sources)
    if not _rows.insert_new(engine, "release", row, ("schema_name", "object_name")):
        raise UserError(f"the release {release.name} exists already")
    identity = {"release_id": release.release_id}
    _rows.insert(
        engine,
        "release_attribute",
        [{**identity, "position": i, **_attribute_row(a)} for i, a in enumerate(release.attributes, start=1)],
    )
    _rows.insert(engine, "release_object", [{**identity, **_object_row(made)} for made in release.objects])
    save_comparison(engine, release)
    save_choices(engine, release)


def save_rounds(engine: Engine, release: Release, rounds: Sequence[tuple[Sequence[int], int]]) -> None:
    """Records the rounds of a local recoding: the level of each quasi-identifier, and the number of released rows."""
    columns = [attribute.name for attribute in release.attributes if attribute.role is Role.QUASI_IDENTIFIER]
    _rows.insert(
        engine,
        "release_round",
        [
            {"release_id": release.release_id, "round": number, "attribute": name, "level": level, "rows": rows}
            for number, (levels, rows) in enumerate(rounds, start=1)
            for name, level in zip(columns, levels, strict=True)
        ],
    )


def _rounds(rows: Sequence[_RoundRow]) -> dict[str, tuple[int, ...]]:
    """Returns, by folded name, the levels that each quasi-identifier has in the rounds of a local recoding; empty if
    there are no rounds.
    """
    levels_of: dict[str, set[int]] = {}
    for row in rows:
        levels_of.setdefault(fold(row.attribute), set()).add(row.level)
    return {name: tuple(sorted(levels)) for name, levels in levels_of.items()}


def _schema_and_name(name: QualifiedName) -> tuple[str, str]:
    if len(name.parts) != 2:
        raise InternalError(f"a release is recorded by its schema and its name, not as {name}")
    return name.parts[0], name.parts[1]


def _attribute_row(attribute: ReleaseAttribute) -> dict[str, object]:
    return {
        "attribute": attribute.name,
        "role": attribute.role.value,
        "hierarchy": attribute.hierarchy,
        "level": attribute.level,
        "height": attribute.height,
        "weight": attribute.weight,
        "fragment": attribute.fragment,
        "source": attribute.source,
        "reading": attribute.reading.value,
    }


def _object_row(made: ReleaseObject) -> dict[str, object]:
    schema, name = _schema_and_name(made.name)
    named = {"kind": made.kind, "schema_name": schema, "object_name": name}
    return {**named, "fragment": made.fragment, "digest": made.digest}


def listing(engine: Engine) -> list[tuple[QualifiedName, Release | None]]:
    """Returns all releases with their names, from the oldest on; None stands for a release whose catalog rows cannot be
    read.
    """
    if not migrations.ready(engine):
        return []
    rows = _rows.read(engine, "release", _ReleaseRow, order=("created_at",))
    return [(row.name, _readable(engine, row)) for row in rows]


def _readable(engine: Engine, row: _ReleaseRow) -> Release | None:
    try:
        return _release(engine, row)
    except (CatalogError, ArithmeticError, LookupError, TypeError, ValueError):
        # Its rows were written by hand; each statement on this release reports what is wrong with them.
        return None


def find(engine: Engine, name: QualifiedName, current_schema: str = "main") -> Release | None:
    """Returns the release of this name, or None; a bare name is looked up in `current_schema`.

    Raises CatalogError if the rows of the release have changed since they were written.
    """
    if not migrations.ready(engine):
        return None
    schema_and_name = _located(engine, name, current_schema)
    if schema_and_name is None:
        return None
    rows = _rows_by_name(engine, schema_and_name)
    if len(rows) > 1:
        raise CatalogError(
            f"release {name} has {len(rows)} rows in anon.release", hint="delete all of these rows but one"
        )
    return _release(engine, rows[0]) if rows else None


def _rows_by_name(engine: Engine, schema_and_name: tuple[str, str]) -> list[_ReleaseRow]:
    by_name = dict(zip(("schema_name", "object_name"), schema_and_name, strict=True))
    return _rows.read(engine, "release", _ReleaseRow, by_name)


def _located(engine: Engine, name: QualifiedName, current_schema: str) -> tuple[str, str] | None:
    """Returns the schema and the object's own name; None for a name in another database, which has its own catalog."""
    *rest, object_name = name.parts
    if len(rest) == 2 and fold(rest.pop(0)) != fold(current_database(engine)):
        return None
    return (rest[0] if rest else current_schema), object_name


def load(engine: Engine, name: QualifiedName, current_schema: str = "main") -> Release:
    """Returns the release of this name like `find`. Raises UserError, with similar names, if there is none."""
    release = find(engine, name, current_schema)
    if release is not None:
        return release
    schema_and_name = _located(engine, name, current_schema)
    if schema_and_name is not None and streams.find(engine, QualifiedName(schema_and_name)) is not None:
        raise UserError(
            f"{name} is a stream, not a release",
            hint=f"ADVANCE {name}, CHECK {name} and DROP ANONYMIZED STREAM {name} apply to streams; the stream's "
            f"table is read like any other, COPY {name} TO 'file.parquet'",
        )
    others = _rows.read_names(engine, "release", "object_name") if migrations.ready(engine) else []
    near = _of_policy(engine, name) or nearest(name.name, others)
    raise UserError(f"there is no release {name}", hint=near or "make one with CREATE ANONYMIZED TABLE or VIEW")


def made_by(engine: Engine, policy: str) -> list[QualifiedName]:
    """Returns the names of a policy's releases, from the oldest on."""
    return [release for release, of in listing(engine) if of is not None and same_name(of.policy, policy)]


def _of_policy(engine: Engine, name: QualifiedName) -> str | None:
    """Returns a hint if a policy has the name: the policy's releases, or how to make a release. Returns None for any
    other name.
    """
    if not migrations.ready(engine) or fold(name.name) not in map(fold, _rows.read_names(engine, "policy", "policy")):
        return None
    policy = typed_name(name.name)
    made = [str(release) for release in made_by(engine, name.name)]
    if not made:
        return f"{policy} is a policy: make a release of it with CREATE ANONYMIZED TABLE name AS POLICY {policy}"
    return f"{policy} is a policy; its release{'s are' if len(made) > 1 else ' is'} {', '.join(made)}"


def delete(engine: Engine, release_id: str) -> None:
    """Deletes a release from the catalog, with its frozen inputs and its measurements. The caller drops its objects."""
    if migrations.ready(engine):
        for table in _TABLES:
            _rows.delete(engine, table, {"release_id": release_id})


def narrow(engine: Engine, release: Release, column: str) -> None:
    """Records that a release lost one column: updates its policy, fingerprints and attributes.

    The caller calls `seal` afterwards.
    """
    identity = {"release_id": release.release_id}
    for table in ("release_attribute", "release_choice"):
        _rows.delete(engine, table, {**identity, "attribute": column})
    changed = [release.policy_fingerprint, release.policy_json, release.content_fingerprint, release.release_id]
    engine.run(sql_file("catalog", "queries", "narrow_release"), changed)


def save_measurements(engine: Engine, release: Release, measurements: Sequence[Measurement]) -> None:
    """Adds measurements of a release as one check; earlier checks stay."""
    head = {
        "release_id": release.release_id,
        "release": release.name.name,
        "measured_at": datetime.now(UTC).replace(tzinfo=None),
    }
    _rows.insert(engine, "measurement", [{**head, **asdict(measurement)} for measurement in measurements])


def save_figures(engine: Engine, release: Release, figures: Sequence[tuple[str, str | None, float | None]]) -> None:
    """Adds figures, each with its attribute and its value; earlier figures of the same name are deleted."""
    for figure in dict.fromkeys(name for name, _, _ in figures):
        _rows.delete(engine, "release_figure", {"release_id": release.release_id, "figure": figure})
    names = ("figure", "attribute", "value")
    rows = [{"release_id": release.release_id, **dict(zip(names, figure, strict=True))} for figure in figures]
    _rows.insert(engine, "release_figure", rows)


def measurements(engine: Engine, release: Release) -> list[Measurement]:
    """Returns the measurements of a release's last check, in the order of its questions."""
    identity = {"release_id": release.release_id}
    rows = _rows.read(engine, "measurement", _MeasurementRow, identity)
    last = max((row.measured_at for row in rows), default=None)
    return [
        Measurement(row.question, row.attribute, row.required, row.achieved, row.satisfied)
        for row in rows
        if row.measured_at == last
    ]


def _release(engine: Engine, row: _ReleaseRow) -> Release:
    name = row.name
    require_sealed(engine, name, row.release_id, row.digest)
    try:
        if row.kind not in ("view", "table"):
            raise BadJson(f"{row.kind!r} is not a kind of release")
        arguments = arguments_from_json(loads(row.method_arguments))
        sources = read_sources(row.sources)
        parts = _rows.Parts(engine, sql_file("catalog", "queries", "release_parts"), _PART, row.release_id)
        attributes = parts.of("attribute", _AttributeRow)
        has_levels = any(attribute.level is not None for attribute in attributes)
        rounds = _rounds(parts.of("round", _RoundRow)) if has_levels else {}
        published = tuple(_attribute(attribute, rounds) for attribute in attributes)
        comparison = comparison_of(parts.of("comparison", ComparisonRow))
        choices = tuple(parts.of("choice", ChoiceList))
    except ValueError as problem:
        raise CatalogError(
            f"release {name}: its rows in the catalog cannot be read: {problem}",
            hint=f"the rows were edited by hand: delete them from the catalog: {forgetting(name)}",
        ) from None
    return Release(
        name=name,
        method_arguments=arguments,
        attributes=published,
        objects=tuple(map(_object, parts.of("object", _ObjectRow))),
        sources=sources,
        comparison=comparison,
        choices=choices,
        **{column: getattr(row, column) for column in _PLAIN},
    )


def _object(row: _ObjectRow) -> ReleaseObject:
    return ReleaseObject(row.kind, QualifiedName((row.schema_name, row.object_name)), row.fragment, row.digest)


def _attribute(row: _AttributeRow, rounds: Mapping[str, tuple[int, ...]]) -> ReleaseAttribute:
    return ReleaseAttribute(
        name=row.attribute,
        role=Role(row.role),
        hierarchy=row.hierarchy,
        level=row.level,
        height=row.height,
        weight=Decimal(row.weight),
        fragment=row.fragment,
        source=row.source,
        reading=Reading(row.reading),
        rounds=rounds.get(fold(row.attribute), ()),
    )
