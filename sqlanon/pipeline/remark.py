"""What the policy's roles may have overlooked, in the source and in the classes of the release. Never a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.choice import Choice
from sqlanon.domain.counts import counted
from sqlanon.domain.policy import Attribute, Role
from sqlanon.engines.base import Engine, Query
from sqlanon.errors import InternalError
from sqlanon.methods.shared.wording import loss_text
from sqlanon.pipeline.compile import source_columns
from sqlanon.pipeline.state import State, need
from sqlanon.releases.frozen_inputs import freeze_labels, freeze_ranges, freeze_taxonomies
from sqlanon.remarks.classes import ClassFigures, class_figures
from sqlanon.remarks.columns import Profile, profiles
from sqlanon.remarks.wording import EMPTY, of_classes, of_columns
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.release.release_query import ReleaseQuery

__all__ = ["remark_stage"]

_Tree = TypeVar("_Tree", bound=exp.Expr)

# The catalog's copies of what a release reads besides its source.
_COPIES = ("release_recoding", "release_taxonomy", "release_value_range")


def remark_stage(state: State) -> State:
    """Looks at the columns of the source and at the classes of the release, and says what may have been overlooked."""
    return state.having(remarks=tuple(_remarks(state)))


def _remarks(state: State) -> Iterator[str]:
    bound, choice = need(state.bound), need(state.choice)
    if not choice.rows:
        yield EMPTY
        return
    noted = profiles(state.engine, bound, choice.rows)
    width = len(bound.quasi_identifiers)
    respondent = _respondent(noted, width)
    yield from of_columns(noted, width, respondent)
    if isinstance(state.compiled, ReleaseQuery) and choice.rows > choice.suppressed:
        sensitive = [attribute.column for attribute in bound.sensitive]
        yield from of_classes(_class_figures(state, sensitive, respondent), sensitive, respondent)
    yield from _unproven(choice)


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
    return max(alike, key=lambda p: (len(p.determined), p.role is Role.IDENTIFIER, p.values), default=None)


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
    if not any(table.db == "anon" and table.name in _COPIES for table in rows.find_all(exp.Table)):
        return rows
    tables = {
        name: state.scratch.table(
            name, exp.select(exp.Star()).from_(relation(("anon", name))).where(exp.false(), copy=False)
        )
        for name in _COPIES
    }
    engine = cast(Engine, _Redirecting(state.engine, tables))
    for recoding in query.recodings:
        if recoding.is_read and recoding.bound.stored:
            freeze_labels(engine, query.release_id, recoding)
    freeze_taxonomies(engine, query.release_id, need(state.bound), state.requirements)
    freeze_ranges(engine, query.release_id, need(state.bound).ranges)
    return _redirected(rows, tables)


class _Redirecting:
    """Runs statements on temporary tables in the place of the catalog's."""

    def __init__(self, engine: Engine, tables: dict[str, str]) -> None:
        self._engine, self._tables = engine, tables

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Raises InternalError for a statement that would write to the catalog itself."""
        tree = None if isinstance(query, str) else _redirected(query, self._tables)
        written = tree.find(exp.Table) if isinstance(tree, exp.Insert) else None
        if tree is None or written is None or written.name not in self._tables.values():
            raise InternalError("a dry run would write to the catalog; nothing was done")
        self._engine.run(tree, parameters)


def _redirected(tree: _Tree, tables: dict[str, str]) -> _Tree:
    for table in list(tree.find_all(exp.Table)):
        if table.db == "anon" and table.name in tables:
            table.replace(relation(tables[table.name], as_=table.alias or table.name))
    return tree
