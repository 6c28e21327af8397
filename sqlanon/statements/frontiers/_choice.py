"""ADVISE: the candidate of a frontier that is best in one figure among those within bounds, and how to publish it."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import frontiers, policies
from sqlanon.catalog.frontiers import Measured
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.statements.base import Answer
from sqlanon.statements.frontiers.advise import Advise, Bound


def advise(engine: Engine, statement: Advise) -> Answer:
    """A row with the choice, its figures and the statement that publishes it. Raises as `choice` does."""
    best = choice(engine, statement)
    figures = tuple((name, "DOUBLE") for name, _ in best.figures)
    columns = (("candidate", "BIGINT"), *figures, ("statement", "VARCHAR"))
    return Answer(columns, ((best.number, *(value for _, value in best.figures), best.statement),))


def choice(engine: Engine, statement: Advise) -> Measured:
    """The candidate with the least of the figure, of those that satisfy all bounds and that a statement publishes.

    Of several, the first that is efficient. Raises UserError for a figure that was not measured, and PolicyError where
    nothing satisfies the bounds, or where the policy is not as it was when its candidates were made.
    """
    candidates = frontiers.load(engine, statement.frontier)
    _require_same_policy(engine, candidates[0], statement.frontier)
    names = [name for name, _ in candidates[0].figures]
    least = _named(statement.least, names, statement.frontier)
    bounds = [replace(bound, figure=_named(bound.figure, names, statement.frontier)) for bound in statement.bounds]
    choices: list[tuple[float, bool, int, Measured]] = []
    for candidate in candidates:
        values = dict(candidate.figures)
        value = values[least]
        if candidate.statement and value is not None and all(_within(values[b.figure], b) for b in bounds):
            choices.append((value, not candidate.efficient, candidate.number, candidate))
    if not choices:
        raise PolicyError(
            f"no candidate of {statement.frontier} that can be published satisfies the condition",
            hint=_reached(candidates, bounds) or "SHOW FRONTIERS and the table anon.candidate have all candidates",
        )
    return min(choices, key=lambda choice: choice[:3])[3]


def _within(value: float | None, bound: Bound) -> bool:
    most = float(bound.most)  # type: ignore[arg-type]
    return value is not None and (value < most if bound.strict else value <= most)


def _reached(candidates: list[Measured], bounds: list[Bound]) -> str:
    """What the candidates reach of each bounded figure."""
    reached = []
    for bound in bounds:
        values = [v for c in candidates if c.statement and (v := dict(c.figures)[bound.figure]) is not None]
        reached += [f"the least {bound.figure} is {min(values):.6g}"] if values else []
    return ", ".join(reached)


def _named(figure: str, names: list[str], frontier: str) -> str:
    for name in names:
        if fold(name) == fold(figure):
            return name
    with about("figures", figure):
        raise UserError(
            f"{frontier} has no figure {figure}", hint=nearest(figure, names) or f"it has: {', '.join(names)}"
        )


def _require_same_policy(engine: Engine, candidate: Measured, frontier: str) -> None:
    policy = policies.load(engine, candidate.policy)
    stored = list(hierarchies_of(engine, policy).values())
    if fingerprint(replace(policy, requirements=()), stored) != candidate.policy_fingerprint:
        raise PolicyError(
            f"{policy} has changed since {frontier} was made", hint="make it again, with the same FRONTIER statement"
        )
