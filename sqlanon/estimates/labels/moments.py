"""What the leaves below a label come to: the share of them that a query treats alike, and what their values come to."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS
from sqlanon.estimates.numbers import Number
from sqlanon.sqlgen.build.names import alias, column, literal

__all__ = ["below_label", "leaf_moments", "moments_of", "share", "value_moments"]

_DOUBLE = exp.DataType.build("DOUBLE")


def share() -> exp.Expr:
    """The share of a label's leaves. What holds for all of them alike needs no weights."""

    def over(tree: exp.Expr) -> exp.Window:
        return exp.Window(this=tree, partition_by=[column("label")])

    only = exp.EQ(this=over(exp.Count(this=exp.Star())), expression=literal(1))
    known = exp.EQ(this=over(exp.Count(this=exp.Star())), expression=over(exp.Count(this=column("weight"))))
    whole = exp.Nullif(this=over(exp.Sum(this=column("weight"))), expression=literal(0))
    part = exp.Div(this=column("weight"), expression=whole)
    one = exp.Cast(this=literal(1), to=_DOUBLE.copy())
    return exp.Case(ifs=[exp.If(this=only, true=one), exp.If(this=known, true=part)])


def below_label() -> list[exp.Alias]:
    """How many signatures there are below a label, and how many leaves."""
    counts = {"signatures": exp.Count(this=exp.Star()), "total": exp.Sum(this=column("weight"))}
    return [alias(exp.Window(this=one, partition_by=[column("label")]), name) for name, one in counts.items()]


def value_moments(value: exp.Expr, kind: Number) -> list[exp.Expr]:
    """The moments of one value: mean and square as DOUBLE, its ends as numbers of parts."""
    real = kind.real(value)
    return [real, exp.Mul(this=real.copy(), expression=real.copy()), kind.parts(value), kind.parts(value)]


def leaf_moments(argument: exp.Expr, number: int, name: str, pieces: bool, kind: Number) -> list[exp.Alias]:
    """The moments of an argument on each leaf: those of its piece, or the value itself."""
    own: list[exp.Expr] = [column(moment, name) for moment in MOMENTS]
    found = own if pieces else value_moments(argument, kind)
    return [alias(one, f"{moment}_{number}") for one, moment in zip(found, MOMENTS, strict=True)]


def moments_of(number: int, kind: Number) -> list[exp.Alias]:
    """The moments of the leaves of one signature, from those of its pieces."""
    mean, square, least, greatest = (column(f"{moment}_{number}") for moment in MOMENTS)

    def weighed(of: exp.Expr) -> exp.Expr:
        total = exp.Nullif(this=exp.Sum(this=column("weight")), expression=literal(0))
        return exp.Div(this=exp.Sum(this=exp.Mul(this=column("weight"), expression=of.copy())), expression=total)

    def end(function: type[exp.Expr], of: exp.Expr) -> exp.Expr:
        every = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Count(this=of.copy()))
        return exp.Case(ifs=[exp.If(this=every, true=function(this=of.copy()))])

    def mixed(of: exp.Expr, alone: exp.Expr) -> exp.Expr:
        """The mean over the pieces, unless there is one value only; None where a weight is not known."""
        return exp.Case(ifs=[exp.If(this=single.copy(), true=alone), exp.If(this=known.copy(), true=weighed(of))])

    low, high = end(exp.Min, least), end(exp.Max, greatest)
    single = exp.EQ(this=low.copy(), expression=high.copy())
    known = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Count(this=column("weight")))
    alone = kind.real_of_parts(exp.Paren(this=low))
    found = (
        mixed(mean, alone),
        mixed(square, exp.Mul(this=exp.Paren(this=alone.copy()), expression=exp.Paren(this=alone.copy()))),
        low,
        high,
    )
    return [alias(one, f"{moment}_{number}") for one, moment in zip(found, MOMENTS, strict=True)]
