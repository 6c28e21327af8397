"""Builds WITH lists: named queries, which later queries can read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TypeVar

from sqlglot import exp

from sqlanon.sql.build.names import free, identifier, relation

_Query = TypeVar("_Query", bound=exp.Query)
# A named query, which later steps can read.
Step = tuple[str, exp.Query]
# Prefixes of the names of steps that number rows in no order: two readings have to give the same numbers.
COMPUTED_ONCE = ("coded_item", "coded_sensitive", "numbered_list", "combination")
# Prefixes of the names of steps that read themselves.
_RECURSIVE = ("rounds", "known_set")


def add_step(query: _Query, name: str, step: exp.Query, *, materialized: bool | None = None) -> _Query:
    """Appends one step to the WITH of a query, in place, and returns the query."""
    return query.with_(identifier(name), as_=free(step), materialized=materialized, copy=False)


def with_steps(query: _Query, steps: Sequence[Step]) -> _Query:
    """Prepends steps to a query as WITH; a step may be recursive."""
    for name, step in steps:
        add_step(query, name, step, materialized=name.startswith(COMPUTED_ONCE) or None)
    if any(cte.alias.startswith(_RECURSIVE) for cte in query.ctes):
        query.args["with_"].set("recursive", True)
    return query


# Groupings that several parts of a query repeat become steps, each of which is computed once.


def shared_steps(query: exp.Query, known: Collection[str]) -> list[Step]:
    """Extracts groupings that occur repeatedly in a query as steps, which it returns; the query then reads these steps.

    Only groupings that read nothing but the steps in `known` are extracted, because other names may have another
    meaning there.
    """
    subqueries: dict[exp.Select, list[exp.Subquery]] = defaultdict(list)
    for part in query.find_all(exp.Subquery):
        grouping = part.this
        if not isinstance(grouping, exp.Select) or not grouping.args.get("group"):
            continue
        tables = {table.name for table in grouping.find_all(exp.Table)}
        if isinstance(part.parent, exp.From) and tables and tables <= {*known}:
            subqueries[grouping].append(part)
    steps: list[Step] = []
    for grouping, occurrences in subqueries.items():
        if len(occurrences) > 1:
            name = f"grouping_{len(steps)}"
            steps.append((name, grouping.copy()))
            for occurrence in occurrences:
                occurrence.replace(relation(name, as_=occurrence.alias))
    return steps
