"""Stages 2 and 3 of a policy that joins another release: which one that is, and whether it can be joined."""

from __future__ import annotations

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement, Release
from sqlanon.errors import PolicyError, PrivacyViolation, about
from sqlanon.release.existing.joined import joined_release, side_of, types_of_columns
from sqlanon.release.pipeline.attributes import published_attributes
from sqlanon.release.pipeline.stages import Materialized, Requested, Resolved
from sqlanon.sources.column_types import ENUM, column_types
from sqlanon.sources.joins import Join, Side, bind_joined, incomparable, of_join, owners
from sqlanon.sources.source import qualified
from sqlanon.sql.build.names import relation
from sqlanon.syntax.texts import typed_name, typed_qualified


def other_release(requested: Requested, policy: Policy) -> Release | None:
    """The release that a policy joins, as it is now; None where it joins none.

    Raises PolicyError for a live view, and as `joined_release` does.
    """
    if policy.joined is None:
        return None
    engine, create = requested.engine, requested.create
    if create.kind == "view":
        raise PolicyError(
            f"{policy}: a live view cannot keep what is required of the join with {policy.joined.release}, which is "
            "measured when a release is made",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {typed_qualified(create.name)}",
        )
    with about("policy"):
        names = [qualified(engine, name) for name in (create.name, policy.joined.release)]
        if len({tuple(map(fold, name.parts)) for name in names}) == 1:
            raise PolicyError(
                f"{policy} joins {names[1]}, which cannot be replaced by a release that is to be joined with it",
                hint="give the new release another name",
            )
        return joined_release(engine, policy)


def join_with(resolved: Resolved, bound: BoundPolicy, other: Release) -> Join:
    """The join of the releases of a bound policy with another.

    Raises PolicyError where the releases share no such column, or one by other labels, and for requirements of columns
    that neither shows, or one of them alone.
    """
    policy = bound.policy
    assert policy.joined is not None
    side = side_of(resolved.requested.engine, other, resolved.requested.scratch)
    published = {fold(b.column): b.column for b in bound.published}
    quasi = {fold(b.column): b for b in bound.quasi_identifiers}
    shared = {fold(name): quasi[fold(name)] for name in policy.joined.columns}
    types = types_of_columns(other)
    for name, b in shared.items():
        side.require_comparable(name)
        _require_comparable(resolved, side, b, types.get(name), column_types(bound)[b.column])
    requirements = bind_joined(of_join(policy))
    columns = (published, side.columns)
    owner_lists = tuple(owners(r, (resolved.create.name, other.name), columns) for r in requirements)
    return Join(side, {name: b.height for name, b in shared.items()}, requirements, owner_lists)


def _require_comparable(resolved: Resolved, side: Side, b: BoundAttribute, other: str | None, kind: str) -> None:
    """Raises unless a shared column has the hierarchy and the type that it has in the other release."""
    theirs = side.hierarchy(fold(b.column))
    ours = resolved.hierarchies[fold(b.hierarchy.name)] if b.hierarchy else None
    if (theirs and theirs.digest) != (ours and ours.digest):
        raise incomparable(b.column, f"its hierarchy is another than the one by which {side.name} shows it")
    # An ENUM is published as text.
    kinds = ["VARCHAR" if kind == ENUM else kind for kind in (kind, other)]
    if kinds[0] != kinds[1]:
        raise incomparable(b.column, f"it is of type {kinds[0]}, and in {side.name} of type {kinds[1] or 'unknown'}")


def measured_join(made: Materialized) -> tuple[Measurement, ...]:
    """The measurements of the candidate's join with the other release, counted from both.

    Raises PrivacyViolation where that is too little. Nothing where nothing is required of a join.
    """
    bound = made.bound
    join, policy = bound.join, bound.resolved.policy
    if join is None:
        return ()
    candidate = Side(
        engine=bound.engine,
        scratch=bound.scratch,
        name=bound.create.name,
        rows=relation(made.candidates[0].stands),
        policy=policy,
        hierarchies=tuple(bound.resolved.hierarchies.values()),
        columns={fold(attribute.name): attribute for attribute in published_attributes(made.compiled)},
    )
    for name in join.shared:
        candidate.require_comparable(name)
    levels = {name: candidate.level(name) for name in join.shared}
    measurements = join.measured(levels, candidate.counted)
    for requirement, reached in zip(join.requirements, measurements, strict=True):
        if not reached.satisfied:
            raise PrivacyViolation(
                f"{bound.create.name} joined with {join.name} would violate {requirement}: it reaches "
                f"{reached.achieved}; nothing was published",
                hint=f"ask for less: ALTER POLICY {typed_name(policy.name)} REQUIRE ...",
            )
    return measurements
