"""The leaves that a stored hierarchy lists below each label, and NULL where a label may stand for it."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.estimates.axes import Axis
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.spans import STAR, null_labels
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, identical, is_not_null, try_cast, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, inner_join, select
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import rank_name, tree
from sqlanon.sql.cells.labels import level_name, listed_values
from sqlanon.sql.cells.value_ranks import ranked

MOMENTS = ("mean", "square", "least", "greatest")
_DOUBLE = exp.DataType.build("DOUBLE")


def nulls(generalized: Generalized, axis: Axis | None) -> exp.Query:
    """NULL as a leaf of the labels that may stand for it, and of the label NULL."""
    is_null = column("shown").is_(exp.null())
    if "bounds" in generalized.forms:
        ends = f.call("struct_extract", column("label"), "low")
        is_null = ends.is_(exp.null())
    rows: exp.Query = select(column("label"), alias(unit_weight(), "weight"), of=relation("shown"), where=[is_null])
    if (others := null_labels(generalized.nulls or generalized.forms, axis)) is not None:
        rows = exp.union(rows, others, distinct=False, copy=False)
    none = cast(exp.null(), generalized.bound.type)
    most = alias(f.max(column("weight")), "weight")
    outputs = [column("label"), alias(none, "value"), most, *no_moments()]
    return select(*outputs, of=rows.subquery("null_label", copy=False), group_by=[column("label")])


def listed_leaves(generalized: Generalized) -> exp.Query:
    """The values that a stored hierarchy lists below each label."""
    return select(
        column("label"),
        column("value"),
        alias(f.max(column("weight")), "weight"),
        *no_moments(),
        of=_listed(generalized).subquery("listed_leaf", copy=False),
        group_by=[column("label"), column("value")],
    )


def _listed(generalized: Generalized) -> exp.Query:
    listed = relation("listed")
    weighed: exp.Expr = exp.null() if "any" in generalized.forms else literal(1)
    weight = cast(weighed, "DOUBLE")
    queries: list[exp.Query] = []
    for level in generalized.levels:
        label = _level_label(generalized.bound, level)
        same = identical(column("shown", "shown"), label)
        outputs = [column("label", "shown"), column("value", "listed"), alias(weight.copy(), "weight")]
        queries.append(select(*outputs, of=relation("shown"), joins=[inner_join(listed.copy(), same)]))
    if "any" in generalized.forms:
        outputs = [column("label", "shown"), column("value", "listed"), alias(weight.copy(), "weight")]
        pairs = [cross_join(listed.copy())]
        queries.append(
            select(*outputs, of=relation("shown"), joins=pairs, where=[is_not_null(column("shown", "shown"))])
        )
    if "listed_range" in generalized.forms:
        queries.append(_listed_range(generalized))
    names = (column(name) for name in ("label", "value", "weight"))
    queries.append(select(*names, of=nulls(generalized, None).subquery("nulls", copy=False)))
    return union_all(queries)


def _level_label(bound: BoundAttribute, level: int) -> exp.Expr:
    if level == bound.height:
        return literal(STAR)
    if level == 0:
        return as_text(column("value", "listed"))
    return column(level_name(level), "listed")


def _listed_range(generalized: Generalized) -> exp.Select:
    """The listed values between the ends of a range, in the order of the hierarchy."""
    query = exp.select(column("label", "range"), column("value", "listed"), alias(unit_weight(), "weight")).from_(
        fixed("range").subquery("range")
    )
    for end in ("low", "high"):
        typed = try_cast(column(end, "range"), generalized.bound.type)
        query = query.join(relation("listed", as_=end), on=typed.eq(column("value", end)))
    between = column(rank_name(0), "listed").between(column(rank_name(0), "low"), column(rank_name(0), "high"))
    known = is_not_null(column("value", "listed"))
    return query.join(relation("listed"), on=exp.and_(between, known))


def tree_steps(generalized: Generalized) -> list[Step]:
    """The values of a stored hierarchy as `listed`: with their labels, or with their ranks."""
    rows = relation(("anon", "hierarchy_value"))
    if "listed_range" not in generalized.forms:
        return [("listed", listed_values(generalized.bound, rows))]
    typed = cast(exp.null(), generalized.bound.type)
    nothing = exp.select(alias(typed, generalized.column)).where(exp.false())
    return [
        ("nothing", nothing),
        ("tree", tree(generalized.bound, relation("nothing"), rows)),
        ("listed", ranked(generalized.bound, "tree")),
    ]


def unit_weight() -> exp.Expr:
    """1 as DOUBLE: the weight of a leaf that is one value, or the probability of what is certain."""
    return cast(literal(1), "DOUBLE")


def no_moments() -> list[exp.Expr]:
    """The moments of a leaf that is a single value: NULL, since a query's argument is evaluated on the value itself.

    The ends take their types from the other queries of a UNION.
    """
    nothing = cast(exp.null(), "DOUBLE")
    return [alias(nothing.copy() if name in ("mean", "square") else exp.null(), name) for name in MOMENTS]
