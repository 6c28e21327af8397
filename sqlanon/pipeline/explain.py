"""EXPLAIN: the plan of a release in words, why it is that one, and the SQL that it would run."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.domain.transformation import Fragmented, Generalization, Partition
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.target_names import fragment_name
from sqlanon.methods.anatomy.reasons import dealt_out
from sqlanon.methods.fragmentation.reasons import kept_apart
from sqlanon.methods.generalization.explain import why
from sqlanon.methods.generalization.node_evaluator import Problem
from sqlanon.methods.generalization.reasons import decision, reasons
from sqlanon.methods.mondrian.reasons import cut_up
from sqlanon.methods.registry import assumed_by
from sqlanon.pipeline.state import State, need
from sqlanon.releases.composition import others_than, warning
from sqlanon.sqlgen.build.render import to_sql
from sqlanon.sqlgen.release.multi_table_query import FragmentsQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["explain_stage", "explanation", "printable"]


def explain_stage(state: State) -> State:
    """Looks at the nodes around the chosen one, for what keeps them from being chosen."""
    found = state.found
    if not isinstance(found, Generalization):
        return state
    guards = tuple(guards_of(state.requirements).items())
    problem = Problem(state.engine, need(state.bound), state.requirements, guards, state.scratch.table)
    return state.having(explanation=why(problem, need(state.cells), found))


def _shown(state: State, attribute: BoundAttribute) -> str:
    query, found = state.compiled, state.found
    if isinstance(query, FragmentsQuery) and isinstance(found, Fragmented):
        own = next(one.name for one in query.fragments if attribute in [b for _, _, b in one.columns])
        return f"as it is in {fragment_name(state.create.name, own).name}"
    if isinstance(query, FragmentsQuery) and attribute.column in query.values:
        return f"by bucket in {fragment_name(state.create.name, query.values[attribute.column]).name}"
    return "as it is"


def _shown_columns(state: State) -> tuple[BoundAttribute, ...]:
    """The attributes that are published; fragments may leave some out."""
    published, found = need(state.bound).published, state.found
    if not isinstance(found, Fragmented):
        return published
    held = {name for fragment in found.fragments for name in fragment}
    return tuple(bound for bound in published if bound.column in held)


def explanation(state: State) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): what is asked, what would be published, at what loss, and why."""
    policy, bound = need(state.policy), need(state.bound)
    yield "resolve", "policy", f"{policy.name}, fingerprint {bound.fingerprint}"
    for requirement in state.requirements:
        yield "resolve", "requirement", str(requirement)
    method, sensitive = state.create.method, [attribute.column for attribute in bound.sensitive]
    for one in assumed_by(method.name, method.arguments, sensitive):
        about = f"of {', '.join(one.attributes)}: " if one.attributes else ""
        yield "resolve", "assumption", printable(f"{about}{one.meaning} {one.leaves}")
    yield "bind", "source", f"{policy.source}, {state.found.rows} rows"
    if said := warning(others_than(state.engine, state.create.name, need(state.sources))):
        yield "bind", "warning", printable(said)
    shown_columns = _shown_columns(state)
    for attribute in shown_columns:
        if attribute.role is not Role.QUASI_IDENTIFIER or isinstance(state.found, Fragmented):
            shown = "as a token" if attribute.attribute.pseudonym else _shown(state, attribute)
            yield "bind", attribute.column, f"{attribute.role.value}, published {shown}"
    for attribute in bound.attributes:
        if attribute not in shown_columns:
            why_not = "the policy hides it" if attribute not in bound.published else "no fragment has it"
            yield "bind", attribute.column, f"not published: {why_not}"
    for name in bound.unpublished:
        yield "bind", name, "not published: the policy does not name it"
    found, quasi = state.found, bound.quasi_identifiers
    if isinstance(found, Generalization):
        why_so = need(state.explanation)
        yield from (("solve", item, printable(detail)) for item, detail in decision(found, why_so, quasi))
        yield from (("explain", item, printable(detail)) for item, detail in reasons(found, why_so, quasi))
    elif isinstance(found, Partition):
        yield from (("solve", item, detail) for item, detail in cut_up(found))
    elif isinstance(found, Fragmented):
        yield from (("solve", item, printable(detail)) for item, detail in kept_apart(found))
    else:
        yield from (("solve", item, detail) for item, detail in dealt_out(found))
    query = state.compiled
    if isinstance(query, ReleaseQuery):
        yield "compile", "sql", to_sql(query.select(), pretty=True)
        return
    for fragment in query.fragments:
        table = fragment_name(state.create.name, fragment.name)
        yield "compile", f"sql of {printable(table.name)}", to_sql(fragment.query, pretty=True)


def printable(text: str) -> str:
    """The text on one line, whatever names and labels are in it: details of many lines are taken for SQL."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
