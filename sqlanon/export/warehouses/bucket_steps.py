"""The steps that assign rows to buckets, as METHOD anatomy does, by random numbers of the warehouse.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006). Rows are numbered value after value, and row i
of g buckets is in bucket i mod g, so a value with at most g rows is in no bucket twice. The number of buckets is found
by trial: sizes of buckets are listed, each twice the one before, and the smallest size at which no bucket violates a
requirement is taken; the last trial is one bucket of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.export.warehouses.plan import ReleasePlan
from sqlanon.export.warehouses.translation import CANDIDATE, SOURCE, ScriptStep
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    ascending,
    big,
    identical,
    if_,
    infix,
    or_zero,
    order_by,
    paren,
    same,
    up_to_here,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.classes.rows import Rows

CANDIDATE_VALUES = "candidate_value"
DRAW = "draw"


def dealing_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps from `source` to `trial_value`: the rows of each sensitive value, by bucket and trial."""
    carried = _carried(plan)
    rows = exp.select(alias(column(_sensitive(plan)), VALUE)).from_(relation(SOURCE))
    rows = rows.select(*(alias(column(bound.column), f"column_{i}") for i, bound in enumerate(carried)))
    about = [f"value: {_sensitive(plan)}", *(f"column_{i}: {bound.column}" for i, bound in enumerate(carried))]
    counted = exp.select(column(VALUE), alias(big(f.count()), "n")).from_(relation("drawn_row"))
    counted = counted.group_by(column(VALUE))
    values = exp.select(column(VALUE), column("n")).from_(counted.subquery("counted"))
    by_value = window(f.row_number(), partition_by=[column(VALUE)], order=order_by(ascending(column(DRAW))))
    numbers = [column(VALUE), *(column(f"column_{i}") for i in range(len(carried)))]
    numbered = exp.select(*numbers, alias(big(by_value - literal(1)), "rank")).from_(relation("drawn_row"))
    return [
        ScriptStep("drawn_row", rows, "Each row with a draw, which is made once.", tuple(about), drawn=DRAW),
        ScriptStep("value_count", values, "How many rows have each value, with a draw for each.", drawn=DRAW),
        ScriptStep("numbered", numbered, "The rows of each value, numbered from 0 in the order of their draws."),
        ScriptStep("trial", _trials(), "How many buckets there are of each size that is tried, and before them."),
        ScriptStep("value_start", _starts(), "Where the rows of each value begin, in each trial.", _ABOUT_STARTS),
        ScriptStep("trial_value", _trial_values(), "How many rows of each bucket of each trial have each value."),
    ]


_ABOUT_STARTS = (
    "spread: the rows of the value that are in buckets of their own, numbered from first",
    "behind: from where its other rows are numbered, after the spread rows of all values",
)


def trial_rows(plan: ReleasePlan, table: str, class_id: str, count: str) -> Rows:
    """Returns a table of buckets and values as input of the requirements, by the names of its columns."""
    values = {_sensitive(plan): column(VALUE)}
    query = exp.select(alias(column(class_id), "class_id"), column(VALUE), alias(column(count), "n"))
    rows = query.from_(relation(table)).subquery("bucket_row")
    key = column("class_id")
    return Rows(rows, (key,), key.copy(), values, weight=column("n"))


def chosen_steps(violating: str) -> list[ScriptStep]:
    """Returns the steps from the violating buckets of all trials to `bucket`, the numbers of the chosen buckets."""
    within = exp.and_(
        column("class_id", "violating") >= column("base", "tried"),
        column("class_id", "violating") < column("base", "tried") + column("buckets", "tried"),
    )
    failed = exp.select(column("trial", "tried")).distinct().from_(relation("trial", as_="tried"))
    failed = failed.join(relation(violating, as_="violating"), on=within)
    passed = exp.not_(column("trial").isin(query=exp.select(column("trial")).from_(relation("failed_trial"))))
    chosen = exp.select(alias(f.min(column("trial")), "trial")).from_(relation("trial", as_="tried")).where(passed)
    slot_rows = exp.select(alias(_bucket_of(), "slot"), exp.Column(this=exp.Star(), table=exp.to_identifier("row")))
    slot_rows = slot_rows.from_(relation("numbered", as_="row"))
    same_value = identical(column(VALUE, "row"), column(VALUE, "start"))
    slot_rows = slot_rows.join(relation("value_start", as_="start"), on=same_value)
    slot_rows = slot_rows.join(relation("chosen_trial", as_="chosen"), on=same("trial", "start", "chosen"))
    slots = exp.select(column("slot")).distinct().from_(relation("dealt")).subquery("slots")
    number = window(f.row_number(), order=order_by(ascending(column(DRAW))))
    numbers = exp.select(column("slot"), alias(big(number), BUCKET)).from_(relation("drawn_slot"))
    return [
        ScriptStep("failed_trial", failed, "The trials with such a bucket."),
        ScriptStep("chosen_trial", chosen, "The smallest buckets that satisfy; none, and the check fails."),
        ScriptStep("dealt", slot_rows, "Each row in its bucket."),
        ScriptStep("drawn_slot", exp.select(column("slot")).from_(slots), "The buckets, each with a draw.", drawn=DRAW),
        ScriptStep("bucket", numbers, "The numbers of the buckets, in the order of these draws."),
    ]


def bucket_candidates(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps that assign rows to buckets and count the rows by bucket and value."""
    outputs = [alias(column(f"column_{i}", "dealt"), bound.column) for i, bound in enumerate(_carried(plan))]
    rows = exp.select(*outputs, alias(column(BUCKET, "numbers"), BUCKET)).from_(relation("dealt", as_="dealt"))
    rows = rows.join(relation("bucket", as_="numbers"), on=same("slot", "dealt", "numbers"))
    keys = [column(BUCKET, "numbers"), column(VALUE, "dealt")]
    names = [alias(keys[0].copy(), BUCKET), alias(keys[1].copy(), VALUE)]
    values = exp.select(*names, alias(big(f.count()), COUNT)).from_(relation("dealt", as_="dealt"))
    values = values.join(relation("bucket", as_="numbers"), on=same("slot", "dealt", "numbers")).group_by(*keys)
    return [
        ScriptStep(CANDIDATE, rows, "The rows with their buckets: what may be published."),
        ScriptStep(CANDIDATE_VALUES, values, "And how many rows of each bucket have each value."),
    ]


def _sensitive(plan: ReleasePlan) -> str:
    return plan.bound.sensitive[0].column


def _carried(plan: ReleasePlan) -> Sequence[BoundAttribute]:
    assert plan.buckets is not None
    return plan.buckets.carried


def _trials() -> exp.Select:
    rows = exp.select(alias(or_zero(big(f.sum(column("n")))), "rows")).from_(relation("value_count")).subquery("total")
    number = f.greatest(literal(1), column("rows", "total") // column("size", "trial_size"))
    each = exp.select(column("trial", "trial_size"), alias(big(number), "buckets")).from_(relation("trial_size"))
    each = each.join(rows, join_type="CROSS")
    before = big(_running(column("buckets"), ["trial"])) - column("buckets")
    return exp.select(column("trial"), column("buckets"), alias(before, "base")).from_(each.subquery("sized"))


def _starts() -> exp.Select:
    """Builds the query of each value's first row numbers by trial: `first` of its spread rows, `behind` of others."""
    spread = f.least(column("n", "counted"), column("buckets", "tried"))
    each = exp.select(
        *(column(name, "tried") for name in ("trial", "buckets", "base")),
        *(column(name, "counted") for name in (VALUE, "n", DRAW)),
        alias(spread, "spread"),
    ).from_(relation("value_count", as_="counted"))
    each = each.join(relation("trial", as_="tried"), join_type="CROSS")
    surplus = paren(column("n") - column("spread"))
    in_trial = [column("trial")]
    first = big(_running(column("spread"), [DRAW], in_trial)) - column("spread")
    spread_rows = big(window(f.sum(column("spread")), partition_by=[column("trial")]))
    behind = infix(added([spread_rows, big(_running(surplus.copy(), [DRAW], in_trial))]), "-", surplus.copy())
    names = [column(name) for name in ("trial", "buckets", "base", VALUE, "spread")]
    return exp.select(*names, alias(first, "first"), alias(behind, "behind")).from_(each.subquery("spread_value"))


def _running(part: exp.Expr, order: Sequence[str], partition_by: Sequence[exp.Expr] = ()) -> exp.Window:
    keys = order_by(*(ascending(column(name)) for name in order))
    return window(f.sum(part), partition_by=[key.copy() for key in partition_by], order=keys, frame=up_to_here())


def _trial_values() -> exp.Select:
    class_id, value = column("class_id"), column(VALUE)
    rows = exp.select(alias(column("base", "start") + paren(_bucket_of()), "class_id"), column(VALUE, "start"))
    rows = rows.from_(relation("numbered", as_="row"))
    rows = rows.join(relation("value_start", as_="start"), on=identical(column(VALUE, "row"), column(VALUE, "start")))
    query = exp.select(class_id, value, alias(big(f.count()), "n")).from_(rows.subquery("dealt"))
    return query.group_by(class_id.copy(), value.copy())


def _bucket_of() -> exp.Expr:
    """Builds the bucket number, from 0, that `row` has in the trial `start`."""
    rank = column("rank", "row")
    spread = column("first", "start") + rank
    surplus = infix(column("behind", "start") + rank, "-", column("spread", "start"))
    index = paren(if_(rank < column("spread", "start"), spread, surplus))
    return index % column("buckets", "start")
