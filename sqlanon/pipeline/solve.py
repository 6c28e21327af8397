"""Stage 5: the method chooses the transformation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.transformation import Fragmented, Transformation
from sqlanon.inputs.dictionary_columns import words_of
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.source import qualified
from sqlanon.inputs.target_names import require_free
from sqlanon.inputs.taxonomies import listed_taxonomy
from sqlanon.methods.anatomy import method as anatomy
from sqlanon.methods.anatomy.assign_groups import carried
from sqlanon.methods.fragmentation import fragments, loose
from sqlanon.methods.fragmentation.tables import published_names
from sqlanon.methods.generalization import method as generalization
from sqlanon.methods.generalization.lattice.search import Progress
from sqlanon.methods.mondrian import method as mondrian
from sqlanon.pipeline.state import State, need
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.classes.normal_relations import Background

__all__ = ["solve_stage"]


def solve_stage(state: State) -> State:
    """The method's choice. Raises PrivacyViolation where there is none."""
    engine, bound, keep = state.engine, need(state.bound), state.scratch.table
    if isinstance(state.given, anatomy.Options):
        background, report = _background(state), _regions_reporter(state)
        words = words_of(engine, state.scratch, relation(bound.relation), carried(bound))
        view, cells = state.scratch.view, state.cells
        dealt = anatomy.solve(
            engine, bound, state.requirements, state.given, cells, background, keep, view, words, report
        )
        return state.having(transformation=dealt)
    if isinstance(state.given, fragments.Options | loose.Options):
        return state.having(transformation=_apart(state, state.given))
    cells = need(state.cells)
    guards = tuple(guards_of(state.requirements).items())
    given = state.given
    found: Transformation
    if isinstance(given, mondrian.Options):
        report = _regions_reporter(state)
        found = mondrian.solve(engine, bound, state.requirements, guards, given, cells, keep, report)
    else:
        found = generalization.solve(engine, bound, state.requirements, guards, given, cells, keep, _reporter(state))
    return state.having(transformation=found)


def _apart(state: State, given: fragments.Options | loose.Options) -> Fragmented:
    """The fragments, whose names no other table has."""
    engine, bound, named = state.engine, need(state.bound), state.create.method.fragments
    if isinstance(given, loose.Options):
        found = loose.solve(engine, bound, named, given, state.scratch.table)
    else:
        found = fragments.solve(engine, bound, named)
    if not state.dry:
        require_free(engine, qualified(engine, state.create.name), published_names(found))
    return found


def _background(state: State) -> Background:
    """What requirements read besides rows, before any of it is copied for the release."""
    engine, bound, asked = state.engine, need(state.bound), state.requirements
    return Background(
        taxonomies={b.column: listed_taxonomy(engine, bound, b, asked, state.scratch) for b in bound.sensitive},
        ranges={place: exp.select(exp.Star()).from_(relation(table)) for place, table in bound.ranges},
    )


def _regions_reporter(state: State) -> Callable[[int, int], None] | None:
    """Tells whoever watches how many regions are done, and how many are being cut."""
    progress = state.progress
    if progress is None:
        return None
    return lambda done, cut: progress("solve", done, done + cut, f"{done} regions done, {cut} being cut")


def _reporter(state: State) -> generalization.Report | None:
    """Tells whoever watches how many nodes have been checked and ruled out, and the least loss so far."""
    progress = state.progress
    if progress is None:
        return None

    def report(seen: Progress, loss: Fraction | None) -> None:
        best = "" if loss is None else f", best loss {float(loss):.6g}"
        detail = f"{seen.checked} of {seen.nodes} nodes checked, {seen.pruned} ruled out{best}"
        progress("solve", seen.checked + seen.pruned, seen.nodes, detail)

    return report
