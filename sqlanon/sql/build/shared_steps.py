"""Finds groupings that several parts of a query repeat, and makes them steps, so that each is computed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlglot import exp

from sqlanon.sql.build.names import relation
from sqlanon.sql.build.steps import Step


def shared_steps(query: exp.Query, known: Collection[str]) -> list[Step]:
    """Takes groupings that occur more than once out of the query, which then reads the steps that are returned.

    Only those that read nothing but the steps in `known` can stand beside these: other names may mean something
    else there.
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
