"""Stage 4: the source as cells, where the method needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.source_rows import rows_of_source
from sqlanon.pipeline.cells import encode
from sqlanon.pipeline.kept_cells import kept_cells
from sqlanon.pipeline.state import State, need
from sqlanon.questions.ask import BoundRequirement

__all__ = ["encode_stage"]


def encode_stage(state: State) -> State:
    """The cells that the method needs. Raises PolicyError for what the method cannot promise."""
    encoding = find_method(state.create.method.name).encoding(state.task, state.options)
    if encoding is None:
        return state
    policy = need(state.bound)
    if policy.related:
        return state.having(cells=_of_tables(state, policy))
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
        unbounded=encoding.unbounded,
        fewer=encoding.fewer,
    )
    return state.having(cells=cells)


def _of_tables(state: State, policy: BoundPolicy) -> Cells:
    """The cells of the source, and of each table that belongs to it."""
    of_source = {bound.column for bound in policy.sensitive}
    requirements = [requirement for requirement in state.requirements if of_source.issuperset(requirement.attributes)]
    related = tuple(_cells(state, policy.of_related(table)) for table in policy.related)
    return replace(_cells(state, policy, requirements), related=related)


def _cells(state: State, policy: BoundPolicy, requirements: Sequence[BoundRequirement] = ()) -> Cells:
    """The cells of one table, which may have no quasi-identifier by whose values its rows are counted."""
    cells = encode(state.engine, policy, state.scratch, requirements, by_respondent=True)
    return cells if policy.quasi_identifiers else replace(cells, rows=rows_of_source(state.engine, policy))
