"""Stages 5 and 6: choose the transformation, and compile it into the SELECT of the release."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, PublicTable
from sqlanon.domain.transformation import Bucketization, Fragmented, Partition, Transformation
from sqlanon.domain.values import QualifiedName
from sqlanon.inputs.dictionary_columns import words_of
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.session_settings import made_for
from sqlanon.inputs.source import qualified
from sqlanon.inputs.taxonomies import listed_taxonomy
from sqlanon.methods.anatomy import method as anatomy
from sqlanon.methods.anatomy.assign_groups import carried
from sqlanon.methods.anatomy.tables import bucketized
from sqlanon.methods.anatomy.verify import require_free, require_names
from sqlanon.methods.fragmentation import fragments, loose
from sqlanon.methods.fragmentation.tables import apart, published_names
from sqlanon.methods.generalization import method as generalization
from sqlanon.methods.generalization.lattice.search import Progress
from sqlanon.methods.mondrian import method as mondrian
from sqlanon.methods.mondrian.region_tables import place_rows
from sqlanon.pipeline.cells import encode
from sqlanon.pipeline.state import State, need
from sqlanon.releases.companion_views import public_view, source_view
from sqlanon.sqlgen.build.binary_text import by_bytes
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.cells.cells import row_number
from sqlanon.sqlgen.classes.normal_relations import Background
from sqlanon.sqlgen.release.region_rows import ROW, Placed
from sqlanon.sqlgen.release.release_query import Recoding, ReleaseQuery
from sqlanon.sqlgen.release.view_preconditions import MadeFor

__all__ = ["compile_stage", "encode_stage", "solve_stage"]


def encode_stage(state: State) -> State:
    bound = need(state.bound)
    if isinstance(state.options, anatomy.Options):
        return _encode_buckets(state, state.options)
    if isinstance(state.options, fragments.Options | loose.Options):
        # Values are published as they are: there is nothing to encode.
        return state
    if not isinstance(state.options, mondrian.Options):
        return state.having(cells=encode(state.engine, bound, state.scratch, state.requirements))
    mondrian.require_supported(bound, state.requirements, state.create.kind, state.options)
    target = mondrian.target_of(bound, state.options)
    by_row = state.options.mode == "relaxed"
    cells = encode(
        state.engine,
        bound,
        state.scratch,
        state.requirements,
        flat=True,
        by_row=by_row,
        besides=[target] if target else [],
    )
    return state.having(cells=cells)


def _encode_buckets(state: State, given: anatomy.Options) -> State:
    """Only rows that are to be near each other need cells."""
    bound = need(state.bound)
    anatomy.require_supported(bound, state.requirements, state.create.kind, given)
    require_names(state.engine, bound, qualified(state.engine, state.create.name), free=not state.dry)
    if given.grouping != "near":
        return state
    return state.having(cells=encode(state.engine, bound, state.scratch, state.requirements, flat=True))


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


def compile_stage(state: State) -> State:
    """The SELECT of the release. A live view reads the lasting source, a snapshot the one that was searched."""
    bound, found = need(state.bound), state.found
    release_id = secrets.token_hex(16)
    live = state.create.kind == "view"
    source = need(state.source)
    tokens = {b.column: state.scratch.name("token") for b in bound.published if b.attribute.pseudonym}
    if isinstance(found, Bucketization):
        return state.having(query=bucketized(bound, found, release_id, tokens))
    if isinstance(found, Fragmented):
        return state.having(query=apart(bound, found, release_id))
    recodings: tuple[Recoding, ...] = ()
    placed: Placed | None = None
    if isinstance(found, Partition):
        placed = place_rows(state.engine, bound, found, state.scratch, live=live)
    else:
        recodings = _recodings(bound, [one.levels for one in found.rounds])
    query = ReleaseQuery(
        policy=bound,
        recodings=recodings,
        requirements=state.requirements,
        source=_source(state, release_id) if live else _columns(bound, bound.relation, placed),
        stable=source.stable or not live,
        release_id=release_id,
        tokens=tokens,
        guards=guards_of(state.requirements),
        public=_public(state, bound.public, release_id) if bound.public else None,
        public_stable=bound.public is None or bound.public.stable or not live,
        placed=placed,
        collated=live,
    )
    return state.having(query=query)


def _source(state: State, release_id: str) -> exp.Select:
    """What a live view reads of its source, if that is still what the view is made for.

    The user's own query becomes a view of its own, whose text stays as it was written.
    """
    bound, source = need(state.bound), need(state.source)
    name = source.lasting or source_view(release_id)
    return _as_it_was(made_for(state.engine, bound, bound.policy.source, source, _needed(bound)), name)


def _public(state: State, public: PublicTable, release_id: str) -> exp.Select:
    """The public table's columns, one a quasi-identifier; it is read like the source."""
    if state.create.kind != "view":
        return exp.select(*(column(part) for part in public.columns)).from_(relation(public.relation))
    against, bound = need(need(state.policy).against), need(state.bound)
    fits = made_for(state.engine, bound, against, need(state.public), public.columns)
    return _as_it_was(fits, public.lasting or public_view(release_id))


def _as_it_was(fits: MadeFor, name: QualifiedName) -> exp.Select:
    """The columns of a relation that is still what a live view was made for; texts are compared by their bytes."""
    parts = [
        alias(by_bytes(column(part)), part) if published == "VARCHAR" else column(part)
        for part, _, published in fits.columns
    ]
    return exp.select(*parts).from_(relation(name)).where(fits.condition(), copy=False)


def _needed(bound: BoundPolicy) -> list[str]:
    """The columns of the source that the release needs."""
    respondents = [bound.entity] if bound.entity else []
    return list(dict.fromkeys([*(b.column for b in (*bound.published, *respondents)), *bound.guarding]))


def _columns(bound: BoundPolicy, name: QualifiedName, placed: Placed | None) -> exp.Select:
    """The columns of the source that the release needs, and no other."""
    query = exp.select(*(column(part) for part in _needed(bound)))
    if placed and placed.by_row:
        return query.select(alias(row_number(), ROW), copy=False).from_(relation(name, as_="source"))
    return query.from_(relation(name))


def _recodings(bound: BoundPolicy, rounds: Sequence[tuple[int, ...]]) -> tuple[Recoding, ...]:
    """Each attribute with its level in each round."""
    levels = zip(*rounds, strict=True)
    return tuple(
        Recoding(quasi, first, tuple(later))
        for quasi, (first, *later) in zip(bound.quasi_identifiers, levels, strict=True)
    )
