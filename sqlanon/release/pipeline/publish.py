"""Stage 9: renames the candidate and records it in the catalog. The caller's transaction makes both a single step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from sqlanon import __version__
from sqlanon.catalog import releases
from sqlanon.catalog.choice_lists import of_other_lists
from sqlanon.catalog.exports import KnownReleases, seal_beside
from sqlanon.catalog.live_views import view_digest
from sqlanon.catalog.releases import seal, table_digest
from sqlanon.catalog.snapshot import release_json
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import WithNoise
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Measurement, Reading, Release, ReleaseAttribute, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PolicyError
from sqlanon.release.existing.frozen_inputs import forget_coarser, forget_labels, region_tables
from sqlanon.release.existing.objects import column_types as released_types
from sqlanon.release.existing.objects import fingerprint_of_tables, make_checks, make_secure_view, own_queries
from sqlanon.release.pipeline.kept_method import of_method
from sqlanon.release.pipeline.materialize import helper_columns, hidden_of
from sqlanon.release.pipeline.stages import Compiled, Materialized, Published, Remarked
from sqlanon.release.remarks.wording import of_lists, of_types
from sqlanon.republication.series.ledger import LedgerRows, bucket_rows, bucket_values, class_rows, class_values, enter
from sqlanon.republication.series.respondents import Respondents, in_order, named_row, row_columns
from sqlanon.sources.column_types import column_types
from sqlanon.sources.requirements import is_nested
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build.expressions import is_not_null
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import extend
from sqlanon.sql.build.render import drop_column, drop_object, rename_table
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.release.multi_table_query import PublishedColumn, TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery

# The most nodes that a BIGINT of the catalog can count; a lattice with more of them is recorded with this number.
_MOST_NODES = 2**63 - 1


# The columns of a release as the catalog records them.


def published_attributes(compiled: Compiled) -> tuple[ReleaseAttribute, ...]:
    """Returns the release's columns; the columns that determine its classes are its quasi-identifiers."""
    query = compiled.query
    if isinstance(query, TablesQuery):
        return _attributes_of(query)
    known = {b.column: b for b in compiled.bound.policy.published}
    return tuple(_attribute(name, known.get(name), query, compiled) for name in query.columns)


def _attribute(name: str, b: BoundAttribute | None, query: ReleaseQuery, compiled: Compiled) -> ReleaseAttribute:
    """Returns a column of a release that is one table or view; `b` is its attribute, None for an added column."""
    role = b.role if b else Role.QUASI_IDENTIFIER
    if role is Role.QUASI_IDENTIFIER and name not in query.keys:
        role = Role.INSENSITIVE
    if b and b.attribute.is_shifted:
        # Figures and attacks must not treat its dates as those of the source.
        role = Role.INSENSITIVE
    levels = compiled.levels_of(name)
    return ReleaseAttribute(
        name=name,
        role=role,
        hierarchy=_hierarchy(b),
        level=levels[0] if levels else None,
        height=b.height if b and levels else None,
        weight=b.attribute.weight if b else Decimal(1),
        reading=_reading(name, b, compiled.readings),
        rounds=tuple(sorted(set(levels))) if compiled.rounds else (),
    )


def _reading(name: str, bound: BoundAttribute | None, readings: Mapping[str, Reading]) -> Reading:
    """Returns the reading of a column. Raises InternalError if the method does not give a reading to a
    quasi-identifier.
    """
    if bound is not None and bound.attribute.pseudonym:
        return Reading.TOKEN
    if name in readings:
        return readings[name]
    if bound is None or bound.role is Role.QUASI_IDENTIFIER:
        raise InternalError(f"the method does not say how the column {name} is read; nothing was published")
    return Reading.LABEL if bound.attribute.is_coarse else Reading.EXACT


def _hierarchy(bound: BoundAttribute | None) -> str | None:
    """Returns the name of the hierarchy whose labels a column shows, or that defines the distances of its values."""
    if bound is not None and bound.attribute.is_coarse:
        return bound.attribute.hierarchy
    return bound.hierarchy.name if bound and bound.hierarchy else None


def _reading_of(part: PublishedColumn) -> Reading:
    """Returns the reading that a method gives a column; for a coarse column, a label in place of a value."""
    is_label = part.bound is not None and part.bound.attribute.is_coarse and part.reading is Reading.EXACT
    return Reading.LABEL if is_label else part.reading


def _attributes_of(query: TablesQuery) -> tuple[ReleaseAttribute, ...]:
    return tuple(
        ReleaseAttribute(
            name=part.name,
            role=part.role,
            hierarchy=_hierarchy(part.bound),
            level=part.level,
            height=part.bound.height if part.bound and part.level is not None else None,
            weight=part.bound.attribute.weight if part.bound else Decimal(1),
            fragment=table.name,
            source=part.bound.column if part.bound and part.bound.column != part.name else None,
            reading=_reading_of(part),
        )
        for table in query.tables
        for part in table.columns
    )


def publish_stage(remarked: Remarked) -> Published:
    """Renames the candidate to its target, and records the release with its measurements."""
    made, report = remarked.checked.materialized, remarked.checked.report
    bound, query = made.bound, made.query
    engine, requested, target = bound.engine, bound.resolved.requested, qualified(bound.engine, bound.create.name)
    ledger_rows = None if bound.respondents is None else _ledger_rows(made, bound.respondents)
    objects = [ReleaseObject(bound.create.kind, each.name, each.fragment) for each in made.candidates]
    if isinstance(query, ReleaseQuery) and bound.is_live:
        objects += _publish_view(made, query)
        objects = [_with_view_digest(engine, each) for each in objects]
    else:
        for helper in helper_columns(query).values():
            engine.run(drop_column(made.candidates[0].stands, helper))
        for each in made.candidates:
            engine.run(rename_table(each.stands, each.name.name))
        if isinstance(query, ReleaseQuery):
            forget_labels(engine, query.release_id, query.recodings)
            if any(SUPERSET in requirement.reads for requirement in bound.requirements):
                forget_coarser(engine, query.release_id, bound.policy, own_object(engine, made.candidates[0].name))
    release = _release(made, target, tuple(objects))
    releases.save(engine, release)
    releases.save_rounds(engine, release, made.compiled.rounds)
    # The loss that was minimized is a measurement without a required value, named after the loss's file.
    loss = Measurement(made.compiled.choice.loss_name, None, None, release.loss, None)
    releases.save_measurements(engine, release, (*report.measurements, loss))
    if bound.respondents is not None and ledger_rows is not None:
        enter(bound.respondents, release, ledger_rows)
    if requested.alone:
        seal(engine, release.release_id)
        known = KnownReleases([], frozenset())
    else:
        known = seal_beside(engine, release.release_id)
    now = released_types(engine, release) if requested.former else {}
    lists = of_lists(of_other_lists(engine, release, requested.replaced))
    changes = (*of_method(bound), *of_types(requested.former, now), *lists)
    return Published(remarked, release, known, (*remarked.remarks, *changes))


def _ledger_rows(made: Materialized, respondents: Respondents) -> LedgerRows:
    """Returns the rows to add to the ledger of the series for a release.

    They are read from the candidate, which has respondents only until it is published.
    """
    bound, query, entity = made.bound, made.query, respondents.entity
    sensitive = [(b.column, b.published_type) for b in in_order(respondents.series, bound.policy)]
    if isinstance(query, ReleaseQuery):
        return _rows_of_classes(made, query, sensitive, (query.respondent, entity.published_type))
    helper = helper_columns(query).get(entity.column)
    buckets = [part.name for part in query.tables[0].columns if part.reading is Reading.BUCKET]
    if helper is None or not buckets:
        # Only a method of another package: our own name the respondent of each row.
        raise PolicyError(
            f"{bound.create.method.name} publishes tables whose rows cannot be assigned to respondents, which "
            f"{respondents.series} requires",
            hint="make a release of one table: METHOD generalization or mondrian",
            part=("series",),
        )
    return _rows_of_buckets(made, query, sensitive, buckets[0], (helper, entity.published_type))


def _rows_of_classes(
    made: Materialized, query: ReleaseQuery, sensitive: Sequence[tuple[str, str]], respondent: tuple[str, str]
) -> LedgerRows:
    """Returns the ledger rows of a release that is one table or view; `sensitive` and `respondent` are columns with
    their types.
    """
    columns = row_columns(made.bound.policy)
    members = class_rows(relation(made.candidates[0].stands), query.keys, sensitive, respondent, columns)
    table = made.bound.temp.table("series_row", members)
    of_row = named_row(columns) if columns else None
    attributes = [name for name, _ in sensitive] + ([of_row] if of_row else [])
    return LedgerRows(table, class_values(table, attributes), of_row)


def _rows_of_buckets(
    made: Materialized,
    query: TablesQuery,
    sensitive: Sequence[tuple[str, str]],
    bucket: str,
    respondent: tuple[str, str],
) -> LedgerRows:
    """Returns the ledger rows of a release of several tables; the first table has the columns `bucket` and
    `respondent`.
    """
    engine = made.bound.engine
    members = bucket_rows(relation(made.candidates[0].stands), bucket, respondent)
    if query.bucket_rows is not None and query.bucket_rows.counterfeits is not None:
        # Counterfeits belong to nobody; their stated number was checked with the candidate.
        extend(members, where=[is_not_null(column(respondent[0]))])
    table = made.bound.temp.table("series_row", members)
    tables = {each.fragment or "": relation(own_object(engine, each.name)) for each in made.candidates}
    return LedgerRows(table, bucket_values(tables, query.values, sensitive))


def _publish_view(made: Materialized, query: ReleaseQuery) -> list[ReleaseObject]:
    """Publishes the view and returns the other objects that it needs. A rename loses SECURE, so the view is made
    again.
    """
    engine, candidate = made.bound.engine, made.candidates[0]
    engine.run(drop_object("view", candidate.stands))
    body = query.select()
    make_secure_view(engine, own_object(engine, candidate.name), body)
    read = [name for name, _ in own_queries(query.release_id, made.bound.resolved.policy)]
    checks = make_checks(engine, query, body, tuple(hidden_of(made.compiled)))
    tables = region_tables(query.placed) if query.placed else []
    region_objects = (ReleaseObject("table", name, digest=table_digest(engine, name)) for name in tables)
    return [*(ReleaseObject("view", name) for name in (*read, *checks)), *region_objects]


def _with_view_digest(engine: Engine, made: ReleaseObject) -> ReleaseObject:
    return replace(made, digest=view_digest(engine, made.name)) if made.kind == "view" else made


def _is_plain(query: ReleaseQuery | TablesQuery) -> bool:
    """Whether no column of the release has a nested type, because each column has plain values of the source or
    labels.
    """
    if not isinstance(query, ReleaseQuery) or query.placed is not None:
        return False
    return not any(is_nested(attribute.published_type) for attribute in query.policy.published)


def _release(made: Materialized, target: QualifiedName, objects: tuple[ReleaseObject, ...]) -> Release:
    bound, resolved, choice = made.bound, made.bound.resolved, made.compiled.choice
    searched, create = choice.searched, resolved.create
    names = [each.name for each in made.candidates]
    plain = _is_plain(made.query)
    content = None if bound.is_live else fingerprint_of_tables(bound.engine, names, plain=plain)
    now = datetime.now(UTC).replace(tzinfo=None)
    return Release(
        release_id=made.query.release_id,
        name=target,
        kind=create.kind,
        policy=resolved.policy.name,
        policy_fingerprint=bound.policy.fingerprint,
        policy_json=release_json(
            resolved.policy,
            tuple(resolved.hierarchies.values()),
            column_types(bound.policy),
            resolved.other.release_id if resolved.other else None,
            resolved.series.name if resolved.series else None,
        ),
        method=create.method.name,
        method_arguments=create.method.arguments,
        source_rows=None if isinstance(choice, WithNoise) else choice.rows,
        released_rows=made.released_rows,
        suppressed_rows=choice.suppressed,
        loss=float(choice.loss),
        nodes=min(searched.nodes, _MOST_NODES) if searched else None,
        nodes_checked=searched.checked if searched else None,
        content_fingerprint=content,
        engine_version=bound.engine.version(),
        sqlanon_version=__version__,
        created_at=now,
        attributes=published_attributes(made.compiled),
        objects=objects,
        nodes_pruned=min(searched.pruned, _MOST_NODES) if searched else None,
        proven_optimal=searched.proven if searched else None,
        loss_bound=None if not searched or searched.proven or searched.least is None else float(searched.least),
        loss_name=choice.loss_name,
        sources=bound.sources,
        choices=made.choices,
        comparison=bound.kept_comparison or (bound.comparison and replace(bound.comparison, compared_at=now)),
    )
