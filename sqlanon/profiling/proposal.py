"""The policy that a table's data propose, with its hierarchies, as statements to edit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.profiling.automatic import Proposal, definition, propose
from sqlanon.profiling.roles import Values
from sqlanon.syntax.render import to_sql
from sqlanon.syntax.statements import CreateHierarchy, CreatePolicy, ProposeHierarchy

__all__ = ["ProposedColumn", "free_name", "proposed_columns", "statements"]

_K = 5
_CLOSENESS = "0.3"


@dataclass(frozen=True)
class ProposedColumn:
    """A column, the attribute that it would be, why, and the statement that makes its hierarchy if it has one."""

    values: Values
    attribute: Attribute
    why: str
    hierarchy: CreateHierarchy | ProposeHierarchy | None = None


def proposed_columns(
    engine: Engine,
    table: QualifiedName,
    source: Source,
    roles: Sequence[tuple[Values, Role, str]],
    taken: Collection[str],
) -> list[ProposedColumn]:
    """The columns of a table with their roles, each quasi-identifier with the hierarchy that fits its values.

    `taken` are the names of hierarchies that there are, in lower case. Groups of values are read from the source by
    the statement that makes them, so a source that is a query has none.
    """
    names = set(taken)
    columns: list[ProposedColumn] = []
    for values, role, why in roles:
        statement, made = None, None
        if role is Role.QUASI_IDENTIFIER:
            name = free_name(f"{values.name}_levels", names)
            if (statement := _hierarchy(engine, table, source, values, name)) is not None:
                made = name
                names.add(fold(name))
        columns.append(ProposedColumn(values, Attribute(values.name, role, hierarchy=made), why, statement))
    return columns


def _hierarchy(
    engine: Engine, table: QualifiedName, source: Source, values: Values, name: str
) -> CreateHierarchy | ProposeHierarchy | None:
    try:
        fitting: Proposal = propose(engine, table, values.name, values.type)
    except PolicyError:
        return None
    if not fitting.groups:
        return CreateHierarchy(definition(name, fitting, table, values.name, values.type))
    return ProposeHierarchy(name, source.name, values.name) if source.name else None


def free_name(name: str, taken: Collection[str]) -> str:
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
    made = [(str(column.attribute.hierarchy), to_sql(column.hierarchy)) for column in columns if column.hierarchy]
    policy = Policy(name, source, tuple(column.attribute for column in columns), tuple(_requirements(columns)))
    return [*made, (name, to_sql(CreatePolicy(policy)))]


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
