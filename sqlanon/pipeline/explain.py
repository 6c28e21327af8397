"""EXPLAIN: the plan of a release in words, why it is that one, and the SQL that it would run."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.policy import Role
from sqlanon.domain.transformation import Generalization
from sqlanon.methods._nodes import Problem
from sqlanon.methods._why import why
from sqlanon.pipeline.carry import guards_of
from sqlanon.pipeline.reasons import cut_up, decision, printable, reasons
from sqlanon.pipeline.state import State, need
from sqlanon.sqlgen.render import to_sql

__all__ = ["explain_stage", "explanation"]


def explain_stage(state: State) -> State:
    """Looks at the nodes around the chosen one, for what keeps them from being chosen."""
    found = state.found
    if not isinstance(found, Generalization):
        return state
    guards = tuple(guards_of(state.requirements).items())
    problem = Problem(state.engine, need(state.bound), state.requirements, guards, state.scratch.table)
    return state.having(explanation=why(problem, need(state.cells), found))


def explanation(state: State) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): what is asked, what would be published, at what loss, and why."""
    policy, bound = need(state.policy), need(state.bound)
    yield "resolve", "policy", f"{policy.name}, fingerprint {bound.fingerprint}"
    for requirement in state.requirements:
        yield "resolve", "requirement", str(requirement)
    yield "bind", "source", f"{policy.source}, {state.found.rows} rows"
    for attribute in bound.published:
        if attribute.role is not Role.QUASI_IDENTIFIER:
            shown = "as a token" if attribute.attribute.pseudonym else "as it is"
            yield "bind", attribute.column, f"{attribute.role.value}, published {shown}"
    hidden = [b.column for b in bound.attributes if b not in bound.published]
    for name in hidden:
        yield "bind", name, "not published: the policy hides it"
    for name in bound.unpublished:
        yield "bind", name, "not published: the policy does not name it"
    found, quasi = state.found, bound.quasi_identifiers
    if isinstance(found, Generalization):
        why_so = need(state.explanation)
        yield from (("solve", item, printable(detail)) for item, detail in decision(found, why_so, quasi))
        yield from (("explain", item, printable(detail)) for item, detail in reasons(found, why_so, quasi))
    else:
        yield from (("solve", item, detail) for item, detail in cut_up(found))
    yield "compile", "sql", to_sql(need(state.query).select(), pretty=True)
