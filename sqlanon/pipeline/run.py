"""The stages of a release, in their order."""

from __future__ import annotations

from collections.abc import Callable

from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.pipeline.advise import advise_stage
from sqlanon.pipeline.check import check_stage
from sqlanon.pipeline.compile import compile_stage
from sqlanon.pipeline.encode import encode_stage
from sqlanon.pipeline.explain import explain_stage
from sqlanon.pipeline.fixed_levels import about_levels, release_with_levels
from sqlanon.pipeline.make_room import make_room
from sqlanon.pipeline.materialize import materialize_stage
from sqlanon.pipeline.publish import publish_stage
from sqlanon.pipeline.remark import remark_stage
from sqlanon.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.pipeline.solve import solve_stage
from sqlanon.pipeline.state import KeptCells, State, need
from sqlanon.releases.objects import column_types
from sqlanon.remarks.wording import of_types
from sqlanon.syntax.statements import CreateRelease

__all__ = ["PLAN", "RELEASE", "Stage", "candidate", "create", "encoded", "explain"]

Stage = Callable[[State], State]

_CHOICE: tuple[tuple[str, Stage], ...] = (
    ("resolve", resolve_stage),
    ("bind", bind_stage),
    ("encode", encode_stage),
    ("solve", solve_stage),
)
# Nothing but temporary tables is written.
PLAN: tuple[tuple[str, Stage], ...] = (
    *_CHOICE,
    ("explain", explain_stage),
    ("advise", advise_stage),
    ("compile", compile_stage),
    ("remark", remark_stage),
)
RELEASE: tuple[tuple[str, Stage], ...] = (
    *_CHOICE,
    ("compile", compile_stage),
    ("materialize", materialize_stage),
    ("check", check_stage),
    ("remark", remark_stage),
    ("publish", publish_stage),
)


def explain(engine: Engine, statement: CreateRelease, progress: Watching | None = None) -> State:
    """A dry run: everything up to the SELECT of the release, with the reasons, and nothing published."""
    with engine.transaction(), Scratch(engine) as scratch:
        leveled = release_with_levels(engine, statement.levels_from)
        with about_levels(leveled):
            return _through(PLAN, State(engine, statement, scratch, progress, dry=True, leveled=leveled))


def create(engine: Engine, statement: CreateRelease, progress: Watching | None = None) -> State | None:
    """Publishes a release, whole or not at all; None where IF NOT EXISTS found one."""
    with engine.transaction(), Scratch(engine) as scratch:
        leveled = release_with_levels(engine, statement.levels_from)
        state = make_room(State(engine, statement, scratch, progress, leveled=leveled))
        with about_levels(leveled):
            return _with_changed_types(_through(RELEASE, state)) if state else None


def _with_changed_types(state: State) -> State:
    """The release with a remark where its columns have other types than those of the release that it replaces."""
    now = column_types(state.engine, need(state.release)) if state.former else {}
    return state.having(remarks=(*state.remarks, *of_types(state.former, now)))


def candidate(
    engine: Engine, statement: CreateRelease, policy: Policy, shared_cells: KeptCells | None = None
) -> Release:
    """The release that the statement would publish by this policy, whatever the catalog has under its name.

    It is recorded like any other, so that all that is asked of a release can be asked of it: the caller's transaction
    is to be rolled back. Its name is one that nothing has. It is chosen from the `shared_cells`, where they are
    its own. Raises what the stages raise.
    """
    with Scratch(engine) as scratch:
        stages = tuple((name, stage) for name, stage in RELEASE if stage is not remark_stage)
        return need(
            _through(
                stages, State(engine, statement, scratch, policy=policy, shared_cells=shared_cells, alone=True)
            ).release
        )


def encoded(
    engine: Engine, statement: CreateRelease, policy: Policy, scratch: Scratch, shared_cells: KeptCells | None = None
) -> State:
    """What a release by this policy would be chosen from: the bound policy and its cells. Raises as the stages do."""
    return _through(_CHOICE[:-1], State(engine, statement, scratch, policy=policy, shared_cells=shared_cells))


def _through(stages: tuple[tuple[str, Stage], ...], state: State) -> State:
    total = len(stages)
    for done, (name, stage) in enumerate(stages):
        if state.progress:
            state.progress(name, done, total)
        state = stage(state)
    return state
