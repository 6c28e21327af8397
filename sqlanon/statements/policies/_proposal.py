"""The policy that a table's data propose, with its hierarchies, as statements to edit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod

from sqlanon.assess.profiling.automatic import WRITTEN, definition, instead, propose
from sqlanon.assess.profiling.roles import ProposedRole, Values
from sqlanon.assess.profiling.sizes import sizes
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.hierarchies.propose_hierarchy import ProposeHierarchy
from sqlanon.syntax.definitions import policy_text

_K = 5
_CLOSENESS = "0.3"

# AUTO reads what has a name.
_TABLE_FIRST = "of a table it would have one of groups of values, so make one first: CREATE TABLE name AS FROM ..."

_Statement = CreateHierarchy | ProposeHierarchy


@dataclass(frozen=True)
class ProposedColumn:
    """A column, the attribute that it would be, why, and the statement that makes its hierarchy if it has one.

    `levels` are those between which a search chooses: the values themselves, what is above them, and `*`. What
    `may_be_entity` may be the number of a respondent with several rows.
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
    """The columns of a table with their roles, each quasi-identifier with the hierarchy that fits its values.

    A hierarchy is named after the `policy` and the column, so that scripts for two tables do not collide; `taken` are
    the names of hierarchies that there are, in lower case, and `tables` has for each column the relation that it is
    read from. Groups of values are read from a table by the statement that makes them, so a source that is a query has
    none.
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
    """The statement that makes a column's hierarchy, or what to say of a column that has none; levels below `*`."""
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
    """The name, with a number behind it where others have it already."""
    number, free = 1, name
    while fold(free) in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def statements(columns: Sequence[ProposedColumn], source: Source, name: str) -> list[tuple[str, str]]:
    """The statements that make the hierarchies and then the policy, each behind the name of what it makes.

    None where there is no quasi-identifier: a policy needs one.
    """
    if all(column.attribute.role is not Role.QUASI_IDENTIFIER for column in columns):
        return []
    made = [(str(column.attribute.hierarchy), column.hierarchy.sql()) for column in columns if column.hierarchy]
    policy = Policy(name, source, tuple(column.attribute for column in columns), tuple(_requirements(columns)))
    return [*made, (name, policy_text(policy))]


def nodes(columns: Sequence[ProposedColumn]) -> int:
    """How many combinations of levels the quasi-identifiers have: the nodes of the lattice that is searched."""
    return prod(column.levels for column in columns)


def _requirements(columns: Sequence[ProposedColumn]) -> list[Requirement]:
    """5-anonymity, and of each sensitive attribute what its values allow for."""
    required = [Requirement("k_anonymity", (("k", _K),))]
    for column in columns:
        if column.attribute.role is Role.SENSITIVE:
            required.append(_diverse(column))
    return required


def _diverse(column: ProposedColumn) -> Requirement:
    about = ("attribute", QualifiedName((column.attribute.name,)))
    counted = column.values.counted
    for least in (3, 2):
        if counted.most * least <= counted.rows and counted.rows:
            return Requirement("l_diversity", (("l", least), about))
    # Where most rows have one value, no class of them has several in equal shares.
    return Requirement("t_closeness", (("t", Decimal(_CLOSENESS)), about))
