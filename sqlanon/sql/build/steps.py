"""Named queries, each of which those after it can read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sql.build.names import identifier

# A named query, which those after it can read.
Step = tuple[str, exp.Query]
# Beginnings of the names of steps that number rows in no order: read twice, they have to be the same.
COMPUTED_ONCE = ("coded_item", "combination")
# Beginnings of the names of steps that read themselves.
_RECURSIVE = ("rounds", "known_set")


def with_steps(query: exp.Select, steps: Sequence[Step]) -> exp.Select:
    """The query with the steps before it; rounds of a guard and sets of what is known may read themselves."""
    for name, step in steps:
        query.with_(identifier(name), as_=step, materialized=name.startswith(COMPUTED_ONCE) or None, copy=False)
    if any(cte.alias.startswith(_RECURSIVE) for cte in query.ctes):
        query.args["with_"].set("recursive", True)
    return query
