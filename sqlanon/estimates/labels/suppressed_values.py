"""The values below `*` where nothing lists them: those of the other rows, as frequent as they are there.

A release shows how a column's values are distributed, save for the few rows in which it shows `*`. These are taken to
be like the others (decision 23), as long as they are few. It is an estimate only: any other value is possible and not
counted on.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast, identical, infix, or_zero, paren, real, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["others_are_known", "spread"]

_VALUES = ("value", *MOMENTS)
# One row in this number may show `*`.
_ROWS_PER_STAR = 20


def others_are_known(leaves: str, labels: str, starred: exp.Query) -> exp.Select:
    """Whether enough rows, all but one in twenty, have labels whose values have known weights.

    `labels` has each label and n, how many rows show it, `leaves` the leaves of these labels. The weights of `starred`
    labels are not known.
    """
    shows = identical(column("label", "known"), column("label", "labelled"))
    known = exp.select(alias(f.sum(column("n", "labelled")), "n")).from_(relation(labels, as_="labelled"))
    known.join(_known(leaves, starred).subquery("known"), on=shows, copy=False)
    all_rows = exp.select(alias(f.sum(column("n")), "n")).from_(relation(labels))
    enough = infix(
        or_zero(column("n", "known")) * literal(_ROWS_PER_STAR),
        ">=",
        column("n", "released") * literal(_ROWS_PER_STAR - 1),
    )
    query = exp.select(f.coalesce(paren(enough), exp.false()))
    return query.from_(known.subquery("known")).join(all_rows.subquery("released"), join_type="CROSS", copy=False)


def spread(leaves: str, labels: str, starred: exp.Query) -> exp.Query:
    """The leaves, with the values of the other rows below `starred` labels, as frequent as they are there.

    `labels` has each label and n, how many rows show it. The leaves that starred labels had before weigh nothing.
    """
    rows = exp.select(column("label"), *map(column, _VALUES)).from_(relation(leaves))
    starred_leaves = rows.copy().select(alias(real(0.0), "weight"), copy=False).where(_among(starred))
    # The moments of leaves without weight may be too large to be multiplied by it.
    for moment in ("mean", "square"):
        part = next(item for item in starred_leaves.selects if item.alias_or_name == moment)
        part.replace(alias(cast(exp.null(), "DOUBLE"), moment))
    others = rows.copy().select(column("weight"), copy=False).where(exp.not_(paren(_among(starred))))
    n = exp.select(column("label"), alias(f.sum(column("n")), "n")).from_(relation(labels))
    known = exp.select(*(column(name, "leaf") for name in _VALUES))
    share = infix(column("weight", "leaf") * column("n", "labelled"), "/", _total())
    known.select(alias(share, "weight"), copy=False).from_(relation(leaves, as_="leaf"), copy=False)
    same = identical(column("label", "leaf"), column("label", "known"))
    known.join(_known(leaves, starred).subquery("known"), on=same, copy=False)
    shows = identical(column("label", "leaf"), column("label", "labelled"))
    known.join(n.group_by(column("label")).subquery("labelled"), on=shows, copy=False)
    each = exp.select(*map(column, _VALUES), alias(f.sum(column("weight")), "weight"))
    each = each.from_(known.subquery("weighed")).group_by(*map(column, _VALUES))
    names = [column(name, "each") for name in (*_VALUES, "weight")]
    copied = exp.select(column("label", "star"), *names).from_(starred.copy().subquery("star"))
    copied.join(each.subquery("each"), join_type="CROSS", copy=False)
    return union_all([starred_leaves, others, copied])


def _known(leaves: str, starred: exp.Query) -> exp.Select:
    """label and total of the other labels whose leaves all have a weight: the sum of the weights."""
    rows = exp.select(column("label"), alias(f.sum(column("weight")), "total")).from_(relation(leaves))
    rows.where(exp.not_(paren(_among(starred))), copy=False)
    all_weighed = f.count().eq(f.count(column("weight")))
    positive = f.sum(column("weight")) > 0
    return rows.group_by(column("label"), copy=False).having(exp.and_(all_weighed, positive), copy=False)


def _total() -> exp.Expr:
    return column("total", "known")


def _among(starred: exp.Query) -> exp.Expr:
    """Whether a label is starred; NULL is not."""
    is_among = column("label").isin(query=starred)
    return f.coalesce(is_among, exp.false())
