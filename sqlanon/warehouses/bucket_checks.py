"""Whether the tables of buckets that a script has written satisfy the requirements, and have the source's rows."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import same
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.warehouses.bucket_steps import CANDIDATE_VALUES
from sqlanon.warehouses.differences import differing, row_count
from sqlanon.warehouses.plan import ReleasePlan
from sqlanon.warehouses.script_step import CANDIDATE, SOURCE, ScriptStep

__all__ = ["bucket_rows", "misfits"]


def bucket_rows() -> ScriptStep:
    """check_row(class_id): each written row whose bucket has values."""
    buckets = exp.select(column(BUCKET)).distinct().from_(relation(CANDIDATE_VALUES)).subquery("values")
    rows = exp.select(alias(column(BUCKET, "candidate"), "class_id")).from_(relation(CANDIDATE, as_="candidate"))
    rows = rows.join(buckets, on=same(BUCKET, "candidate", "values"))
    return ScriptStep("check_row", rows, "Each written row whose bucket has values.")


def misfits(plan: ReleasePlan) -> list[ScriptStep]:
    """Steps with a row for each way in which the tables do not fit together or have other rows than the source."""
    assert plan.buckets is not None
    sensitive = plan.bound.sensitive[0].column
    names = [bound.column for bound in plan.buckets.carried]
    quasi = [f"key_{index}" for index in range(len(names))]
    read = [alias(column(name), key) for name, key in zip(names, quasi, strict=True)]
    values = relation(CANDIDATE_VALUES)
    counted = alias(-column(COUNT), "n")
    differences = {
        "check_size": differing(
            [BUCKET],
            exp.select(column(BUCKET), row_count()).from_(relation(CANDIDATE)),
            exp.select(column(BUCKET), counted).from_(values.copy()),
            column(BUCKET),
        ),
        "check_source_value": differing(
            [VALUE],
            exp.select(alias(column(sensitive), VALUE), row_count()).from_(relation(SOURCE)),
            exp.select(column(VALUE), counted.copy()).from_(values.copy()),
            literal(0),
        ),
        "check_source_row": differing(
            quasi,
            exp.select(*read, row_count()).from_(relation(SOURCE)),
            exp.select(*(part.copy() for part in read), row_count(-1)).from_(relation(CANDIDATE)),
            literal(0),
        ),
    }
    said = {
        "check_size": "The buckets with another number of rows than of values.",
        "check_source_value": "A row for each value that does not occur as often as in the source.",
        "check_source_row": "A row for each combination of the other columns that does not occur as often as there.",
    }
    keys = [column(BUCKET), column(VALUE)]
    twice = exp.select(alias(column(BUCKET), "class_id")).from_(values.copy()).group_by(*keys)
    twice = twice.having(exp.or_(f.count() > literal(1), f.min(column(COUNT)) < literal(1)))
    return [
        *(ScriptStep(name, query, said[name]) for name, query in differences.items()),
        ScriptStep("check_value", twice, "The buckets that have a value twice, or less than once."),
    ]
