"""The tables of a release that keeps columns apart: its fragments, and the association of their groups."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.transformation import Fragmented
from sqlanon.sqlgen.fragments import Fragment, FragmentsQuery
from sqlanon.sqlgen.generalized import published_value
from sqlanon.sqlgen.names import alias, column, relation

__all__ = ["ASSOCIATION", "GROUP", "apart", "association_columns", "group_column", "published_names", "source_rows"]

# The names of the column and of the table that a loose association adds.
GROUP = "group_id"
ASSOCIATION = "association"


def group_column(fragment: str) -> str:
    """The association's column with the number of a row's group in this fragment."""
    return f"group_{fragment}"


def association_columns(fragments: int) -> list[str]:
    """The association's columns: for each fragment the number of the row's group."""
    return [group_column(str(number)) for number in range(1, fragments + 1)]


def published_names(found: Fragmented) -> list[str]:
    """What stands behind the release's own name: a number for each fragment, and the association's name."""
    numbers = [str(number) for number in range(1, len(found.fragments) + 1)]
    return [*numbers, ASSOCIATION] if found.tables else numbers


def source_rows(policy: BoundPolicy, columns: Sequence[str]) -> exp.Select:
    """The source's rows with these columns, in the types in which they are published."""
    bound = {one.column: one for one in policy.attributes}
    values = [alias(published_value(bound[name], "source"), name) for name in columns]
    return exp.select(*values).from_(relation(policy.relation, as_="source"))


def apart(policy: BoundPolicy, found: Fragmented, release_id: str) -> FragmentsQuery:
    """A table for each fragment, its columns as they are, and the association where rows were put into groups."""
    bound = {one.column: one for one in policy.attributes}
    names = published_names(found)
    fragments: list[Fragment] = []
    for place, fragment in enumerate(found.fragments):
        columns = [(name, bound[name].role, bound[name]) for name in fragment]
        if not found.tables:
            fragments.append(Fragment(names[place], tuple(columns), source_rows(policy, fragment)))
            continue
        own = [*fragment, GROUP]
        query = exp.select(*map(column, own)).from_(relation(found.tables[place]))
        fragments.append(Fragment(names[place], (*columns, (GROUP, Role.INSENSITIVE, None)), query))
    if found.tables:
        groups = association_columns(len(found.fragments))
        query = exp.select(*map(column, groups)).from_(relation(found.tables[-1]))
        fragments.append(Fragment(ASSOCIATION, tuple((name, Role.INSENSITIVE, None) for name in groups), query))
    return FragmentsQuery(policy, release_id, tuple(fragments))
