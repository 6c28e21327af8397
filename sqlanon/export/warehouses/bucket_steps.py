"""The steps that assign rows to buckets like METHOD anatomy, by random numbers of the warehouse.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006). Rows are numbered value after value, and row i
of g buckets is in bucket i mod g, so a value with at most g rows is in no bucket twice. The number of buckets is found
by trial: the sizes of buckets that are tried are listed, each twice the size before, and the smallest size at which no
bucket violates a requirement is taken; the last trial is one bucket of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.bound import BoundAttribute
from sqlanon.export.warehouses.plan import ReleasePlan
from sqlanon.export.warehouses.translation import CANDIDATE, ScriptStep
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.classes.buckets import VALUE
from sqlanon.sql.classes.rows import Rows

CANDIDATE_VALUES = "candidate_value"
DRAW = "draw"


def dealing_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps that assign rows to buckets, in each trial of a size of buckets.

    The first step reads `source`, and the last makes `trial_value`: the number of rows with each sensitive value, by
    trial and bucket.
    """
    columns = [f"column_{i}" for i in range(len(_carried(plan)))]
    names = {"value": _sensitive(plan), "carried": [bound.column for bound in _carried(plan)], "columns": columns}
    about = [f"value: {_sensitive(plan)}", *(f"{c}: {b.column}" for c, b in zip(columns, _carried(plan), strict=True))]
    rows = filled_query('SELECT {value} AS value, {carried} AS "{columns}" FROM source', names=names)
    values = filled_query(
        "SELECT value, n FROM (SELECT value, CAST(count(*) AS BIGINT) AS n FROM drawn_row GROUP BY value) AS counted"
    )
    return [
        ScriptStep("drawn_row", rows, "Each row with a draw, which is made once.", tuple(about), drawn=DRAW),
        ScriptStep("value_count", values, "How many rows have each value, with a draw for each.", drawn=DRAW),
        ScriptStep(
            "numbered",
            query_file("script", "numbered", names=names),
            "The rows of each value, numbered from 0 in the order of their random numbers.",
        ),
        ScriptStep(
            "trial",
            query_file("script", "trial"),
            "How many buckets there are of each size that is tried, and before them.",
        ),
        ScriptStep(
            "value_start",
            query_file("script", "value_start"),
            "Where the rows of each value begin, in each trial.",
            _ABOUT_STARTS,
        ),
        ScriptStep(
            "trial_value",
            query_file("script", "trial_value"),
            "How many rows of each bucket of each trial have each value.",
        ),
    ]


_ABOUT_STARTS = (
    "spread: the rows of the value that are in buckets of their own, numbered from first",
    "behind: from where its other rows are numbered, after the spread rows of all values",
)


def trial_rows(plan: ReleasePlan, table: str, class_id: str, count: str) -> Rows:
    """Returns a table of buckets and values as input of the requirements, by the names of its columns."""
    values = {_sensitive(plan): column(VALUE)}
    names = {"class_id": class_id, "count": count}
    query = filled_query(
        "SELECT {class_id} AS class_id, value, {count} AS n FROM bucket",
        tables={"bucket": relation(table)},
        names=names,
    )
    key = column("class_id")
    return Rows(subquery(query, "bucket_row"), (key,), key.copy(), values, weight=column("n"))


def chosen_steps(violating: str) -> list[ScriptStep]:
    """Returns the steps from the violating buckets of all trials to `bucket`, the numbers of the chosen buckets."""
    failed = query_file("script", "failed_trial", tables={"violation": violating})
    chosen = filled_query(
        "SELECT min(trial) AS trial FROM trial AS tried WHERE NOT trial IN (SELECT trial FROM failed_trial)"
    )
    slots = filled_query("SELECT slot FROM (SELECT DISTINCT slot FROM dealt) AS slots")
    numbers = filled_query(
        "SELECT slot, CAST(row_number() OVER (ORDER BY draw ASC NULLS LAST) AS BIGINT) AS bucket FROM drawn_slot"
    )
    return [
        ScriptStep("failed_trial", failed, "The trials with such a bucket."),
        ScriptStep("chosen_trial", chosen, "The smallest buckets that satisfy; none, and the check fails."),
        ScriptStep("dealt", query_file("script", "dealt"), "Each row in its bucket."),
        ScriptStep("drawn_slot", slots, "The buckets, each with a draw.", drawn=DRAW),
        ScriptStep("bucket", numbers, "The numbers of the buckets, in the order of these random numbers."),
    ]


def bucket_candidates(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps that assign rows to buckets and count the rows by bucket and value."""
    carried = [bound.column for bound in _carried(plan)]
    names = {"columns": [f"column_{i}" for i in range(len(carried))], "carried": carried}
    rows = query_file("script", "candidate", names=names)
    values = query_file("script", "candidate_value")
    return [
        ScriptStep(CANDIDATE, rows, "The rows with their buckets: what may be published."),
        ScriptStep(CANDIDATE_VALUES, values, "And how many rows of each bucket have each value."),
    ]


def _sensitive(plan: ReleasePlan) -> str:
    return plan.bound.sensitive[0].column


def _carried(plan: ReleasePlan) -> Sequence[BoundAttribute]:
    assert plan.buckets is not None
    return plan.buckets.carried
