"""Advice about other options and methods. Each is tried in a dry run, so that the advice is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlanon.domain.context import Adjustable
from sqlanon.domain.explanation import Choice
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods import registry
from sqlanon.methods.registry import BASELINES, find_method
from sqlanon.methods.shared.arguments import arguments_of, called, required
from sqlanon.methods.shared.wording import loss_text
from sqlanon.release.pipeline.encode import encode_stage, solve_stage
from sqlanon.release.pipeline.limits import require_within
from sqlanon.release.pipeline.stages import Advised, Bound, Chosen, Explained, Resolved

Arguments = Sequence[tuple[str, Value]]


@dataclass(frozen=True)
class Sizes:
    """The limits of advice about other options and methods.

    Other choices are tried only for at most `rows` rows and `nodes` nodes, because each takes as long as the first.
    Another choice is advised if its loss is smaller by a share of at least `less`. No choice is tried below a loss of
    `loss`.
    """

    rows: int = 200_000
    nodes: int = 20_000
    less: float = 0.1
    loss: float = 0.05


sizes = Adjustable(Sizes())


def advise_stage(explained: Explained) -> Advised:
    """Tries choices that might lose clearly less, and advises successful choices, with their loss and the rows left
    out.
    """
    chosen = explained.chosen
    untried = why_untried(chosen)
    return Advised(explained, () if untried else tuple(_advice(chosen)))


def why_untried(chosen: Chosen) -> str | None:
    """Returns the reason why no other choice is tried; None if other options and methods are tried."""
    choice, searched = chosen.choice, chosen.choice.searched
    if not chosen.bound.engine.reads_in_place:
        # Another engine knows no other methods.
        return "the rows are on Spark"
    if chosen.bound.policy.related:
        # A search over several tables takes minutes, and other methods refuse them.
        return "the policy has several tables"
    if searched is None:
        return f"METHOD {fold(chosen.bound.create.method.name)} compares no levels"
    if not choice.rows:
        return "the source has no rows"
    if choice.rows > sizes().rows:
        return f"the source has more than {sizes().rows:,} rows"
    if searched.nodes > sizes().nodes:
        return f"there are more than {sizes().nodes:,} combinations of levels"
    return f"the loss is below {sizes().loss}" if choice.loss < sizes().loss else None


def _advice(chosen: Chosen) -> Iterator[str]:
    choice = chosen.choice
    least, fewest = choice.loss, choice.suppressed
    tried = [(call, _solved(chosen, *call)) for call in _calls(chosen.bound)]
    for (name, arguments), other in tried:
        if other is None or other.loss_name != choice.loss_name or other.loss > least * (1 - Fraction(sizes().less)):
            continue
        # A choice that leaves out no more rows than the original does not raise the bar for later ones.
        least = other.loss if other.suppressed > fewest else least
        yield (
            f"METHOD {called(name, dict(arguments))} would lose {loss_text(other.loss)} instead of "
            f"{loss_text(choice.loss)} and leave out {_left_out(other, choice)}"
        )


def _left_out(other: Choice, choice: Choice) -> str:
    return (
        f"{counted(other.suppressed, 'row')} instead of {choice.suppressed or 'none'}" if other.suppressed else "no row"
    )


def _calls(bound: Bound) -> Iterator[tuple[str, Arguments]]:
    """Yields the calls for a comparison: other methods without required arguments, then this method with other
    arguments.

    Baselines are never advised: they publish no association of columns, and the loss, which is computed from single
    cells, does not measure that.
    """
    method, options = bound.create.method, bound.resolved.options
    others = set(registry.METHODS) - {name for name, _ in BASELINES} - {fold(method.name)}
    if bound.comparison is not None:
        # The figures of the compared methods are already in the answer, next to the figures of the choice.
        others -= {contender.call.name for contender in bound.comparison.contenders}
    for name in sorted(others):
        if not required(find_method(name).OPTIONS) and _can(bound, name):
            yield name, ()
    given_arguments = dict(method.arguments)
    for name, argument in arguments_of(type(options)).items():
        now = getattr(options, name)
        for value in argument.alternatives:
            if now is not None and value > now:
                yield fold(method.name), tuple((given_arguments | {name: value}).items())


def _can(bound: Bound, name: str) -> bool:
    """Whether a method has all abilities that the statement and its policy need, and does not make a different
    promise.
    """
    method, resolved = find_method(name), bound.resolved
    create = replace(bound.create, method=replace(bound.create.method, name=name, arguments=()))
    try:
        options = method.options(())
        limits = method.limits(options)
        # There is no advice for rows on Spark.
        require_within(limits, create, resolved.policy, resolved.hierarchies, bound.requirements, on_spark=False)
    except PolicyError:
        return False
    return not method.promises(options)


def _solved(chosen: Chosen, name: str, arguments: Arguments) -> Choice | None:
    """Returns the choice of a method with these arguments; None if nothing can be published."""
    encoded = chosen.encoded
    bound = replace(chosen.bound, resolved=_called(chosen.bound.resolved, name, arguments))
    try:
        if name == fold(chosen.bound.create.method.name):
            return solve_stage(replace(encoded, bound=bound)).choice
        return solve_stage(encode_stage(bound, encoded)).choice
    except (PolicyError, PrivacyViolation):
        return None


def _called(resolved: Resolved, name: str, arguments: Arguments) -> Resolved:
    """Returns the resolved statement with another method or other arguments, and without progress reports."""
    method = replace(resolved.create.method, name=name, arguments=tuple(arguments))
    return replace(
        resolved,
        requested=replace(resolved.requested, progress=None),
        create=replace(resolved.create, method=method),
        options=find_method(name).options(arguments),
    )
