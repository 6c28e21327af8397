"""The steps that assign rows to buckets like METHOD anatomy, by random numbers of the warehouse.

Xiao and Tao, Anatomy: simple and effective privacy preservation (2006). Rows are numbered value after value, and row i
of g buckets is in bucket i mod g, so a value with at most g rows is in no bucket twice. The number of buckets is found
by trial: the sizes of buckets that are tried are listed, each twice the size before, and the smallest size at which no
bucket violates a requirement is taken; the last trial is one bucket of all rows.
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
    and_,
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
from sqlanon.sql.build.queries import cross_join, extend, inner_join, select, subquery
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.classes.rows import Rows

CANDIDATE_VALUES = "candidate_value"
DRAW = "draw"


def dealing_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps that assign rows to buckets, in each trial of a size of buckets.

    The first step reads `source`, and the last makes `trial_value`: the number of rows with each sensitive value, by
    trial and bucket.
    """
    carried = _carried(plan)
    rows = select(alias(column(_sensitive(plan)), VALUE), of=relation(SOURCE))
    rows = extend(rows, *(alias(column(bound.column), f"column_{i}") for i, bound in enumerate(carried)))
    about = [f"value: {_sensitive(plan)}", *(f"column_{i}: {bound.column}" for i, bound in enumerate(carried))]
    counted = select(column(VALUE), alias(big(f.count()), "n"), of=relation("drawn_row"), group_by=[column(VALUE)])
    values = select(column(VALUE), column("n"), of=subquery(counted, "counted"))
    by_value = window(f.row_number(), partition_by=[column(VALUE)], order=order_by(ascending(column(DRAW))))
    numbers = [column(VALUE), *(column(f"column_{i}") for i in range(len(carried)))]
    numbered = select(*numbers, alias(big(by_value - literal(1)), "rank"), of=relation("drawn_row"))
    return [
        ScriptStep("drawn_row", rows, "Each row with a draw, which is made once.", tuple(about), drawn=DRAW),
        ScriptStep("value_count", values, "How many rows have each value, with a draw for each.", drawn=DRAW),
        ScriptStep(
            "numbered", numbered, "The rows of each value, numbered from 0 in the order of their random numbers."
        ),
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
    query = select(alias(column(class_id), "class_id"), column(VALUE), alias(column(count), "n"))
    rows = subquery(extend(query, of=relation(table)), "bucket_row")
    key = column("class_id")
    return Rows(rows, (key,), key.copy(), values, weight=column("n"))


def chosen_steps(violating: str) -> list[ScriptStep]:
    """Returns the steps from the violating buckets of all trials to `bucket`, the numbers of the chosen buckets."""
    within = and_(
        column("class_id", "violating") >= column("base", "tried"),
        column("class_id", "violating") < column("base", "tried") + column("buckets", "tried"),
    )
    failed = select(column("trial", "tried"), distinct=True, of=relation("trial", as_="tried"))
    failed = extend(failed, joins=[inner_join(relation(violating, as_="violating"), within)])
    passed = exp.not_(column("trial").isin(query=select(column("trial"), of=relation("failed_trial"))))
    chosen = select(alias(f.min(column("trial")), "trial"), of=relation("trial", as_="tried"), where=[passed])
    slot_rows = select(alias(_bucket_of(), "slot"), exp.Column(this=exp.Star(), table=exp.to_identifier("row")))
    slot_rows = extend(slot_rows, of=relation("numbered", as_="row"))
    same_value = identical(column(VALUE, "row"), column(VALUE, "start"))
    slot_rows = extend(
        slot_rows,
        joins=[
            inner_join(relation("value_start", as_="start"), same_value),
            inner_join(relation("chosen_trial", as_="chosen"), same("trial", "start", "chosen")),
        ],
    )
    slots = subquery(select(column("slot"), distinct=True, of=relation("dealt")), "slots")
    number = window(f.row_number(), order=order_by(ascending(column(DRAW))))
    numbers = select(column("slot"), alias(big(number), BUCKET), of=relation("drawn_slot"))
    return [
        ScriptStep("failed_trial", failed, "The trials with such a bucket."),
        ScriptStep("chosen_trial", chosen, "The smallest buckets that satisfy; none, and the check fails."),
        ScriptStep("dealt", slot_rows, "Each row in its bucket."),
        ScriptStep("drawn_slot", select(column("slot"), of=slots), "The buckets, each with a draw.", drawn=DRAW),
        ScriptStep("bucket", numbers, "The numbers of the buckets, in the order of these random numbers."),
    ]


def bucket_candidates(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps that assign rows to buckets and count the rows by bucket and value."""
    outputs = [alias(column(f"column_{i}", "dealt"), bound.column) for i, bound in enumerate(_carried(plan))]
    rows = select(*outputs, alias(column(BUCKET, "numbers"), BUCKET), of=relation("dealt", as_="dealt"))
    rows = extend(rows, joins=[inner_join(relation("bucket", as_="numbers"), same("slot", "dealt", "numbers"))])
    keys = [column(BUCKET, "numbers"), column(VALUE, "dealt")]
    names = [alias(keys[0], BUCKET), alias(keys[1], VALUE)]
    values = select(*names, alias(big(f.count()), COUNT), of=relation("dealt", as_="dealt"))
    values = extend(
        values, joins=[inner_join(relation("bucket", as_="numbers"), same("slot", "dealt", "numbers"))], group_by=keys
    )
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
    rows = subquery(select(alias(or_zero(big(f.sum(column("n")))), "rows"), of=relation("value_count")), "total")
    number = f.greatest(literal(1), column("rows", "total") // column("size", "trial_size"))
    each = select(column("trial", "trial_size"), alias(big(number), "buckets"), of=relation("trial_size"))
    each = extend(each, joins=[cross_join(rows)])
    before = big(_running(column("buckets"), ["trial"])) - column("buckets")
    return select(column("trial"), column("buckets"), alias(before, "base"), of=subquery(each, "sized"))


def _starts() -> exp.Select:
    """Builds the query of the row numbers at which each value begins, by trial.

    `first` is the number of the value's first row that is spread over all buckets, and `behind` is the number of its
    first other row.
    """
    spread = f.least(column("n", "counted"), column("buckets", "tried"))
    each = select(
        *(column(name, "tried") for name in ("trial", "buckets", "base")),
        *(column(name, "counted") for name in (VALUE, "n", DRAW)),
        alias(spread, "spread"),
        of=relation("value_count", as_="counted"),
    )
    each = extend(each, joins=[cross_join(relation("trial", as_="tried"))])
    surplus = paren(column("n") - column("spread"))
    in_trial = [column("trial")]
    first = big(_running(column("spread"), [DRAW], in_trial)) - column("spread")
    spread_rows = big(window(f.sum(column("spread")), partition_by=[column("trial")]))
    behind = infix(added([spread_rows, big(_running(surplus.copy(), [DRAW], in_trial))]), "-", surplus)
    names = [column(name) for name in ("trial", "buckets", "base", VALUE, "spread")]
    return select(*names, alias(first, "first"), alias(behind, "behind"), of=subquery(each, "spread_value"))


def _running(part: exp.Expr, order: Sequence[str], partition_by: Sequence[exp.Expr] = ()) -> exp.Window:
    keys = order_by(*(ascending(column(name)) for name in order))
    return window(f.sum(part), partition_by=[key.copy() for key in partition_by], order=keys, frame=up_to_here())


def _trial_values() -> exp.Select:
    class_id, value = column("class_id"), column(VALUE)
    rows = select(
        alias(column("base", "start") + paren(_bucket_of()), "class_id"),
        column(VALUE, "start"),
        of=relation("numbered", as_="row"),
        joins=[
            inner_join(relation("value_start", as_="start"), identical(column(VALUE, "row"), column(VALUE, "start")))
        ],
    )
    return select(class_id, value, alias(big(f.count()), "n"), of=subquery(rows, "dealt"), group_by=[class_id, value])


def _bucket_of() -> exp.Expr:
    """Builds the number of the bucket, from 0, to which a trial assigns a row; it reads the relations `row` and
    `start`.
    """
    rank = column("rank", "row")
    spread = column("first", "start") + rank
    surplus = infix(column("behind", "start") + rank, "-", column("spread", "start"))
    index = paren(if_(rank < column("spread", "start"), spread, surplus))
    return index % column("buckets", "start")
