"""Remarks on oversights in a policy's roles, from the source and from the release's classes. No release is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Choice, WithNoise
from sqlanon.domain.explanation import Remarked as RemarkedChoice
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.release import Reading
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.registry import BASELINES
from sqlanon.methods.shared.arguments import called
from sqlanon.methods.shared.wording import loss_text
from sqlanon.release.existing.frozen_inputs import CATALOG, Copies, freeze
from sqlanon.release.pipeline.cell_classes import released_cells
from sqlanon.release.pipeline.compare import contenders_of
from sqlanon.release.pipeline.compile import source_columns
from sqlanon.release.pipeline.stages import Bound, Candidate, Checked, Compiled, Plan, Planned, Remarked
from sqlanon.release.remarks.columns import ClassFigures, Profile, class_figures, profiles, rows_of_nobody
from sqlanon.release.remarks.wording import (
    ELSEWHERE,
    EMPTY,
    ONE_BUCKET,
    of_classes,
    of_columns,
    of_known_values,
    of_levels,
    of_nobody,
    of_open_ends,
    of_people,
    of_stars,
    of_told,
    of_weights,
    without_open_ends,
)
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.hierarchies.base import open_ends
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery

# The least number of rows that can be in two buckets.
_SEVERAL = 2
# The readings of values of the source, which a table links to other columns with the same reading.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE)
# The methods that publish one bucket on purpose.
_COMPARED_WITH = {name for name, _ in BASELINES}


def remark_stage(checked: Checked) -> Remarked:
    """Examines the columns of the source and the classes of the release, unless remarks are not needed."""
    made = checked.materialized
    alone = made.bound.resolved.requested.alone
    return Remarked(checked, () if alone else tuple(_remarks(made.compiled, made.candidates)))


def remark_plan(planned: Planned) -> Plan:
    """Examines the columns of the source and the classes of the planned release."""
    return Plan(planned, tuple(_remarks(planned.compiled, ())))


def _remarks(compiled: Compiled, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Yields sentences about possible oversights of the policy; `candidates` are empty if the release is not made."""
    bound, choice = compiled.bound, compiled.choice
    if isinstance(choice, WithNoise):
        # Remarks on the source's rows would reveal something about the rows.
        if isinstance(choice, RemarkedChoice):
            yield from choice.remarks
        return
    if not bound.engine.reads_in_place:
        yield ELSEWHERE
    elif not choice.rows:
        yield EMPTY
        return
    else:
        yield from _of_stars(compiled)
        yield from _of_open_ends(compiled)
        yield from _of_levels(compiled)
        noted = profiles(bound.engine, bound.policy, choice.rows)
        respondent = _respondent(noted, len(bound.policy.quasi_identifiers))
        yield from _of_source(compiled, noted, respondent)
        if isinstance(compiled.query, ReleaseQuery):
            yield from _of_release(compiled, compiled.query, candidates, respondent)
        elif bound.create.method.name not in _COMPARED_WITH:
            yield from _of_tables(compiled, compiled.query, candidates)
        if isinstance(choice, RemarkedChoice):
            yield from choice.remarks
    yield from _unproven(choice)


def _of_stars(compiled: Compiled) -> Iterator[str]:
    """Yields a remark on quasi-identifiers that are `*` in every row, with advice."""
    bound, query = compiled.bound, compiled.query
    if not isinstance(query, ReleaseQuery):
        return
    starred = [
        recoding.bound.column
        for recoding in query.recodings
        if recoding.bound.height and set(recoding.levels) == {recoding.bound.height}
    ]
    if starred:
        compared, is_kept = bound.comparison is not None, bound.kept_comparison is not None
        alternatives, less = _alternatives(bound), _losing_less(bound)
        yield of_stars(starred, compared=compared, is_kept=is_kept, alternatives=alternatives, less=less)


def _of_open_ends(compiled: Compiled) -> Iterator[str]:
    """Yields a remark on quasi-identifiers whose hierarchy has open ends, with words as labels, that no row shows."""
    query = compiled.query
    if isinstance(query, ReleaseQuery) and query.placed is None:
        if ended := [r.bound.column for r in query.recodings if 0 in r.levels and open_ends(r.bound.hierarchy)]:
            yield of_open_ends(ended)
    elif ended := [each.column for each in compiled.bound.policy.quasi_identifiers if open_ends(each.hierarchy)]:
        yield without_open_ends(ended)


def _of_levels(compiled: Compiled) -> Iterator[str]:
    """Yields a remark on quasi-identifiers whose MAX LEVEL has no effect on the method."""
    bound = compiled.bound
    limited = [b.column for b in bound.policy.quasi_identifiers if b.max_level < b.height]
    readings = {name for _, columns in _shown_readings(compiled) for name, how in columns.items() if how in _VALUES}
    if not bound.method.KEEPS_MAX_LEVEL and (wide := [name for name in limited if name not in readings]):
        yield of_levels(bound.create.method.name, wide)


def _losing_less(bound: Bound) -> str | None:
    """Returns the compared method with the least loss if another method was chosen; None if methods were
    not compared.
    """
    comparison = bound.comparison
    losses = [(each.loss, each) for each in comparison.contenders if each.loss is not None] if comparison else []
    if comparison is None or not losses:
        return None
    least = min(losses, key=lambda pair: pair[0])[1]
    chosen = comparison.chosen or least
    if chosen.loss is None or least.loss is None or least.loss >= chosen.loss:
        return None
    return called(least.call.name, dict(least.call.arguments))


def _alternatives(bound: Bound) -> list[str]:
    """Returns the methods that could do the task and were not compared with the statement's method."""
    resolved = bound.resolved
    if bound.comparison is not None or resolved.create.series or resolved.requested.leveled:
        return []
    unnamed = replace(resolved.requested, create=replace(resolved.requested.create, method=MethodCall()))
    contenders = contenders_of(unnamed, resolved.policy, resolved.hierarchies, bound.requirements)
    now = (bound.create.method.name.lower(), bound.create.method.arguments)
    calls = [each.call for each in contenders if each.refused is None]
    return [called(c.name, dict(c.arguments)) for c in calls if (c.name, c.arguments) != now]


def _of_source(compiled: Compiled, noted: Sequence[Profile], respondent: Profile | None) -> Iterator[str]:
    """Yields remarks on the columns of the source, unless a requirement is about them."""
    bound, policy = compiled.bound, compiled.bound.policy
    shown_readings = _shown_readings(compiled)
    width = len(policy.quasi_identifiers)
    yield from of_columns(noted, width, respondent, lambda profile: _hidden(profile, shown_readings))
    if (weight := policy.policy.sampling_weight) is not None:
        yield of_weights(weight.name)
    for each in bound.telling:
        yield of_told(each.coarse, each.other)
    if policy.entity is not None:
        yield from of_nobody(policy.entity.column, rows_of_nobody(bound.engine, policy))
    if policy.related:
        required = {name for requirement in bound.requirements for name in requirement.attributes}
        yield from of_people([b.column for b in policy.all_sensitive if b.column not in required])


def _of_release(
    compiled: Compiled, query: ReleaseQuery, candidates: Sequence[Candidate], respondent: Profile | None
) -> Iterator[str]:
    """Yields remarks on the classes of a release that is one table or view."""
    if compiled.choice.rows <= compiled.choice.suppressed:
        return
    requirements = compiled.bound.requirements
    sensitive = {b.column: _required_of(requirements, b.column) for b in compiled.bound.policy.sensitive}
    figures = _class_figures(compiled, query, candidates, list(sensitive), respondent)
    yield from of_classes(figures, sensitive, respondent, together=any(r.on for r in requirements))


def _of_tables(compiled: Compiled, query: TablesQuery, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Yields remarks on the buckets of a release of several tables."""
    if _is_one_bucket(compiled, query, candidates):
        yield ONE_BUCKET
    for index, table in enumerate(query.tables):
        buckets = [part.name for part in table.columns if part.reading is Reading.BUCKET]
        values = [p for p in table.columns if p.role is Role.SENSITIVE and p.reading is Reading.BUCKET_VALUE]
        if buckets and values:
            rows = _table(query, candidates, index, [*buckets, *(part.name for part in values)])
            figures = _bucket_figures(compiled, rows, buckets, values)
            yield from of_known_values(figures, figures.known_alike, "bucket")


def _shown_readings(compiled: Compiled) -> list[tuple[str | None, Mapping[str, Reading]]]:
    """Returns the published tables, each with its name and the readings of the source's columns in it."""
    query, readings = compiled.query, compiled.readings
    if isinstance(query, TablesQuery):
        return [(table.name, {p.bound.column: p.reading for p in table.columns if p.bound}) for table in query.tables]
    return [(None, {b.column: readings.get(b.column, Reading.EXACT) for b in compiled.bound.policy.published})]


def _hidden(profile: Profile, shown_readings: Sequence[tuple[str | None, Mapping[str, Reading]]]) -> dict[str, bool]:
    """Returns the quasi-identifiers that a column determines and that no table shows unchanged together with the
    column.

    The value of each is whether any table shows its values.
    """
    name = profile.column
    tables = [readings for table, readings in shown_readings if profile.table in (None, table)]
    beside = [readings for readings in tables if name in readings]
    return {
        quasi: any(readings.get(quasi) in _VALUES for readings in tables)
        for quasi in profile.agreeing
        if not any(readings[name] is readings.get(quasi) in _VALUES for readings in beside)
    }


def _required_of(requirements: Sequence[BoundRequirement], sensitive: str) -> set[str]:
    """Returns the models that the policy requires of a sensitive column alone, in classes by all quasi-identifiers."""
    return {r.question.model for r in requirements if r.attributes == (sensitive,) and not r.on}


def _is_one_bucket(compiled: Compiled, query: TablesQuery, candidates: Sequence[Candidate]) -> bool:
    """Whether the tables of a release show values by bucket, and all rows are in one bucket."""
    if compiled.choice.rows - compiled.choice.suppressed < _SEVERAL:
        return False
    for index, table in enumerate(query.tables):
        for part in table.columns:
            if part.reading is Reading.BUCKET:
                rows = _table(query, candidates, index, [part.name])
                both = select(f.min(column(part.name)), f.max(column(part.name)), of=rows)
                low, high = compiled.bound.engine.rows(both)[0]
                return bool(low == high)
    return False


def _bucket_figures(
    compiled: Compiled, rows: exp.Table | exp.Subquery, buckets: Sequence[str], values: Sequence[PublishedColumn]
) -> ClassFigures:
    """Returns the figures of the buckets of a table that has buckets and sensitive values."""
    names = [part.name for part in values]
    figures = class_figures(compiled.bound.engine, rows, compiled.choice.rows, buckets, names)
    named = {part.name: part.bound.column if part.bound else part.name for part in values}
    return replace(figures, known_alike={named[name]: n for name, n in figures.known_alike.items()})


def _table(
    query: TablesQuery, candidates: Sequence[Candidate], index: int, names: Sequence[str]
) -> exp.Table | exp.Subquery:
    """Returns some columns of a table of the release, from its candidate or, without a candidate, from its query."""
    if candidates:
        return relation(candidates[index].stands)
    return _planned(query.tables[index], names, query.tokens)


def _planned(table: PublishedTable, names: Sequence[str], tokens: Mapping[str, str]) -> exp.Subquery:
    """Returns some columns of a table that EXPLAIN does not make. A dry run has no tables of tokens."""
    query = table.query.copy()
    query.set("expressions", [output for output in query.expressions if output.alias_or_name in names])
    joined = query.args.get("joins") or []
    query.set("joins", [join for join in joined if join.this.name not in tokens.values()])
    return subquery(query, "planned")


def _unproven(choice: Choice) -> Iterator[str]:
    """Yields the remark on a search that was stopped before its end, with the bound on any better choice."""
    searched = choice.searched
    if searched is not None and not searched.proven and searched.least is not None and searched.least < choice.loss:
        # A bound of 0 needs no words.
        bound = (
            f", and none that may be published loses less than {loss_text(searched.least)}" if searched.least else ""
        )
        yield (
            f"the {choice.loss_name.replace('_', ' ')} {loss_text(choice.loss)} is not proven to be the least: the "
            f"search stopped after {searched.checked} of {counted(searched.nodes, 'node')}{bound}; a longer time_limit "
            "may find better levels"
        )


def _respondent(noted: Sequence[Profile], width: int) -> Profile | None:
    """Returns the column that looks most like a person's number: it repeats and determines most quasi-identifiers.
    Returns None if there is no such column.
    """
    alike = [p for p in noted if p.is_repeated and (p.role is Role.IDENTIFIER or p.is_respondent(width))]
    return max(alike, key=lambda p: (len(p.agreeing), p.role is Role.IDENTIFIER, p.values), default=None)


def _class_figures(
    compiled: Compiled,
    query: ReleaseQuery,
    candidates: Sequence[Candidate],
    sensitive: Sequence[str],
    respondent: Profile | None,
) -> ClassFigures:
    """Returns the figures of the classes of the candidate, or of the planned release."""
    bound, choice = compiled.bound, compiled.choice
    columns = [*sensitive, *([respondent.column] if respondent else [])]
    rows: exp.Table | exp.Subquery
    released: exp.Query
    weight: str | None = None
    if candidates and set(columns) <= set(query.columns):
        rows = relation(candidates[0].stands)
    else:
        by_cells = None if candidates else released_cells(compiled, query)
        if by_cells is not None and set(columns) <= set(by_cells[1].columns):
            released, _, weight = by_cells
        else:
            released = _with_respondent(bound, query, respondent)
        rows = subquery(released if candidates else _from_copies(bound, query, released), "released")
    return class_figures(bound.engine, rows, choice.rows - choice.suppressed, query.keys, columns, weight)


def _with_respondent(bound: Bound, query: ReleaseQuery, respondent: Profile | None) -> exp.Query:
    """SELECT of the released rows with the column of respondents, from the relation that was searched."""
    policy, public = bound.policy, bound.policy.public
    if respondent is not None and respondent.column not in query.columns:
        others = tuple(attribute for attribute in policy.attributes if attribute.column != respondent.column)
        policy = replace(policy, attributes=(*others, _as_published(bound, respondent.column)))
    policy = replace(policy, attributes=tuple(map(_without_token, policy.attributes)))
    source = source_columns(policy, policy.relation, query.placed)
    if query.public is not None and public is not None:
        public_rows = select(*(column(part) for part in public.columns), of=relation(public.relation))
        query = replace(query, public=public_rows, public_stable=True)
    return replace(query, policy=policy, source=source, stable=True, collated=False).select()


def _without_token(bound: BoundAttribute) -> BoundAttribute:
    """Returns the attribute without its pseudonym, for a dry run.

    Tokens exist only in a release, and equal values have equal tokens.
    """
    if not bound.attribute.pseudonym:
        return bound
    role = Role.ENTITY if bound.role is Role.ENTITY else Role.INSENSITIVE
    return replace(bound, attribute=replace(bound.attribute, role=role, pseudonym=None))


def _as_published(bound: Bound, name: str) -> BoundAttribute:
    rows = select(column(name), of=relation(bound.policy.relation))
    ((_, kind),) = bound.engine.columns(rows)
    return BoundAttribute(Attribute(name, Role.INSENSITIVE), name, kind, kind)


def _from_copies(bound: Bound, query: ReleaseQuery, rows: exp.Query) -> exp.Query:
    """Replaces the catalog's copies in a query by temporary tables, because a dry run makes no copies."""
    if not any(_of_catalog(table) for table in rows.find_all(exp.Table)):
        return rows
    tables = [_empty_copy(bound.temp, name) for name in CATALOG.names]
    freeze(bound.engine, query.release_id, bound.policy, bound.requirements, query.recodings, to=Copies(*tables))
    copies = dict(zip(CATALOG.names, tables, strict=True))
    for table in list(rows.find_all(exp.Table)):
        if name := _of_catalog(table):
            table.replace(relation(copies[name], as_=table.alias or table.name))
    return rows


def _of_catalog(table: exp.Table) -> QualifiedName | None:
    """Returns the name of a table if it is one of the catalog's copies, otherwise None."""
    name = QualifiedName((table.db, table.name))
    return name if name in CATALOG.names else None


def _empty_copy(temp: TempTables, name: QualifiedName) -> QualifiedName:
    nothing = select(exp.Star(), of=relation(name), where=[exp.false()])
    return QualifiedName((temp.table(name.parts[-1], nothing),))
