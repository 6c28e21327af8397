"""Cells that several releases of a source are chosen from, encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.inputs.source_identity import source_identity
from sqlanon.methods.base import Encoding
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.cells import Cells
from sqlanon.pipeline.state import State, need

__all__ = ["keep_cells", "kept_cells"]


def keep_cells(state: State) -> None:
    """Keeps the cells of an encoded state for other releases, unless they depend on tables beside the source.

    Their tables have to outlive the state.
    """
    encoding = find_method(state.create.method.name).encoding(state.task, state.options)
    if state.shared_cells is not None and encoding and state.cells and (key := _key(state, encoding)):
        state.shared_cells[key] = (_identity(state), state.cells)


def kept_cells(state: State, encoding: Encoding) -> Cells | None:
    """The cells that encoding would give now; None where none are kept, or the source has other rows by now."""
    if not state.shared_cells or (key := _key(state, encoding)) not in state.shared_cells:
        return None
    identity, cells = state.shared_cells[key]
    return cells if identity == _identity(state) else None


def _key(state: State, encoding: Encoding) -> object:
    """What the cells depend on besides rows; None where they depend on public tables, ranges or guarding nodes, too.

    Of a requirement they depend on the relations that it reads, and about which attributes: on none of its numbers.
    """
    policy = need(state.bound)
    if policy.public or policy.ranges or policy.guarding or policy.long_table:
        return None
    return policy.attributes, encoding, tuple((r.question_name, r.attributes) for r in state.requirements)


def _identity(state: State) -> Sequence[Any]:
    policy = need(state.bound)
    return source_identity(state.engine, policy, policy.attributes, state.hierarchies_by_name)
