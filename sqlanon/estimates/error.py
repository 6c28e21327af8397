"""The errors of estimates against the actual results, and a summary of all queries of a workload.

`actual` has query_id, groups (the texts of the group's columns), result (the name of an
aggregate) and value; `estimated` the same with estimate, spread, low and high, and whether HAVING keeps the group.
`room` has for the results of queries with groups how many rows may be in groups that are not
estimated, NULL where nobody knows, and whether the result counts rows; `refused` has the queries that
the release cannot answer. The relative error of an estimate is |estimate - actual| / |actual| (Xiao and
Tao 2006, section 6). Where the actual value is 0 there is none; such results are counted apart, as the
papers leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.estimates.fixed_sql import fixed
from sqlanon.sql.build.names import alias, column, literal, relation

ACTUAL = ("query_id", "groups", "result", "value")
ESTIMATED = ("query_id", "groups", "result", "estimate", "spread", "low", "high", "kept")
REFUSED = ("query_id",)
ROOM = ("query_id", "result", "counts", "room")


def errors(tables: Mapping[str, str], release_id: str, workload: str) -> exp.Select:
    """The rows of anon.query_error, in the order of its columns, from the tables of these names."""
    rows = fixed("error", tables)
    names = (
        "query_id",
        "groups",
        "result",
        "actual",
        "estimated",
        "spread",
        "low",
        "high",
        "relative_error",
        "within",
        "outcome",
    )
    head = [alias(literal(release_id), "release_id"), alias(literal(workload), "workload")]
    return exp.select(*head, *(column(name) for name in names)).from_(rows.subquery("error"))


def stored_errors(release_id: str, workload: str) -> exp.Select:
    """The rows of anon.query_error of a workload on a release."""
    return (
        exp.select(exp.Star())
        .from_(relation(("anon", "query_error")))
        .where(
            column("release_id").eq(literal(release_id)),
            column("workload").eq(literal(workload)),
            copy=False,
        )
    )


def summary(errors: exp.Select, queries: int) -> exp.Query:
    """figure and value: the summary of rows of `errors`, which are of this number of queries."""
    workload_row = exp.select(alias(literal(queries), "queries"))
    return fixed("summary", {"query_error": errors, "workload": workload_row})
