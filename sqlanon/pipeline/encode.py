"""Stage 4: the source as cells, where the method needs them."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.domain.policy import Role
from sqlanon.methods.registry import find_method
from sqlanon.pipeline.cells import encode
from sqlanon.pipeline.kept_cells import kept_cells
from sqlanon.pipeline.state import State, need

__all__ = ["encode_stage"]


def encode_stage(state: State) -> State:
    """The cells that the method needs. Raises PolicyError for what the method cannot promise."""
    encoding = find_method(state.create.method.name).encoding(state.task, state.options)
    if encoding is None:
        return state
    policy = need(state.bound)
    if cells := kept_cells(state, encoding):
        return state.having(cells=cells)
    if not encoding.quasi_identifiers:
        others = tuple(bound for bound in policy.attributes if bound.role is not Role.QUASI_IDENTIFIER)
        policy = replace(policy, attributes=others)
    cells = encode(
        state.engine,
        policy,
        state.scratch,
        state.requirements,
        flat=encoding.flat,
        by_row=encoding.by_row,
        besides=encoding.besides,
    )
    return state.having(cells=cells)
