"""Proposes a policy for a table, with its hierarchies, as statements that the user edits."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from sqlanon.assess.profiling.automatic import WRITTEN, definition, instead, propose
from sqlanon.assess.profiling.roles import ProposedRole, Values
from sqlanon.assess.profiling.sample import sizes
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import ROWS_ALIKE, VALUES_OF_A_CLASS, Attribute, Policy, Requirement, Role
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.hierarchies.propose_hierarchy import ProposeHierarchy
from sqlanon.syntax.definitions import policy_text, release_text

# AUTO reads only named tables.
_TABLE_FIRST = "of a table it would have one of groups of values, so make one first: CREATE TABLE name AS FROM ..."

_Statement = CreateHierarchy | ProposeHierarchy


@dataclass(frozen=True)
class ProposedColumn:
    """A column, its proposed attribute, the reason, and the statement that makes its hierarchy if it has one.

    `levels` is the number of levels in a search, including the values themselves and `*`. `may_be_entity` marks a
    possible number of a respondent with several rows.
    """

    values: Values
    attribute: Attribute
    why: str
    hierarchy: _Statement | None = None
    levels: int = 1
    may_be_entity: bool = False


def proposed_columns(
    engine: Engine,
    tables: Mapping[str, QualifiedName],
    source: Source,
    roles: Sequence[tuple[Values, ProposedRole]],
    policy: str,
    taken: Collection[str],
) -> list[ProposedColumn]:
    """Returns the columns of a table with their roles, each quasi-identifier with the hierarchy that fits its values.

    A hierarchy is named after the `policy` and the column, so that scripts for two tables do not collide; `taken` are
    the names of existing hierarchies, in lower case, and `tables` has the relation of each column. A source that is a
    query gets no groups of values, because the statement that makes groups reads a table.
    """
    names = set(taken)
    columns: list[ProposedColumn] = []
    for values, proposed in roles:
        role, why, entity = proposed.role, proposed.why, proposed.may_be_entity
        if role is not Role.QUASI_IDENTIFIER:
            columns.append(ProposedColumn(values, Attribute(values.name, role), why, may_be_entity=entity))
            continue
        name = numbered_name(f"{policy}_{values.name}", names)
        statement, lacking, between = _hierarchy(engine, tables[values.name], source, values, name)
        if statement:
            names.add(fold(name))
        attribute = Attribute(values.name, role, hierarchy=name if statement else None)
        columns.append(ProposedColumn(values, attribute, f"{why}{lacking}", statement, between + 2, entity))
    return columns


def _hierarchy(
    engine: Engine, table: QualifiedName, source: Source, values: Values, name: str
) -> tuple[_Statement | None, str, int]:
    """Returns the statement that makes a column's hierarchy, or a remark if none fits, and the number of levels below
    `*`.
    """
    try:
        fitting = propose(engine, table, values.name, values.type)
    except PolicyError:
        # A column of few values needs no hierarchy.
        lacking = values.distinct > sizes().few_values
        return None, f"; no hierarchy is proposed: {instead(values.type, values.name)}" if lacking else "", 0
    between = len(fitting.groups or fitting.arguments)
    if not fitting.groups:
        return CreateHierarchy(definition(name, fitting, table, values.name, values.type)), "", between
    if not engine.reads_in_place:
        return None, f"; no hierarchy of groups is read from Spark: {WRITTEN}", 0
    if source.name is None:
        return None, f"; no hierarchy is proposed: {_TABLE_FIRST}", 0
    return ProposeHierarchy(name, source.name, values.name), "", between


def numbered_name(name: str, taken: Collection[str]) -> str:
    """Returns the name, with a number added if it is taken."""
    number, free = 1, name
    while fold(free) in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def statements(columns: Sequence[ProposedColumn], source: Source, name: str) -> list[tuple[str, str]]:
    """Returns the statements that make the hierarchies and then the policy, each after the name of its object.

    The result is empty if there is no quasi-identifier, because a policy needs one.
    """
    if all(column.attribute.role is not Role.QUASI_IDENTIFIER for column in columns):
        return []
    made = [(str(column.attribute.hierarchy), column.hierarchy.sql()) for column in columns if column.hierarchy]
    policy = Policy(name, source, tuple(column.attribute for column in columns), _requirements(columns))
    return [*made, (name, policy_text(policy))]


def nodes(columns: Sequence[ProposedColumn]) -> int:
    """Counts the combinations of the quasi-identifiers' levels: these are the nodes of the searched lattice."""
    return prod(column.levels for column in columns)


def _requirements(columns: Sequence[ProposedColumn]) -> tuple[Requirement, ...]:
    """Returns the default requirements: k-anonymity, and l-diversity of all sensitive attributes if there are any."""
    is_sensitive = any(column.attribute.role is Role.SENSITIVE for column in columns)
    return (ROWS_ALIKE, VALUES_OF_A_CLASS) if is_sensitive else (ROWS_ALIKE,)


# The statement that makes a first release of a proposed policy, and advice for both.


def first_release(columns: Sequence[ProposedColumn], policy: str, name: str) -> str:
    """Returns CREATE ANONYMIZED TABLE, because a snapshot can be made of any source and in any database file.

    It uses the default method, or a method without levels if a search of levels would take minutes.
    """
    method = MethodCall(_competitors()[1]) if _is_large(columns) else MethodCall()
    return release_text(ReleaseRequest("table", QualifiedName((name,)), policy, method))


def about_policy(columns: Sequence[ProposedColumn]) -> str:
    """Returns advice on the limits of the policy's promise, and on a long search of its levels."""
    return "; ".join(["edit it, then run it", *_warnings(columns)])


def about_release(columns: Sequence[ProposedColumn]) -> str:
    """Returns advice on the time for the release, and the reason for a method other than the default."""
    when = "run it when the policy is as you want it: a snapshot beside its source, to look at"
    if not _is_large(columns):
        return when
    searching, other = _competitors()
    return f"{when}; METHOD {other}, since {searching} would search for minutes"


def _warnings(columns: Sequence[ProposedColumn]) -> Iterator[str]:
    if entities := [column.attribute.name for column in columns if column.may_be_entity]:
        *others, last = entities
        names = f"{', '.join(others)} or {last}" if others else last
        yield (
            f"if {names} says whom a row is about, make it ENTITY: requirements count rows until then, and all k rows "
            "of a class may be of one person"
        )
    if all(column.attribute.role is not Role.SENSITIVE for column in columns):
        yield (
            "no column looks SENSITIVE: is any of these what people would keep to themselves? make it SENSITIVE, since "
            "until then the policy promises k-anonymity alone: nobody's row is found, but what all rows of a class "
            "have in common is known of each person in it"
        )
    if _is_large(columns):
        searching, other = _competitors()
        yield (
            f"its levels have {nodes(columns):,} combinations, which METHOD {searching} searches for minutes, or only "
            f"with time_limit: METHOD {other} has none to search, {searching}(time_limit => 60) stops at the best so "
            "far, and with fewer quasi-identifiers more is left of each"
        )


def _competitors() -> tuple[str, str]:
    """Returns the first method in comparisons that searches levels, and the first method that does not."""
    # A terminal imports this module before it runs any statement.
    from sqlanon.methods.registry import competitor

    return competitor(by_levels=True), competitor(by_levels=False)


def _is_large(columns: Sequence[ProposedColumn]) -> bool:
    return nodes(columns) > sizes().quick_nodes


# The statements that PROFILE proposes as one script, with comments, and the file that it is written to.


# The width of comment lines: that of a narrow terminal.
_COMMENT_WIDTH = 76
# The part of the reason that all statements have.
_EDIT = "edit it, then run it"
# The first line of a script, which identifies files that may be replaced.
_HEAD = "-- Proposed by sqlanon: "


def script_lines(rows: Sequence[Sequence[object]]) -> list[str]:
    """Returns the statements in a profile's rows as lines, each below the remarks on it, which are comments."""
    return [line for row in rows if row[0] in ("statement", "release") for line in _lines(row)]


def _lines(row: Sequence[object]) -> Iterator[str]:
    *_, text, why = row
    for reason in str(why).split("; "):
        if reason != _EDIT:
            yield from textwrap.wrap(reason, _COMMENT_WIDTH, initial_indent="-- ", subsequent_indent="-- ")
    if text is not None:
        yield f"{text};"


def write_script(path: str, rows: Sequence[Sequence[object]], *, replace: bool) -> None:
    """Writes the script of a profile to a file.

    Raises UserError for an existing file, unless it is a profile's script and may be replaced, and if the file cannot
    be written; the old file then stays.
    """
    from sqlanon.export.report.page_file import write_page

    with about("path"):
        target = Path(path)
        _require_free(target, path, replace=replace)
        text = "\n".join((f"{_HEAD}edit it, then run it with sqlanon run {target.name}", *script_lines(rows), ""))
        write_page(target, text)


def _require_free(target: Path, path: str, *, replace: bool) -> None:
    if not path or target.is_dir():
        raise UserError(
            f"{path or 'an empty text'} cannot be the name of a file", hint="name a file, as in 'patients.sql'"
        )
    if not os.path.lexists(target):
        return
    if not _is_script(target):
        raise UserError(f"{path} exists, and is not a script of PROFILE", hint="choose another name, or move it away")
    if not replace:
        raise UserError(
            f"{path} exists already",
            hint="it is an earlier script: choose another name, or replace it with (REPLACE true)",
        )


def _is_script(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD.encode()
    except OSError:
        return False
