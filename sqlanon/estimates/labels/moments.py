"""The shares of leaves that a query treats alike in those below a label, and the moments of their values."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS, unit_weight
from sqlanon.estimates.numbers import Number
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import case, if_, paren, window
from sqlanon.sql.build.names import alias, column

_DOUBLE = exp.DataType.build("DOUBLE")


def share() -> exp.Expr:
    """The share of a leaf in those below its label; 1 where it is the only one, whatever its weight."""

    def over(tree: exp.Expr) -> exp.Window:
        return window(tree, partition_by=[column("label")])

    only = over(f.count()).eq(1)
    known = over(f.count()).eq(over(f.count(column("weight"))))
    whole = f.nullif(over(f.sum(column("weight"))), 0)
    part = column("weight") / whole
    return case((only, unit_weight()), (known, part))


def below_label() -> list[exp.Alias]:
    """How many signatures there are below a label, and how many leaves."""
    counts = {"signatures": f.count(), "total": f.sum(column("weight"))}
    return [alias(window(count, partition_by=[column("label")]), name) for name, count in counts.items()]


def value_moments(value: exp.Expr, kind: Number) -> list[exp.Expr]:
    """The moments of one value: mean and square as DOUBLE, its ends as numbers of parts."""
    real = kind.real(value)
    return [real, real * real, kind.parts(value), kind.parts(value)]


def leaf_moments(argument: exp.Expr, number: int, name: str, pieces: bool, kind: Number) -> list[exp.Alias]:
    """The moments of an argument on each leaf: those of its piece, or the value itself."""
    of_pieces: list[exp.Expr] = [column(moment, name) for moment in MOMENTS]
    moments = of_pieces if pieces else value_moments(argument, kind)
    return [alias(tree, f"{moment}_{number}") for tree, moment in zip(moments, MOMENTS, strict=True)]


def moments_of(number: int, kind: Number) -> list[exp.Alias]:
    """The moments of the leaves of one signature, from those of its pieces."""
    mean, square, least, greatest = (column(f"{moment}_{number}") for moment in MOMENTS)

    def weighed(of: exp.Expr) -> exp.Expr:
        total = f.nullif(f.sum(column("weight")), 0)
        return f.sum(column("weight") * of) / total

    def end(function: type[exp.Expr], of: exp.Expr) -> exp.Expr:
        all_known = f.count().eq(f.count(of.copy()))
        return if_(all_known, function(this=of.copy()))

    def mixed(of: exp.Expr, alone: exp.Expr) -> exp.Expr:
        """The mean over the pieces, or the value where there is only one; NULL where a weight is not known."""
        return case((single.copy(), alone), (known.copy(), weighed(of)))

    low, high = end(exp.Min, least), end(exp.Max, greatest)
    single = low.eq(high)
    known = f.count().eq(f.count(column("weight")))
    alone = kind.real_of_parts(paren(low))
    moments = (
        mixed(mean, alone),
        mixed(square, paren(alone.copy()) * paren(alone.copy())),
        low,
        high,
    )
    return [alias(tree, f"{moment}_{number}") for tree, moment in zip(moments, MOMENTS, strict=True)]
