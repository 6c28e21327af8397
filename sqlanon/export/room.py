"""Copies releases, including live views, into a new DuckDB file that contains nothing else, and checks the copies.

As in EXPORT, the file is opened again on a separate connection without external access, and the requirements are
recomputed from the rows in it. A live view is copied through its guard.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlglot import exp

from sqlanon.assess.check import check_release
from sqlanon.catalog import releases as catalog
from sqlanon.catalog.live_views import require_own_views
from sqlanon.catalog.releases import require_own_rows
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Measurement, Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DUCKDB_LOGS, DuckDBEngine, open_database
from sqlanon.engines.udfs import registered
from sqlanon.errors import EngineError, PrivacyViolation, UserError
from sqlanon.export.formats.base import require_no_log, seal
from sqlanon.export.verify import FROZEN, frozen_rows, measured_beside
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.registry import require_kept
from sqlanon.release.existing.objects import content_view, fingerprint_of_tables, require_own_columns
from sqlanon.release.existing.statistics import AnswerableRequirements, answerable_by
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import identifier, relation
from sqlanon.sql.build.render import create_table, shuffled
from sqlanon.sql.build.sql_files import sql_file

_UNSHOWN = "a room cannot be made"


def fill_room(engine: Engine, file: Path, releases: Sequence[Release]) -> None:
    """Writes the published objects of releases, under their schemas and names, into a new file.

    Rows are in a random order from the operating system. Raises PrivacyViolation for a copy that violates a requirement
    or that has rows other than those that were released, CatalogError for a release or a view that was changed, and
    UserError for a release or a view that cannot be read; the message has no value of a row. The caller removes the
    file after an error.
    """
    for release in releases:
        require_own_rows(engine, release)
        require_own_views(engine, release)
        require_own_columns(engine, release)
    with _attached(engine, file) as database, engine.transaction(), registered(engine, "random_draw") as draw:
        for schema in sorted({made.name.parts[0] for release in releases for made in release.published} - {"main"}):
            engine.run(exp.Create(kind="SCHEMA", this=exp.Table(db=identifier(schema), catalog=identifier(database))))
        for release in releases:
            with _unread(release):
                for made in release.published:
                    rows = exp.select(exp.Star()).from_(relation(own_object(engine, made.name)))
                    engine.run(create_table(QualifiedName((database, *made.name.parts)), shuffled(rows, draw)))
    for release in releases:
        with _unread(release), _sealed(file) as room:
            _require_checked(engine, room, release)
    with _sealed(file) as room:
        _require_nothing_else(room, file, releases)


@contextmanager
def _attached(engine: Engine, file: Path) -> Iterator[str]:
    """Attaches the new file to the connection; yields its name, which no other database has."""
    name = "sqlanon_room_" + secrets.token_hex(8)
    options = [exp.AttachOption(this=exp.var("READ_WRITE"))]
    attach = exp.Attach(this=exp.Alias(this=exp.Placeholder(), alias=identifier(name)), expressions=options)
    engine.run(attach, [str(file)])
    detach = exp.Detach(this=identifier(name))
    try:
        yield name
    except BaseException:
        with suppress(EngineError):
            engine.run(detach)
        raise
    # This also writes the log into the file and removes it.
    engine.run(detach)


@contextmanager
def _unread(release: Release) -> Iterator[None]:
    """Replaces an error of DuckDB, whose message may quote a value, by an error that names only the release."""
    try:
        yield
    except EngineError:
        raise UserError(
            f"{release.name} cannot be read, so {_UNSHOWN}", hint=f"CHECK {release.name} says why"
        ) from None


@contextmanager
def _sealed(file: Path) -> Iterator[Engine]:
    """Opens the finished file on a separate connection, which reads this file and nothing else."""
    require_no_log(file, DUCKDB_LOGS)
    with closing(open_database(str(file), read_only=True)) as connection:
        engine = DuckDBEngine(connection)
        seal(engine)
        yield engine


def _require_checked(engine: Engine, room: Engine, release: Release) -> None:
    """Raises PrivacyViolation unless the copy of a release in the room meets everything that was required of the
    release.
    """
    _require_types(room, release)
    answerable = answerable_by(engine, release)
    measurements = [
        *_structure(engine, room, release, answerable),
        *_answered(engine, room, release, answerable),
        *_hidden(engine, room, release, answerable),
    ]
    if not measurements:
        raise PrivacyViolation(f"{release.name} was made without a requirement, so {_UNSHOWN}")
    for measurement in measurements:
        if measurement.is_violated:
            of = f" of {measurement.attribute}" if measurement.attribute else ""
            raise PrivacyViolation(
                f"{release.name} does not meet {measurement.question}{of}: its copy reaches {measurement.achieved}, "
                f"so {_UNSHOWN}",
                hint=f"CHECK {release.name} measures it; make it again",
            )


def _require_types(room: Engine, release: Release) -> None:
    """Raises PrivacyViolation for columns other than those that were released, and for an ENUM, because its dictionary
    may contain values of withheld rows.
    """
    for made in release.published:
        columns = room.columns(exp.select(exp.Star()).from_(relation(own_object(room, made.name))))
        if [name for name, _ in columns] != [attribute.name for attribute in release.attributes_of(made.fragment)]:
            raise PrivacyViolation(f"{made.name} does not have the columns that were released, so {_UNSHOWN}")
        for name, kind in columns:
            if without_enums(kind) != kind:
                raise PrivacyViolation(
                    f"the column {name} of {made.name} is an ENUM, whose dictionary may hold withheld values, "
                    f"so {_UNSHOWN}",
                    hint="make the release again",
                )


def _structure(
    engine: Engine, room: Engine, release: Release, answerable: AnswerableRequirements
) -> Sequence[Measurement]:
    """Measures the promises of the method about the tables together. Raises PrivacyViolation unless the tables keep
    them.
    """
    published = PublishedTables(
        engine=room,
        policy=policy_of(release),
        tables={made.fragment or "": relation(own_object(room, made.name)) for made in release.published},
        values=answerable.values,
        suppressed=release.suppressed_rows,
        recorded=catalog.measurements(engine, release),
    )
    return require_kept(release.method, release.method_arguments, published, release.name, "served")


def _answered(
    engine: Engine, room: Engine, release: Release, answerable: AnswerableRequirements
) -> Iterator[Measurement]:
    """Yields the measurements of the requirements that the rows in the room answer."""
    sources: Mapping[str | None, exp.Table | exp.Subquery] = {
        made.fragment: relation(own_object(room, made.name)) for made in release.published
    }
    frozen = {table: frozen_rows(engine, table, release.release_id) for table in FROZEN}
    for _, measurement in measured_beside(room, answerable, frozen, sources):
        yield measurement


def _hidden(
    engine: Engine, room: Engine, release: Release, answerable: AnswerableRequirements
) -> Iterator[Measurement]:
    """Yields the measurements of requirements on data that no released row shows: respondents, joins with other
    releases, and payments from a budget.

    The measurements are those of the release itself, because the room has a copy of its rows. Raises PrivacyViolation
    for other rows, because a snapshot must have the rows that were checked when it was made.
    """
    needs_release = bool(answerable.hidden) or policy_of(release).joined is not None or release.has_noise
    expected = release.content_fingerprint
    if release.kind == "view" and answerable.hidden:
        content = relation(own_object(engine, content_view(release.release_id)))
        expected = str(engine.rows(exp.select(exp.Star()).from_(content))[0][0])
    if expected is not None and fingerprint_of_tables(room, [made.name for made in release.published]) != expected:
        raise PrivacyViolation(
            f"{release.name} does not have the rows that were checked when it was made, so {_UNSHOWN}",
            hint="create it again",
        )
    if needs_release:
        yield from check_release(engine, release).measurements


def _require_nothing_else(room: Engine, file: Path, releases: Sequence[Release]) -> None:
    """Raises PrivacyViolation if the file contains anything except the tables of the releases and their schemas."""
    tables = {("table", *made.name.parts) for release in releases for made in release.published}
    schemas = {("schema", schema, schema) for _, schema, _ in tables if schema != "main"}
    contents = {(kind, schema, name) for schema, kind, name in room.rows(sql_file("statements", "database_contents"))}
    if contents != tables | schemas:
        raise PrivacyViolation(f"{file.name} would hold something else than the granted releases, so {_UNSHOWN}")
