"""EXPLAIN: the plan of a release in words, why it is that one, and the SQL that it would run."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.counts import counted
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.series import Series
from sqlanon.inputs.target_names import fragment_name
from sqlanon.methods.registry import assumed_by, find_method
from sqlanon.methods.shared.arguments import called, given_or_default
from sqlanon.pipeline.state import State, need
from sqlanon.releases.composition import others_than, warning
from sqlanon.sqlgen.build.render import to_sql
from sqlanon.sqlgen.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery
from sqlanon.syntax import render

__all__ = ["explain_stage", "explanation", "printable"]


def explain_stage(state: State) -> State:
    """The reasons for the method's choice, where the method can tell."""
    return state.having(explanation=find_method(state.create.method.name).why(state.task, need(state.choice)))


def _place_in_words(state: State, attribute: BoundAttribute) -> str:
    """In which table a column is, and whether as a value of a bucket, in words."""
    table, part = _published(state).get(attribute.column, (None, None))
    if table is not None and part is not None and part.reading in (Reading.BUCKET_RANGE, Reading.RANGE):
        return f"as ranges in {fragment_name(state.create.name, table.name).name}"
    if table is None or part is None or part.reading is not Reading.BUCKET_VALUE:
        return "unchanged"
    by_bucket = any(other.reading is Reading.COUNT for other in table.columns) or _has_counterfeits(state)
    return f"{'by bucket' if by_bucket else 'unchanged'} in {fragment_name(state.create.name, table.name).name}"


def _has_counterfeits(state: State) -> bool:
    return isinstance(state.compiled, TablesQuery) and state.compiled.bucket_rows is not None


def _published(state: State) -> dict[str, tuple[PublishedTable, PublishedColumn]]:
    """The table of each column of the source, and what it is there; empty for a release of one table or view."""
    query = state.compiled
    tables = query.tables if isinstance(query, TablesQuery) else ()
    return {part.bound.column: (table, part) for table in tables for part in table.columns if part.bound}


def _shown_columns(state: State) -> tuple[BoundAttribute, ...]:
    """The attributes that are published: tables may leave some out."""
    bound = need(state.bound)
    if not isinstance(state.compiled, TablesQuery):
        return bound.published
    columns = _published(state)
    others = (attribute for table in bound.related for attribute in table.attributes)
    return tuple(attribute for attribute in (*bound.published, *others) if attribute.column in columns)


def _is_value(state: State, attribute: BoundAttribute) -> bool:
    """Whether a column is one of the values of its bucket, or its range."""
    _, part = _published(state).get(attribute.column, (None, None))
    return part is not None and part.reading in (Reading.BUCKET_VALUE, Reading.BUCKET_RANGE, Reading.RANGE)


def explanation(state: State) -> Iterator[tuple[str, str, str]]:
    """Rows of (stage, item, detail): what would be published, at what loss, and why; then of what, and by which SQL.

    What only a machine compares, the policy's fingerprint, is the last row.
    """
    policy, bound, call = need(state.policy), need(state.bound), state.create.method
    for stage, item, detail in find_method(call.name).reasons(state.task, need(state.choice), state.explanation):
        yield stage, item, printable(detail)
    for advice in state.advice:
        yield "advise", "advice", printable(advice)
    for remark in state.remarks:
        yield "remark", "remark", printable(remark)
    if said := warning(others_than(state.engine, state.create.name, need(state.sources), state.series)):
        yield "bind", "warning", printable(said)
    yield "bind", "source", f"{policy.source}, {counted(need(state.choice).rows, 'row')}"
    yield from _columns(state)
    yield "resolve", "method", printable(called(call.name.lower(), given_or_default(state.options)))
    for requirement in state.requirements:
        yield "resolve", "requirement", printable(str(requirement))
    if state.join is not None:
        for of_join in state.join.requirements:
            yield "resolve", "requirement", printable(f"{of_join} of the join with {need(policy.joined)}")
    if state.series is not None:
        yield "resolve", "series", printable(_series(state.series))
    sensitive = [attribute.column for attribute in bound.sensitive]
    for assumption in assumed_by(call.name, call.arguments, sensitive):
        about = f"of {', '.join(assumption.attributes)}: " if assumption.attributes else ""
        yield "resolve", "assumption", printable(f"{about}{assumption.meaning} {assumption.leaves}")
    yield from _sql(state)
    yield "resolve", "policy", f"{policy.name}, fingerprint {bound.fingerprint}"


def _series(series: Series) -> str:
    """What the series requires, which is measured of a release that is made, and not of one that is planned."""
    releases = f"{series.name}, {counted(len(series.releases), 'release')} so far"
    required = ", ".join(map(render.requirement, series.requirements))
    return f"{releases}; {required} is measured when the release is made" if required else releases


def _columns(state: State) -> Iterator[tuple[str, str, str]]:
    """What becomes of each column that is not generalized."""
    bound, shown_columns = need(state.bound), _shown_columns(state)
    for attribute in shown_columns:
        if attribute.role is not Role.QUASI_IDENTIFIER or _is_value(state, attribute):
            form = "as a token" if attribute.attribute.pseudonym else _place_in_words(state, attribute)
            yield "bind", attribute.column, f"{attribute.role.value}, published {form}"
    for attribute in bound.attributes:
        if bound.related and attribute is bound.entity:
            yield "bind", attribute.column, "entity, published as a number that is drawn for the release, in all tables"
        elif attribute not in shown_columns:
            why_not = "the policy hides it" if attribute not in bound.published else "no fragment has it"
            yield "bind", attribute.column, f"not published: {why_not}"
    for table in bound.related:
        hidden = (attribute.column for attribute in table.attributes if attribute not in shown_columns)
        yield from (("bind", name, "not published: the policy hides it") for name in hidden)
        hidden = (name for name in table.unpublished if name != table.key)
        yield from (("bind", name, "not published: the policy does not name it") for name in hidden)
    for name in bound.unpublished:
        yield "bind", name, "not published: the policy does not name it"


def _sql(state: State) -> Iterator[tuple[str, str, str]]:
    query = state.compiled
    if isinstance(query, ReleaseQuery):
        yield "compile", "sql", to_sql(query.select(), pretty=True)
        return
    for table in query.tables:
        name = fragment_name(state.create.name, table.name).name
        yield "compile", f"sql of {printable(name)}", to_sql(table.query, pretty=True)


def printable(text: str) -> str:
    """The text on one line, whatever names and labels are in it: details of many lines are taken for SQL."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
