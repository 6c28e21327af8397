"""Stage 9: the candidate takes its name, and the catalog remembers it. The caller's transaction makes it one step."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from sqlanon import __version__
from sqlanon.catalog import releases
from sqlanon.catalog.digests import seal, table_digest
from sqlanon.catalog.snapshot import release_json
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release, ReleaseAttribute, ReleaseObject
from sqlanon.domain.report import Measurement
from sqlanon.domain.transformation import Generalization
from sqlanon.domain.values import QualifiedName
from sqlanon.inputs.column_types import column_types
from sqlanon.methods.mondrian.region_tables import region_tables
from sqlanon.pipeline.candidate import Candidate
from sqlanon.pipeline.materialize import helper_columns, hidden_of, target_name
from sqlanon.pipeline.state import State, need
from sqlanon.releases.companion_views import make_checks, own_queries
from sqlanon.releases.content import content_fingerprint, fingerprint_of_tables
from sqlanon.releases.frozen_inputs import forget_labels
from sqlanon.sqlgen.build.ddl import drop_column, drop_object, rename_table, secure_view
from sqlanon.sqlgen.release.multi_table_query import FragmentsQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["content_fingerprint", "publish_stage"]


def publish_stage(state: State) -> State:
    """Renames the candidate to its target and records the release with its measurements."""
    engine, query, target = state.engine, state.compiled, target_name(state)
    objects = [ReleaseObject(state.create.kind, made.name, made.fragment) for made in state.candidates]
    if state.create.kind == "view":
        objects += _publish_view(state, state.one_query, state.candidates[0])
    else:
        for made in state.candidates:
            for helper in helper_columns(query).values():
                engine.run(drop_column(made.stands, helper))
            engine.run(rename_table(made.stands, made.name.name))
        if isinstance(query, ReleaseQuery):
            forget_labels(engine, query.release_id, query.recodings)
    release = _release(state, target, tuple(objects))
    releases.save(engine, release)
    releases.save_rounds(engine, release, _rounds(state))
    releases.save_measurements(engine, release, (*need(state.report).measurements, _loss(release)))
    seal(engine, release.release_id)
    return state.having(release=release)


def _loss(release: Release) -> Measurement:
    """What was minimized, as a question that requires nothing; it is named after its file as the others are."""
    return Measurement(need(release.loss_name), None, None, release.loss, None)


def _publish_view(state: State, query: ReleaseQuery, made: Candidate) -> list[ReleaseObject]:
    """What stands beside the view. A view cannot be renamed into a secure one, so it is made again under its name."""
    engine = state.engine
    engine.run(drop_object("view", made.stands))
    body = query.select()
    engine.run(secure_view(made.name, body))
    read = [name for name, _ in own_queries(query.release_id, need(state.policy))]
    checks = make_checks(engine, query, body, tuple(hidden_of(state)))
    tables = region_tables(query.placed) if query.placed else []
    kept = (ReleaseObject("table", name, digest=table_digest(engine, name)) for name in tables)
    return [*(ReleaseObject("view", name) for name in (*read, *checks)), *kept]


def _release(state: State, target: QualifiedName, objects: tuple[ReleaseObject, ...]) -> Release:
    policy, found = need(state.policy), state.found
    searched = found if isinstance(found, Generalization) else None
    is_view = state.create.kind == "view"
    return Release(
        release_id=state.compiled.release_id,
        name=target,
        kind=state.create.kind,
        policy=policy.name,
        policy_fingerprint=need(state.bound).fingerprint,
        policy_json=release_json(policy, state.hierarchies, column_types(need(state.bound))),
        method=state.create.method.name,
        method_arguments=state.create.method.arguments,
        source_rows=found.rows,
        released_rows=state.released_rows,
        suppressed_rows=found.suppressed,
        loss=float(found.loss),
        nodes=searched.nodes if searched else None,
        nodes_checked=searched.checked if searched else None,
        content_fingerprint=None
        if is_view
        else fingerprint_of_tables(state.engine, [m.name for m in state.candidates]),
        engine_version=state.engine.version(),
        sqlanon_version=__version__,
        created_at=datetime.now(UTC).replace(tzinfo=None),
        attributes=_attributes(state),
        objects=objects,
        nodes_pruned=searched.pruned if searched else None,
        proven_optimal=searched.proven if searched else None,
        loss_bound=None if not searched or searched.proven or searched.least is None else float(searched.least),
        loss_name=found.loss_name,
        sources=state.sources,
    )


def _attributes(state: State) -> tuple[ReleaseAttribute, ...]:
    """The release's columns. Those that tell its classes apart are its quasi-identifiers."""
    bound, query, found = need(state.bound), state.compiled, state.found
    if isinstance(query, FragmentsQuery):
        return _attributes_of(query)
    known = {b.column: b for b in bound.published}
    levels: dict[str, int] = {}
    if isinstance(found, Generalization):
        levels = dict(zip((b.column for b in bound.quasi_identifiers), found.levels, strict=True))
    attributes: list[ReleaseAttribute] = []
    for name in query.columns:
        b = known.get(name)
        role = b.role if b else Role.QUASI_IDENTIFIER
        if role is Role.QUASI_IDENTIFIER and name not in query.keys:
            role = Role.INSENSITIVE
        attributes.append(
            ReleaseAttribute(
                name=name,
                role=role,
                hierarchy=b.hierarchy.name if b and b.hierarchy else None,
                level=levels.get(name),
                height=b.height if b and name in levels else None,
                weight=b.attribute.weight if b else Decimal(1),
            )
        )
    return tuple(attributes)


def _attributes_of(query: FragmentsQuery) -> tuple[ReleaseAttribute, ...]:
    return tuple(
        ReleaseAttribute(
            name=name,
            role=role,
            hierarchy=b.hierarchy.name if b and b.hierarchy else None,
            weight=b.attribute.weight if b else Decimal(1),
            fragment=fragment.name,
            source=b.column if b and b.column != name else None,
        )
        for fragment in query.fragments
        for name, role, b in fragment.columns
    )


def _rounds(state: State) -> list[tuple[tuple[int, ...], int]]:
    """The levels of the quasi-identifiers and the published rows of each round of a local recoding."""
    found = state.found
    if not isinstance(found, Generalization) or found.recoding != "local":
        return []
    return [(one.levels, one.rows) for one in found.rounds]
