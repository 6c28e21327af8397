"""Stage 9: the candidate takes its name, and the catalog remembers it. The caller's transaction makes it one step."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlanon import __version__
from sqlanon.catalog import releases
from sqlanon.catalog.digests import seal, table_digest
from sqlanon.catalog.exports import seal_beside
from sqlanon.catalog.snapshot import release_json
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import PolicyError
from sqlanon.inputs.column_types import column_types
from sqlanon.inputs.requirements import is_nested
from sqlanon.inputs.source import own_object
from sqlanon.pipeline.attributes import published_attributes
from sqlanon.pipeline.candidate import Candidate
from sqlanon.pipeline.materialize import helper_columns, hidden_of, target_name
from sqlanon.pipeline.state import State, need
from sqlanon.releases.companion_views import make_checks, own_queries
from sqlanon.releases.content import content_fingerprint, fingerprint_of_tables
from sqlanon.releases.frozen_inputs import forget_labels
from sqlanon.releases.kept_regions import region_tables
from sqlanon.releases.secure_views import make_secure_view
from sqlanon.series.columns import in_order
from sqlanon.series.enter import enter
from sqlanon.series.ledger import LedgerRows, bucket_rows, bucket_values, class_rows, class_values
from sqlanon.series.row_columns import named_row, row_columns
from sqlanon.sqlgen.build.ddl import drop_column, drop_object, rename_table
from sqlanon.sqlgen.build.expressions import is_not_null
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["content_fingerprint", "publish_stage"]


def publish_stage(state: State) -> State:
    """Renames the candidate to its target and records the release with its measurements."""
    engine, query, target = state.engine, state.compiled, target_name(state)
    ledger_rows = _ledger_rows(state)
    objects = [ReleaseObject(state.create.kind, made.name, made.fragment) for made in state.candidates]
    if state.create.kind == "view":
        objects += _publish_view(state, state.one_query, state.candidates[0])
    else:
        for helper in helper_columns(query).values():
            engine.run(drop_column(state.candidates[0].stands, helper))
        for made in state.candidates:
            engine.run(rename_table(made.stands, made.name.name))
        if isinstance(query, ReleaseQuery):
            forget_labels(engine, query.release_id, query.recodings)
    release = _release(state, target, tuple(objects))
    releases.save(engine, release)
    releases.save_rounds(engine, release, state.recoded.rounds if state.recoded else ())
    releases.save_measurements(engine, release, (*need(state.report).measurements, _loss(release)))
    if ledger_rows is not None:
        enter(need(state.respondents), release, ledger_rows)
    if state.alone:
        seal(engine, release.release_id)
        return state.having(release=release)
    return state.having(release=release, known=seal_beside(engine, release.release_id))


def _ledger_rows(state: State) -> LedgerRows | None:
    """What the ledger of its series is to have of a release, if it has one.

    The candidate shows respondents only until it is published.
    """
    if state.series is None:
        return None
    query, bound, scratch = state.compiled, need(state.bound), state.scratch
    entity = need(bound.entity)
    helper, rows = helper_columns(query).get(entity.column), relation(state.candidates[0].stands)
    sensitive = [(b.column, b.published_type) for b in in_order(state.series, bound)]
    if isinstance(query, ReleaseQuery):
        columns = row_columns(bound)
        members = class_rows(rows, query.keys, sensitive, (query.respondent, entity.published_type), columns)
        table = scratch.table("series_row", members)
        of_row = named_row(columns) if columns else None
        attributes = [name for name, _ in sensitive] + ([of_row] if of_row else [])
        return LedgerRows(table, class_values(table, attributes), of_row)
    buckets = [part.name for part in query.tables[0].columns if part.reading is Reading.BUCKET]
    if helper is None or not buckets:
        # That of another package: our own say of each row whose it is.
        raise PolicyError(
            f"{state.create.method.name} does not say whose the rows of its tables are, and {state.series} knows "
            "respondents",
            hint="make a release of one table: METHOD generalization or mondrian",
            part=("series",),
        )
    members = bucket_rows(rows, buckets[0], (helper, entity.published_type))
    if query.bucket_rows is not None and query.bucket_rows.counterfeits is not None:
        # Counterfeits are nobody's rows; that they are as many as is stated was checked with the candidate.
        members.where(is_not_null(column(helper)), copy=False)
    table = scratch.table("series_row", members)
    tables = {made.fragment or "": relation(own_object(state.engine, made.name)) for made in state.candidates}
    return LedgerRows(table, bucket_values(tables, query.values, sensitive))


def _loss(release: Release) -> Measurement:
    """The loss that was minimized, as a measurement without a required value, named after the loss's file."""
    return Measurement(need(release.loss_name), None, None, release.loss, None)


def _publish_view(state: State, query: ReleaseQuery, made: Candidate) -> list[ReleaseObject]:
    """Publishes the view and returns the objects beside it. A rename loses SECURE, so the view is made again."""
    engine = state.engine
    engine.run(drop_object("view", made.stands))
    body = query.select()
    make_secure_view(engine, own_object(engine, made.name), body)
    read = [name for name, _ in own_queries(query.release_id, need(state.policy))]
    checks = make_checks(engine, query, body, tuple(hidden_of(state)))
    tables = region_tables(query.placed) if query.placed else []
    region_objects = (ReleaseObject("table", name, digest=table_digest(engine, name)) for name in tables)
    return [*(ReleaseObject("view", name) for name in (*read, *checks)), *region_objects]


def _is_plain(state: State) -> bool:
    """Whether no column of the release has a nested type: each shows a column of the source, or texts, its labels."""
    query = state.compiled
    if not isinstance(query, ReleaseQuery) or query.placed is not None:
        return False
    return not any(is_nested(bound.published_type) for bound in query.policy.published)


def _release(state: State, target: QualifiedName, objects: tuple[ReleaseObject, ...]) -> Release:
    policy, choice = need(state.policy), need(state.choice)
    searched = choice.searched
    is_view = state.create.kind == "view"
    return Release(
        release_id=state.compiled.release_id,
        name=target,
        kind=state.create.kind,
        policy=policy.name,
        policy_fingerprint=need(state.bound).fingerprint,
        policy_json=release_json(
            policy,
            state.hierarchies,
            column_types(need(state.bound)),
            state.other.release_id if state.other else None,
            state.series.name if state.series else None,
        ),
        method=state.create.method.name,
        method_arguments=state.create.method.arguments,
        source_rows=choice.rows,
        released_rows=state.released_rows,
        suppressed_rows=choice.suppressed,
        loss=float(choice.loss),
        nodes=searched.nodes if searched else None,
        nodes_checked=searched.checked if searched else None,
        content_fingerprint=None
        if is_view
        else fingerprint_of_tables(state.engine, [m.name for m in state.candidates], plain=_is_plain(state)),
        engine_version=state.engine.version(),
        sqlanon_version=__version__,
        created_at=datetime.now(UTC).replace(tzinfo=None),
        attributes=published_attributes(state),
        objects=objects,
        nodes_pruned=searched.pruned if searched else None,
        proven_optimal=searched.proven if searched else None,
        loss_bound=None if not searched or searched.proven or searched.least is None else float(searched.least),
        loss_name=choice.loss_name,
        sources=state.sources,
    )
