"""EXPLAIN: the plan of a release in words, with the SQL that it would run."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.policy import Role
from sqlanon.pipeline.state import State, need
from sqlanon.sqlgen.render import to_sql

__all__ = ["explanation"]


def explanation(state: State) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): what is asked, what would be published, and at what loss."""
    policy, bound, found = need(state.policy), need(state.bound), need(state.transformation)
    yield "resolve", "policy", f"{policy.name}, fingerprint {bound.fingerprint}"
    for requirement in state.requirements:
        yield "resolve", "requirement", str(requirement)
    yield "bind", "source", f"{policy.source}, {found.rows} rows"
    for attribute in bound.published:
        if attribute.role is not Role.QUASI_IDENTIFIER:
            shown = "as a token" if attribute.attribute.pseudonym else "as it is"
            yield "bind", attribute.column, f"{attribute.role.value}, published {shown}"
    hidden = [b.column for b in bound.attributes if b not in bound.published]
    for name in hidden:
        yield "bind", name, "not published: the policy hides it"
    for name in bound.unpublished:
        yield "bind", name, "not published: the policy does not name it"
    for quasi, level in zip(bound.quasi_identifiers, found.levels, strict=True):
        yield "solve", quasi.column, _level(level, quasi.height, quasi.hierarchy.name if quasi.hierarchy else None)
    yield "solve", "suppressed rows", f"{found.suppressed} of {found.rows}, at most {found.limit} allowed"
    yield "solve", "granularity loss", f"{float(found.loss):.6f}, the least of all {found.nodes} nodes"
    yield "solve", "nodes checked", f"{found.checked} of {found.nodes}"
    yield "compile", "sql", to_sql(need(state.query).select(), pretty=True)


def _level(level: int, height: int, hierarchy: str | None) -> str:
    name = f" of {hierarchy}" if hierarchy else ""
    meaning = "kept" if level == 0 else "suppressed ('*')" if level == height else "generalized"
    return f"level {level} of {height}{name}: {meaning}"
