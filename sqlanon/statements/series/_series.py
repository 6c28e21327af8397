"""Begins series, and checks them against their ledger."""

from __future__ import annotations

import secrets

from sqlglot import exp

from sqlanon.catalog import migrations, policies
from sqlanon.catalog import series as catalog
from sqlanon.catalog.ledger import require_ledger
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Measurement, Reading, Release
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, PrivacyViolation, UserError, about
from sqlanon.release.existing.classes import classes_of
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.republication.series.ledger import bucket_rows, bucket_values, class_rows, class_values
from sqlanon.republication.series.respondents import (
    attributes_of_rows,
    key_check,
    key_of,
    named_columns,
    named_row,
    shown_columns,
    unknown_rows,
)
from sqlanon.republication.series.together import measured_together, with_names
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.source import has_same_rows, own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.statements.series.create_series import CreateSeries


def create_series(engine: Engine, statement: CreateSeries) -> Series | None:
    """Begins a series of a policy; returns None if IF NOT EXISTS found one.

    Raises PolicyError for an existing series, for a policy without an ENTITY, and for arguments that a requirement
    refuses, and UserError for a missing key and an unknown requirement.
    """
    with engine.transaction():
        migrations.install(engine)
        if catalog.exists(engine, statement.name):
            if statement.if_not_exists:
                return None
            raise PolicyError(
                f"the series {statement.name} exists already",
                hint="write IF NOT EXISTS, or DROP SERIES first, which forgets who was in which release",
                part=("name",),
            )
        with about("policy"):
            policy = policies.load(engine, statement.policy)
            require_one_table(policy, "a series", "its ledger says in which one class a respondent was")
        if policy.entity is None:
            raise PolicyError(
                f"{policy} has no ENTITY, so respondents cannot be recognized from one release to the next",
                hint="name the column of the respondents: ALTER POLICY ... ALTER COLUMN column ENTITY",
                part=("policy",),
            )
        requirements = tuple(map(with_names, statement.requirements))
        if requirements and not any(policy.having(Role.SENSITIVE)):
            raise PolicyError(
                f"{policy} has no SENSITIVE column, which the requirements of a series need", part=("policy",)
            )
        entity_type, attributes = _columns(engine, policy)
        with about("key"):
            key = key_of(statement.name, statement.key_variable)
        series = Series(
            series_id=secrets.token_hex(16),
            name=statement.name,
            policy=policy.name,
            entity=policy.entity.name,
            entity_type=entity_type,
            attributes=attributes,
            key_variable=statement.key_variable,
            key_check=key_check(key),
            requirements=requirements,
        )
        catalog.save(engine, series)
    return series


def _columns(engine: Engine, policy: Policy) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns the type of a policy's respondents, and its sensitive attributes with their types, in the current
    source.
    """
    with TempTables(engine) as temp:
        source = policy_source(engine, policy, temp, copy=False)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
    assert bound.entity is not None
    return bound.entity.published_type, named_columns(bound)


def check_series(engine: Engine, release: Release, name: str) -> list[Measurement]:
    """Measures the disclosure by all releases of a series together, as recorded in the ledger; `release` is one of
    them.

    Raises UserError if the release is not in the series, CatalogError if the ledger was changed, and PrivacyViolation
    if the release's classes differ from the ledger.
    """
    require_own_columns(engine, release)
    with engine.transaction(), TempTables(engine) as temp:
        with about("series"):
            series = catalog.load(engine, name)
            known = {made.release_id: made for made in series.releases}
            if release.release_id not in known:
                listed = ", ".join(str(made.name) for made in series.releases) or "none yet"
                raise UserError(f"{release.name} is not in {series}", hint=f"its releases are: {listed}")
        require_ledger(engine, series)
        _require_compared(engine, release, series)
        _require_same_classes(engine, release, series, known[release.release_id].position, temp)
        return measured_together(engine, series, temp)


def _require_compared(engine: Engine, release: Release, series: Series) -> None:
    """Raises PolicyError for a release whose rows cannot be compared with those of the other releases."""
    classes = classes_of(engine, release)
    if classes.values or not series.requirements:
        return
    types = {fold(name): kind for name, kind in classes.columns}
    columns = [(each, types.get(fold(each.name), "VARCHAR")) for each in policy_of(release).attributes]
    if problem := unknown_rows(series, columns):
        why, hint = problem
        raise PolicyError(
            f"what {release.name} tells with the other releases of {series} is not known: {why}",
            hint=hint,
            part=("series",),
        )


def _require_same_classes(engine: Engine, release: Release, series: Series, position: int, temp: TempTables) -> None:
    """Raises PrivacyViolation unless each class of a release has the same numbers of rows and of values as in the
    ledger.
    """
    of_row = attributes_of_rows(engine, series).get(position)
    rows, values = _published(engine, release, series, temp, of_row)
    of_release = and_(column("series_id").eq(literal(series.series_id)), column("position").eq(literal(position)))
    sizes = [
        select(column("class_no"), f.count(), of=table, group_by=[column("class_no")])
        for table in (relation(rows), relation(("anon", "series_member")))
    ]
    compared: list[tuple[exp.Query, exp.Query]] = [(sizes[0], sizes[1].where(of_release))]
    if values is not None:
        parts = [column(name) for name in ("class_no", "attribute", "value", "n")]
        written = select(*parts, of=subquery(query_file("ledger", "class_value"), "of_class"), where=[of_release])
        compared.append((select(*parts, of=subquery(values, "counted")), written))
    if not all(has_same_rows(engine, published, known) for published, known in compared):
        raise PrivacyViolation(
            f"{release.name} does not show the classes that it had when it was made in {series}", hint="create it again"
        )


def _published(
    engine: Engine, release: Release, series: Series, temp: TempTables, of_row: str | None
) -> tuple[str, exp.Query | None]:
    """Makes a table with the class_no of each row of a release; returns it with the query of each class's values and
    their counts.

    If `of_row`, the ledger has whole rows as an attribute, and the query counts them, too. The query is None for a
    release without values of classes.
    """
    classes = classes_of(engine, release)
    objects = {made.fragment or "": relation(own_object(engine, made.name)) for made in release.published}
    if not classes.values:
        keys = [b.column for b in classes.bound.quasi_identifiers]
        columns = shown_columns(release, classes.columns) if of_row else ()
        rows = class_rows(objects[""], keys, series.attributes, of_row=columns)
        members = temp.table("series_row", rows)
        of_rows = [named_row(columns)] if columns else []
        return members, class_values(members, [*(name for name, _ in series.attributes), *of_rows])
    first = release.published[0].fragment
    [bucket] = [a.name for a in release.attributes_of(first) if a.reading is Reading.BUCKET]
    people = objects[first or ""] if classes.bucket_rows is None else classes.bucket_rows.people(objects)
    members = temp.table("series_row", bucket_rows(people, bucket))
    kinds = {fold(name): kind for name, kind in series.attributes}
    attributes = [(name, kinds[fold(name)]) for name in classes.values]
    return members, bucket_values(objects, classes.values, attributes)
