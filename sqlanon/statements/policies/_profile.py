"""PROFILE: finds the identifying columns of a table, and proposes a first policy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlanon.assess.profiling.categories import DEMOGRAPHIC, recognized
from sqlanon.assess.profiling.checked_values import not_looked_for, notes
from sqlanon.assess.profiling.combinations import Combinations, Search, count_alone, search
from sqlanon.assess.profiling.relations import relations
from sqlanon.assess.profiling.roles import (
    ProposedRole,
    RareTexts,
    Values,
    proposed_role,
    publishable,
    rare_texts,
    related_roles,
    survival_roles,
    unrecognized,
    values_of,
)
from sqlanon.assess.profiling.sample import Sample, sampled
from sqlanon.catalog import hierarchies, policies, releases
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted, per_cent
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName, Source, variable_of
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.estimates.release_model import counted_source, number_column
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import BoundSource, bind_source, source_column
from sqlanon.sql.build import names
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.statements.policies._proposal import (
    ProposedColumn,
    about_policy,
    about_release,
    first_release,
    numbered_name,
    proposed_columns,
    statements,
    write_script,
)
from sqlanon.statements.policies.profile import Profile
from sqlanon.syntax.definitions import role_text

# The characters that a typed name of a policy cannot have.
_NO_WORD = re.compile(r"\W+")
# The most sets of a size, keys, and columns that make rows special, that are listed.
_LISTED = 3
_LISTED_KEYS = 10
_LISTED_SPECIAL = 5
_NO_POLICY = "a policy needs a column by which people could be found: there is none"

Row = tuple[Any, ...]


def profile(engine: Engine, statement: Profile) -> list[Row]:
    """Profiles the columns of a table; returns the rows of the answer.

    There is a row for each column, for the most identifying sets of columns of each size, for the minimal sets that
    identify nearly all rows, for each proposed statement, and for the statement that makes a first release. If the
    statements are written to a file, there is a row for each column and a row for the file. Figures count all rows; the
    answer does not contain values of the table, except codes for missing values. Raises PolicyError for a missing
    source or column, and UserError for a file that cannot be written.
    """
    with engine.transaction(), TempTables(engine) as temp:
        source = _bound(engine, statement.source, temp)
        parts = list(_relations(engine, source, _columns(statement, source.columns), temp))
        comments = _comments(engine, statement.source)
        roles = publishable(unrecognized([role for part in parts for role in _roles(engine, part, comments)]))
        taken = {fold(name) for name in hierarchies.listing(engine)}
        name = numbered_name(_policy_name(statement.source), {fold(name) for name in policies.listing(engine)})
        tables = {column: part.rows for part in parts for column, _ in part.columns}
        proposed = proposed_columns(engine, tables, statement.source, roles, name, taken)
        quasi = [c.values.counted for c in proposed if c.attribute.role is Role.QUASI_IDENTIFIER]
        searched = search(temp, source.relation, quasi) if quasi else None
        of_columns = [_of_column(column) for column in proposed]
        of_sets = [*(_of_sets(searched) if searched else ()), *_of_lacking(engine)]
        script = (
            list(_to_run(engine, proposed, statement.source, name)) if quasi else [_to_edit(name, None, _NO_POLICY)]
        )
    if statement.into is None:
        return [*of_columns, *of_sets, *script]
    write_script(statement.into, script, replace=statement.replace)
    return [*of_columns, ("script", statement.into, *[None] * 6, f"edit it, then run it: {_run_text(statement.into)}")]


def _run_text(path: str) -> str:
    return f"sqlanon run {shlex.quote(path)}"


def _comments(engine: Engine, source: Source) -> dict[str, str]:
    """Reads the comments on the columns of a table or view, by column name; the result is empty for other sources."""
    entry = find_relation(engine, source.name) if source.name is not None and engine.reads_in_place else None
    return dict(engine.rows(sql_file("statements", "column_comments"), entry[1].parts)) if entry else {}


def _roles(engine: Engine, part: _Relation, comments: Mapping[str, str]) -> list[tuple[Values, ProposedRole]]:
    """Proposes the roles of a relation's columns from their names, their values and their relations."""
    alone = count_alone(engine, part.rows, [name for name, _ in part.columns])
    sample = sampled(engine, part.values, part.columns, alone[0].rows if alone else 0)
    recognitions = recognized(sample, comments)
    notes_of = {column.name: "".join(f"; {note}" for note in notes(column)) for column in sample.columns}
    roles = []
    dense = {column.name for column in sample.columns if column.counts(alone[0].rows)}
    rare = rare_texts(engine, part.rows, sample)
    for values in values_of(engine, part.rows, part.columns, alone):
        values = replace(values, counts=values.name in dense, rare=rare.get(values.name, RareTexts()))
        role = proposed_role(values, recognitions.get(values.name))
        roles.append((values, replace(role, why=f"{role.why}{notes_of.get(values.name, '')}")))
    roles = survival_roles(roles)
    if not engine.reads_in_place:
        return roles
    possible = {values.name for values, role in roles if role.role is not Role.IDENTIFIER}
    compared = Sample(tuple(column for column in sample.columns if column.name in possible), sample.whole)
    demographic = [name for name, recognition in recognitions.items() if recognition.category in DEMOGRAPHIC]
    return related_roles(roles, relations(engine, part.rows, compared), demographic)


def _of_lacking(engine: Engine) -> Iterator[Row]:
    """Yields remarks on checks that were not made because a package of the extra `profile` is missing, or because rows
    are on another engine.
    """
    if lacking := not_looked_for():
        yield _remark(lacking)
    if not engine.reads_in_place:
        yield _remark("not looked for: columns that are functions of others")


def _remark(why: str) -> Row:
    return "remark", None, None, None, None, None, None, None, why


def _bound(engine: Engine, source: Source, temp: TempTables) -> BoundSource:
    """Reads the source with its columns. An error names only the source, because there is no policy yet."""
    try:
        return bind_source(engine, source, temp, failed="the source cannot be read")
    except PolicyError as error:
        if source.query:
            error.hint = error.hint or _readable(str(source.query))
        raise


def _readable(query: str) -> str:
    """Returns advice for an unreadable source that is a file, a function, or a query."""
    path = "a path begins in the folder in which sqlanon runs"
    if query.startswith("FROM '"):
        return f"{path}; SHOW ALL TABLES lists the tables"
    if query.startswith("FROM ") and query.endswith(")"):
        return f"{path}; columns of a table are listed without quotes or in double quotes: PROFILE people (age, zip)"
    return "the query has to run by itself"


@dataclass(frozen=True)
class _Relation:
    """Columns, the relation with all their `rows`, and a relation with some `values`, by which their form is
    recognized.
    """

    columns: Sequence[Column]
    rows: QualifiedName
    values: QualifiedName


def _relations(engine: Engine, source: BoundSource, columns: Sequence[Column], temp: TempTables) -> Iterator[_Relation]:
    """Yields the relations of the columns: the source, or on another engine a relation for each column, with values and
    their counts.

    Raises UserError for a column with too many values to collect.
    """
    if engine.reads_in_place:
        yield _Relation(columns, source.relation, source.relation)
        return
    for column in columns:
        name, _ = column
        counted = counted_source(names.relation(source.relation), [name], number_column([name]), temp)
        yield _Relation([column], QualifiedName((counted.rows,)), QualifiedName((counted.groups,)))


def _columns(statement: Profile, columns: Sequence[Column]) -> list[Column]:
    if not statement.columns:
        return list(columns)
    named = []
    for name in statement.columns:
        with about("columns", name):
            named.append(source_column(name, columns, statement.source.called))
    return list(dict.fromkeys(named))


def _policy_name(source: Source) -> str:
    if source.name is None:
        return "proposed"
    name = variable_of(source.name.name) or source.name.name
    # The name of a path's last part.
    return _NO_WORD.sub("_", Path(name).stem).strip("_") or "proposed" if "/" in name else name


def _of_column(column: ProposedColumn) -> Row:
    values = column.values
    missing = values.nulls / values.counted.rows if values.counted.rows else None
    figures = (values.counted.distinction, values.counted.separation, values.counted.unique)
    return "column", values.name, values.distinct, missing, *figures, role_text(column.attribute), column.why


def _of_sets(searched: Search) -> Iterator[Row]:
    for size, sets in enumerate(searched.by_size, 1):
        telling = sorted(sets, key=lambda combination: (-combination.alone, combination.alike, combination.columns))[
            :_LISTED
        ]
        mean = sum(combination.unique or 0 for combination in sets) / len(sets) if sets else 0
        for number, combination in enumerate(telling, 1):
            columns = counted(size, "column")
            rank = f"rank {number} of {counted(len(sets), 'set')} of {columns}"
            why = f"{rank}, whose mean of unique_rows is {per_cent(mean)}"
            yield _of_set("columns", combination, why)
    for key in sorted(
        searched.keys, key=lambda combination: (len(combination.columns), -combination.alone, combination.columns)
    )[:_LISTED_KEYS]:
        yield _of_set("key", key, "tells nearly all rows apart, and no part of it does")
    yield from _of_special(searched)
    if searched.left_out:
        left_out = counted(searched.left_out, "column")
        yield "columns", None, None, None, None, None, None, None, f"{left_out} more are in none of these sets"


def _of_special(searched: Search) -> Iterator[Row]:
    rows, special_columns = searched.by_size[0][0].rows, searched.special
    others = "another column" if special_columns.size == 2 else f"up to {special_columns.size - 1} other columns"
    all_columns = counted(len(special_columns.columns), "column")
    for number, special in enumerate(special_columns.columns[:_LISTED_SPECIAL], 1):
        alone = f"{counted(special.rows, 'row')} {'is' if special.rows == 1 else 'are'} alone by it"
        share = f"{per_cent(special.contribution)} of the SUDA scores"
        why = f"rank {number} of {all_columns}: {alone} and {others}, all needed; {share}"
        yield "special", special.name, None, None, None, None, special.rows / rows, None, why


def _of_set(part: str, combination: Combinations, why: str) -> Row:
    return (
        part,
        ", ".join(combination.columns),
        combination.values,
        None,
        combination.distinction,
        combination.separation,
        combination.unique,
        None,
        why,
    )


def _to_run(engine: Engine, proposed: Sequence[ProposedColumn], source: Source, policy: str) -> Iterator[Row]:
    """Yields the rows with the statements that make the hierarchies, the policy, and a first release."""
    *of_hierarchies, (_, of_policy) = statements(proposed, source, policy)
    for hierarchy, text in of_hierarchies:
        yield _to_edit(hierarchy, text, "edit it, then run it")
    yield _to_edit(policy, of_policy, about_policy(proposed))
    release = numbered_name(f"{policy}_release", _names_of_objects(engine))
    text = first_release(proposed, policy, release)
    yield "release", release, None, None, None, None, None, text, about_release(proposed)


def _to_edit(made: str, text: str | None, why: str) -> Row:
    return "statement", made, None, None, None, None, None, text, why


def _names_of_objects(engine: Engine) -> set[str]:
    """Returns the names of tables, views and releases, in lower case.

    Releases are read from the catalog, because a release of several tables has no table of its own name.
    """
    tables = select(names.column("table_name"), of=names.relation(("information_schema", "tables")))
    called = [name for (name,) in engine.rows(tables)]
    return {fold(name) for name in [*called, *(release.name for release, _ in releases.listing(engine))]}
