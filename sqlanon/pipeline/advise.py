"""What other options, and other methods, would reach: tried in a dry run, so that what is said is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlanon.domain.choice import Choice
from sqlanon.domain.counts import counted
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.registry import BASELINES, METHODS, find_method
from sqlanon.methods.shared.arguments import arguments_of, called, required
from sqlanon.methods.shared.wording import loss_text
from sqlanon.pipeline.encode import encode_stage
from sqlanon.pipeline.limits import require_within
from sqlanon.pipeline.sizes import sizes
from sqlanon.pipeline.solve import solve_stage
from sqlanon.pipeline.state import State, need

__all__ = ["advise_stage"]

Arguments = Sequence[tuple[str, Value]]


def advise_stage(state: State) -> State:
    """Tries what might lose clearly less than the choice, and says what it loses and leaves out."""
    choice = need(state.choice)
    searched = choice.searched
    if (
        # Other methods are not tried where rows are on another engine, which knows none of them.
        state.engine.distributed
        or searched is None
        # A search over several tables takes minutes, and other methods refuse them.
        or need(state.bound).related
        or not choice.rows
        or choice.rows > sizes().rows
        or searched.nodes > sizes().nodes
        or choice.loss < sizes().loss
    ):
        return state
    return state.having(advice=tuple(_advice(state, choice)))


def _advice(state: State, choice: Choice) -> Iterator[str]:
    least, fewest = choice.loss, choice.suppressed
    tried = [(call, _solved(state, *call)) for call in _calls(state)]
    for (name, arguments), other in tried:
        if other is None or other.loss_name != choice.loss_name or other.loss > least * (1 - Fraction(sizes().less)):
            continue
        # What leaves out no more rows than the choice takes nothing from those that come after it.
        least = other.loss if other.suppressed > fewest else least
        yield (
            f"METHOD {called(name, dict(arguments))} would lose {loss_text(other.loss)} instead of "
            f"{loss_text(choice.loss)} and leave out {_left_out(other, choice)}"
        )


def _left_out(other: Choice, choice: Choice) -> str:
    return (
        f"{counted(other.suppressed, 'row')} instead of {choice.suppressed or 'none'}" if other.suppressed else "no row"
    )


def _calls(state: State) -> Iterator[tuple[str, Arguments]]:
    """The calls to compare with: of other methods that need no argument, then of this one with its alternatives.

    A baseline publishes no association at all, which no loss of single cells tells: it is never advised.
    """
    method = state.create.method
    others = set(METHODS) - {name for name, _ in BASELINES} - {fold(method.name)}
    for name in sorted(others):
        if not required(find_method(name).OPTIONS) and _can(state, name):
            yield name, ()
    given_arguments = dict(method.arguments)
    for name, argument in arguments_of(type(state.options)).items():
        now = getattr(state.options, name)
        for value in argument.alternatives:
            if now is not None and value > now:
                yield fold(method.name), tuple((given_arguments | {name: value}).items())


def _can(state: State, name: str) -> bool:
    """Whether a method can do what the statement and its policy ask for, and promises nothing else."""
    method = find_method(name)
    create = replace(state.create, method=replace(state.create.method, name=name, arguments=()))
    hierarchies = {fold(stored.definition.name): stored for stored in state.hierarchies}
    try:
        options = method.options(())
        limits, distributed = method.limits(options), state.engine.distributed
        require_within(limits, create, need(state.policy), hierarchies, state.requirements, distributed=distributed)
    except PolicyError:
        return False
    return not method.promises(options)


def _solved(state: State, name: str, arguments: Arguments) -> Choice | None:
    """What a method chooses with these arguments; None where nothing can be published."""
    method = replace(state.create.method, name=name, arguments=tuple(arguments))
    other = state.having(
        create=replace(state.create, method=method), options=find_method(name).options(arguments), progress=None
    )
    try:
        if name != fold(state.create.method.name):
            other = encode_stage(other.having(cells=None))
        return solve_stage(other).choice
    except (PolicyError, PrivacyViolation):
        return None
