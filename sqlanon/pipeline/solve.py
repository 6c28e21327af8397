"""Stage 5: the method chooses what is published in place of the source."""

from __future__ import annotations

from sqlanon.methods.registry import find_method
from sqlanon.pipeline.state import State

__all__ = ["solve_stage"]


def solve_stage(state: State) -> State:
    """The method's choice. Raises PrivacyViolation where there is none."""
    return state.having(choice=find_method(state.create.method.name).choose(state.task, state.options))
