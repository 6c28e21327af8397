"""EXPLAIN: the plan of a release in words, why it is that one, and the SQL that it would run."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.domain.transformation import Fragmented
from sqlanon.inputs.target_names import fragment_name
from sqlanon.methods.registry import assumed_by, find_method
from sqlanon.pipeline.state import State, need
from sqlanon.releases.composition import others_than, warning
from sqlanon.sqlgen.build.render import to_sql
from sqlanon.sqlgen.release.multi_table_query import FragmentsQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["explain_stage", "explanation", "printable"]


def explain_stage(state: State) -> State:
    """What the method's choice is owed to, where the method can tell."""
    return state.having(explanation=find_method(state.create.method.name).why(state.task, state.found))


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
    call, sensitive = state.create.method, [attribute.column for attribute in bound.sensitive]
    for one in assumed_by(call.name, call.arguments, sensitive):
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
    method = find_method(state.create.method.name)
    for stage, item, detail in method.reasons(state.task, state.found, state.explanation):
        yield stage, item, printable(detail)
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
