"""What the policy's roles may have overlooked, in the source and in the classes of the release. Never a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.choice import Choice, Remarked
from sqlanon.domain.counts import counted
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import QualifiedName
from sqlanon.methods.registry import BASELINES
from sqlanon.methods.shared.wording import loss_text
from sqlanon.pipeline.compile import source_columns
from sqlanon.pipeline.state import State, need
from sqlanon.releases.frozen_inputs import CATALOG, Copies, freeze
from sqlanon.remarks.classes import ClassFigures, class_figures
from sqlanon.remarks.columns import Profile, profiles, rows_of_nobody
from sqlanon.remarks.wording import (
    ELSEWHERE,
    EMPTY,
    ONE_BUCKET,
    of_classes,
    of_columns,
    of_known_values,
    of_nobody,
    of_people,
)
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.release.multi_table_query import PublishedTable, TablesQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["remark_stage"]

# Fewer rows have no two buckets.
_SEVERAL = 2
# A value of the source, beside those of the same reading in the same row of a table.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE)
# The methods that publish one bucket on purpose.
_COMPARED_WITH = {name for name, _ in BASELINES}


def remark_stage(state: State) -> State:
    """Looks at the columns of the source and at the classes of the release, and says what may have been overlooked."""
    elsewhere = state.engine.distributed
    return state.having(remarks=(ELSEWHERE, *_unproven(need(state.choice))) if elsewhere else tuple(_remarks(state)))


def _remarks(state: State) -> Iterator[str]:
    bound, choice = need(state.bound), need(state.choice)
    if not choice.rows:
        yield EMPTY
        return
    noted = profiles(state.engine, bound, choice.rows)
    width = len(bound.quasi_identifiers)
    respondent = _respondent(noted, width)
    shown_readings = _shown_readings(state)
    yield from of_columns(noted, width, respondent, lambda profile: _hidden(profile, shown_readings))
    if bound.entity is not None:
        yield from of_nobody(bound.entity.column, rows_of_nobody(state.engine, bound))
    if bound.related:
        required = {name for requirement in state.requirements for name in requirement.attributes}
        yield from of_people([b.column for b in bound.all_sensitive if b.column not in required])
    if isinstance(state.compiled, ReleaseQuery) and choice.rows > choice.suppressed:
        sensitive = {attribute.column: _required_of(state, attribute.column) for attribute in bound.sensitive}
        figures = _class_figures(state, list(sensitive), respondent)
        yield from of_classes(figures, sensitive, respondent, together=any(r.on for r in state.requirements))
    if state.create.method.name not in _COMPARED_WITH:
        if _is_one_bucket(state):
            yield ONE_BUCKET
        for figures in _bucket_figures(state):
            yield from of_known_values(figures, figures.known_alike, "bucket")
    if isinstance(choice, Remarked):
        yield from choice.remarks
    yield from _unproven(choice)


def _shown_readings(state: State) -> list[tuple[str | None, Mapping[str, Reading]]]:
    """The published tables, each with its name and with how the source's columns are read that it has."""
    query = state.compiled
    if isinstance(query, TablesQuery):
        return [(table.name, {p.bound.column: p.reading for p in table.columns if p.bound}) for table in query.tables]
    readings = need(state.recoded).readings
    return [(None, {b.column: readings.get(b.column, Reading.EXACT) for b in need(state.bound).published})]


def _hidden(profile: Profile, shown_readings: Sequence[tuple[str | None, Mapping[str, Reading]]]) -> dict[str, bool]:
    """The quasi-identifiers that a column determines whose values stand beside its own in no table.

    Each with whether its values stand in a table at all.
    """
    name = profile.column
    tables = [readings for table, readings in shown_readings if profile.table in (None, table)]
    beside = [readings for readings in tables if name in readings]
    return {
        quasi: any(readings.get(quasi) in _VALUES for readings in tables)
        for quasi in profile.agreeing
        if not any(readings[name] is readings.get(quasi) in _VALUES for readings in beside)
    }


def _required_of(state: State, sensitive: str) -> set[str]:
    """The models that the policy requires of a sensitive column by itself, in classes by all quasi-identifiers."""
    return {r.question.model for r in state.requirements if r.attributes == (sensitive,) and not r.on}


def _is_one_bucket(state: State) -> bool:
    """Whether the tables of a release show their values by bucket, and all rows, of which there are several, in one."""
    query, choice = state.compiled, need(state.choice)
    if not isinstance(query, TablesQuery) or choice.rows - choice.suppressed < _SEVERAL:
        return False
    for index, table in enumerate(query.tables):
        for part in table.columns:
            if part.reading is Reading.BUCKET:
                made = _table(state, query, index, [part.name])
                low, high = state.engine.rows(
                    exp.select(f.min(column(part.name)), f.max(column(part.name))).from_(made)
                )[0]
                return bool(low == high)
    return False


def _bucket_figures(state: State) -> Iterator[ClassFigures]:
    """The figures of the buckets of each table that shows them beside sensitive values."""
    query = state.compiled
    if not isinstance(query, TablesQuery):
        return
    for index, table in enumerate(query.tables):
        buckets = [part.name for part in table.columns if part.reading is Reading.BUCKET]
        values = [p for p in table.columns if p.role is Role.SENSITIVE and p.reading is Reading.BUCKET_VALUE]
        if buckets and values:
            names = [part.name for part in values]
            made = _table(state, query, index, [*buckets, *names])
            figures = class_figures(state.engine, made, need(state.choice).rows, buckets, names)
            called = {part.name: part.bound.column if part.bound else part.name for part in values}
            yield replace(figures, known_alike={called[name]: n for name, n in figures.known_alike.items()})


def _table(state: State, query: TablesQuery, index: int, names: Sequence[str]) -> exp.Table | exp.Subquery:
    """Some columns of a table of the release, whether it is made or not."""
    if state.candidates:
        return relation(state.candidates[index].stands)
    return _planned(query.tables[index], names, query.tokens)


def _planned(table: PublishedTable, names: Sequence[str], tokens: Mapping[str, str]) -> exp.Subquery:
    """Some columns of a table that is not made, without the tables of tokens, which are made with a release."""
    query = table.query.copy()
    query.set("expressions", [output for output in query.expressions if output.alias_or_name in names])
    joined = query.args.get("joins") or []
    query.set("joins", [join for join in joined if join.this.name not in tokens.values()])
    return query.subquery("planned", copy=False)


def _unproven(choice: Choice) -> Iterator[str]:
    """That the search was stopped before its end, and how much better any other choice could be."""
    searched = choice.searched
    if searched is not None and not searched.proven and searched.least is not None and searched.least < choice.loss:
        # That nothing loses less than nothing need not be said.
        bound = (
            f", and none that may be published loses less than {loss_text(searched.least)}" if searched.least else ""
        )
        yield (
            f"the {choice.loss_name.replace('_', ' ')} {loss_text(choice.loss)} is not proven to be the least: the "
            f"search stopped after {searched.checked} of {counted(searched.nodes, 'node')}{bound}; a longer time_limit "
            "may find better levels"
        )


def _respondent(noted: Sequence[Profile], width: int) -> Profile | None:
    """The column that is most like a number of a person: it repeats, and determines most quasi-identifiers."""
    alike = [p for p in noted if p.is_repeated and (p.role is Role.IDENTIFIER or p.is_respondent(width))]
    return max(alike, key=lambda p: (len(p.agreeing), p.role is Role.IDENTIFIER, p.values), default=None)


def _class_figures(state: State, sensitive: Sequence[str], respondent: Profile | None) -> ClassFigures:
    """The figures of the candidate's classes; of the classes that it would have, where it is not made."""
    query = state.one_query
    columns = [*sensitive, *([respondent.column] if respondent else [])]
    rows: exp.Table | exp.Subquery
    if state.candidates and set(columns) <= set(query.columns):
        rows = relation(state.candidates[0].stands)
    else:
        rows = _with_respondent(state, query, respondent).subquery("released", copy=False)
    choice = need(state.choice)
    return class_figures(state.engine, rows, choice.rows - choice.suppressed, query.keys, columns)


def _with_respondent(state: State, query: ReleaseQuery, respondent: Profile | None) -> exp.Query:
    """The rows that are released, from the source as it was searched, with the column of respondents."""
    policy = need(state.bound)
    if respondent is not None and respondent.column not in query.columns:
        others = tuple(bound for bound in policy.attributes if bound.column != respondent.column)
        policy = replace(policy, attributes=(*others, _as_published(state, respondent.column)))
    policy = replace(policy, attributes=tuple(map(_without_token, policy.attributes)))
    source = source_columns(policy, policy.relation, query.placed)
    if query.public is not None and need(state.bound).public is not None:
        public = need(need(state.bound).public)
        public_rows = exp.select(*(column(part) for part in public.columns)).from_(relation(public.relation))
        query = replace(query, public=public_rows, public_stable=True)
    rows = replace(query, policy=policy, source=source, stable=True, collated=False).select()
    return rows if state.candidates else _from_copies(state, query, rows)


def _without_token(bound: BoundAttribute) -> BoundAttribute:
    """The attribute with its values: tokens are made with a release, and are as many as the values behind them."""
    if not bound.attribute.pseudonym:
        return bound
    role = Role.ENTITY if bound.role is Role.ENTITY else Role.INSENSITIVE
    return replace(bound, attribute=replace(bound.attribute, role=role, pseudonym=None))


def _as_published(state: State, name: str) -> BoundAttribute:
    rows = exp.select(column(name)).from_(relation(need(state.bound).relation))
    ((_, kind),) = state.engine.columns(rows)
    return BoundAttribute(Attribute(name, Role.INSENSITIVE), name, kind, kind)


def _from_copies(state: State, query: ReleaseQuery, rows: exp.Query) -> exp.Query:
    """The query with temporary tables in the place of the catalog's copies, which a dry run does not make."""
    if not any(_of_catalog(table) for table in rows.find_all(exp.Table)):
        return rows
    tables = [_empty_copy(state, name) for name in CATALOG.names]
    freeze(state.engine, query.release_id, need(state.bound), state.requirements, query.recodings, to=Copies(*tables))
    temporary = dict(zip(CATALOG.names, tables, strict=True))
    for table in list(rows.find_all(exp.Table)):
        if name := _of_catalog(table):
            table.replace(relation(temporary[name], as_=table.alias or table.name))
    return rows


def _of_catalog(table: exp.Table) -> QualifiedName | None:
    """Which of the catalog's copies a table is; None if it is none of them."""
    name = QualifiedName((table.db, table.name))
    return name if name in CATALOG.names else None


def _empty_copy(state: State, name: QualifiedName) -> QualifiedName:
    nothing = exp.select(exp.Star()).from_(relation(name)).where(exp.false(), copy=False)
    return QualifiedName((state.scratch.table(name.parts[-1], nothing),))
