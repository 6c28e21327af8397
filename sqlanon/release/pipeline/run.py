"""The orders of the stages of EXPLAIN ANONYMIZED and of CREATE ANONYMIZED."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sqlanon.catalog import releases, series
from sqlanon.domain.context import Watching
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import UserError, about
from sqlanon.release.existing.objects import column_types, drop_release, is_own, stands
from sqlanon.release.pipeline.advise import advise_stage
from sqlanon.release.pipeline.check import check_stage
from sqlanon.release.pipeline.compare import compare_stage
from sqlanon.release.pipeline.compile import compile_plan, compile_stage
from sqlanon.release.pipeline.encode import encode_compared, solve_stage
from sqlanon.release.pipeline.explain import explain_stage
from sqlanon.release.pipeline.materialize import materialize_stage
from sqlanon.release.pipeline.publish import publish_stage
from sqlanon.release.pipeline.remark import remark_plan, remark_stage
from sqlanon.release.pipeline.resolve import about_levels, bind_stage, release_with_levels, resolve_stage
from sqlanon.release.pipeline.stages import Encoded, KeptCells, Plan, Published, Requested
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object, qualified

# Makes room for a release whose name is taken, or refuses to.


def make_room(requested: Requested) -> Requested | None:
    """Handles an object that already has the name of the new release.

    Drops a release that OR REPLACE replaces; returns None if IF NOT EXISTS finds a release. If somebody has dropped an
    object of a release by hand, the release counts as dropped, and its other objects are dropped, too. Raises UserError
    for an object that is not a release, because a user's table is never replaced.
    """
    engine, create = requested.engine, requested.create
    target = qualified(engine, create.name)
    standing_object = find_relation(engine, own_object(engine, target), is_new=not create.or_replace)
    known = releases.find(engine, target)
    standing_release = next((made for made in known.published if made.name == known.name), None) if known else None
    if standing_object and (
        known is None or standing_release is None or not is_own(engine, known, standing_release, standing_object)
    ):
        raise UserError(
            f"{target} is a {standing_object[0]} that is not a release",
            hint="choose another name for the release: a table of yours is never replaced",
            part=("release",),
        )
    if known is None:
        return requested
    if not create.or_replace and all(stands(engine, known, made) for made in known.published):
        if create.if_not_exists:
            _require_in_series(requested, known)
            return None
        raise UserError(
            f"the release {target} exists already",
            hint="write CREATE OR REPLACE ANONYMIZED, or IF NOT EXISTS",
            part=("release",),
        )
    former = column_types(engine, known)
    drop_release(engine, known)
    return replace(requested, replaced=known, former=former)


def _require_in_series(requested: Requested, known: Release) -> None:
    """Raises UserError if IF NOT EXISTS finds a release that is not in the series of the statement."""
    wanted = requested.create.series
    if wanted is None:
        return
    with about("series"):
        series.load(requested.engine, wanted)
        now = series.series_of(requested.engine, known.release_id)
        if now is None or not same_name(now, wanted):
            raise UserError(
                f"the release {known.name} exists already, and is {f'in the series {now}' if now else 'in no series'}",
                hint="write CREATE OR REPLACE ANONYMIZED TABLE, which makes it again in the series",
            )


_First = TypeVar("_First")
_Last = TypeVar("_Last")
_Next = TypeVar("_Next")


@dataclass(frozen=True)
class Order(Generic[_First, _Last]):
    """A sequence of named stages. The first stage takes a `_First`, and each other stage takes the result of the stage
    before.

    The type checker compares the types of adjacent stages in calls of `then`.
    """

    stages: tuple[tuple[str, Callable[[Any], Any]], ...] = ()

    def then(self, name: str, stage: Callable[[_Last], _Next]) -> Order[_First, _Next]:
        return Order((*self.stages, (name, stage)))

    def run(self, first: _First, progress: Watching | None = None) -> _Last:
        """Runs the stages, and reports each before it begins; returns the result of the last stage."""
        part: Any = first
        for done, (name, stage) in enumerate(self.stages):
            if progress:
                progress(name, done, len(self.stages))
            part = stage(part)
        last: _Last = part
        return last


_ENCODED = (
    Order[Requested, Requested]()
    .then("resolve", resolve_stage)
    .then("bind", bind_stage)
    .then("compare", compare_stage)
    .then("encode", encode_compared)
)
_CHOSEN = _ENCODED.then("solve", solve_stage)
# Nothing but temporary tables is written.
PLAN = (
    _CHOSEN.then("explain", explain_stage)
    .then("advise", advise_stage)
    .then("compile", compile_plan)
    .then("remark", remark_plan)
)
RELEASE = (
    _CHOSEN.then("compile", compile_stage)
    .then("materialize", materialize_stage)
    .then("check", check_stage)
    .then("remark", remark_stage)
    .then("publish", publish_stage)
)


def explain(engine: Engine, statement: ReleaseRequest, progress: Watching | None = None) -> Plan:
    """Makes a dry run up to the SELECT of the release, and returns it with the reasons; nothing is published."""
    with engine.transaction(), TempTables(engine) as temp:
        leveled = release_with_levels(engine, statement.levels_from)
        with about_levels(leveled):
            replaced = releases.find(engine, qualified(engine, statement.name)) if statement.or_replace else None
            requested = Requested(engine, statement, temp, progress, dry=True, leveled=leveled, replaced=replaced)
            return PLAN.run(requested, progress)


def create(
    engine: Engine, statement: ReleaseRequest, progress: Watching | None = None, *, refreshing: bool = False
) -> Published | None:
    """Publishes a release, either whole or not at all; returns None if IF NOT EXISTS found a release.

    If `refreshing`, the statement names the method of the replaced release, and the record of how this method was
    chosen is kept.
    """
    with engine.transaction(), TempTables(engine) as temp:
        leveled = release_with_levels(engine, statement.levels_from)
        requested = make_room(Requested(engine, statement, temp, progress, leveled=leveled, refreshing=refreshing))
        with about_levels(leveled):
            return RELEASE.run(requested, progress) if requested else None


def candidate(
    engine: Engine, statement: ReleaseRequest, policy: Policy, shared_cells: KeptCells | None = None
) -> Release:
    """Makes the release that the statement would publish by this policy, whatever policy of that name is in the
    catalog.

    The release is recorded, so every statement about a release works; the caller rolls the transaction back. No object
    may have its name. The release is chosen from the `shared_cells` if they fit. Raises the errors of the stages.
    """
    with TempTables(engine) as temp:
        requested = Requested(engine, statement, temp, policy=policy, shared_cells=shared_cells, alone=True)
        return RELEASE.run(requested).release


def encoded(
    engine: Engine, statement: ReleaseRequest, policy: Policy, temp: TempTables, shared_cells: KeptCells | None = None
) -> Encoded:
    """Returns the bound policy, and the cells from which a release by this policy would be chosen. Raises the errors of
    the stages.
    """
    return _ENCODED.run(Requested(engine, statement, temp, policy=policy, shared_cells=shared_cells))
