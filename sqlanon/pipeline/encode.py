"""Stage 4: the source as cells, where the method needs them."""

from __future__ import annotations

from sqlanon.inputs.source import qualified
from sqlanon.methods.anatomy import method as anatomy
from sqlanon.methods.anatomy.verify import require_names
from sqlanon.methods.fragmentation import fragments, loose
from sqlanon.methods.mondrian import method as mondrian
from sqlanon.pipeline.cells import encode
from sqlanon.pipeline.state import State, need

__all__ = ["encode_stage"]


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
