"""Labels that end in stars as spans: of what hides behind `10***`, the first digits and the length are known."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis, span
from sqlanon.sqlgen.build.names import alias, column, literal

__all__ = ["starred"]


def starred(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """The spans of labels that end in stars, from `masks` with label, mask, prefix and stars."""
    if axis.kind == "text":
        rows = exp.select(exp.Star(), alias(_behind(column("prefix")), "behind")).from_(masks)
        single = exp.EQ(this=column("stars"), expression=literal(0))
        whole = span(column("prefix"), column("prefix"), (0, 1)).from_(rows.copy().subquery("whole")).where(single)
        high = exp.Coalesce(this=column("behind"), expressions=[axis.end(axis.high)])
        known = _of_digits()
        other = span(column("prefix"), high, (0, 0), known=known, mask=column("mask"))
        masked = other.from_(rows.subquery("masked")).where(exp.Not(this=single.copy()))
        return exp.union(whole, masked, distinct=False, copy=False)
    return _of_numbers(axis, masks)


def _of_numbers(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """The whole numbers that have these digits, and as many more as there are stars."""
    zeros, nines = (_repeated(digit, column("stars")) for digit in "09")
    ends = [axis.of(_integer(exp.DPipe(this=column("prefix"), expression=part, safe=False))) for part in (zeros, nines)]
    minus = exp.EQ(this=column("prefix"), expression=literal("-"))
    # Below "-" and stars no number begins with 0.
    others = exp.Sub(this=column("stars"), expression=literal(1))
    least = _integer(exp.DPipe(this=exp.Literal.string("-1"), expression=_repeated("0", others), safe=False))
    first = exp.Case(ifs=[exp.If(this=minus, true=axis.of(least))], default=ends[0])
    low = exp.Least(this=first, expressions=[ends[1]], ignore_nulls=True)
    high = exp.Greatest(this=first.copy(), expressions=[ends[1].copy()], ignore_nulls=True)
    rows = exp.select(column("label"), alias(low, "low"), alias(high, "high")).from_(masks)
    query = span(column("low"), column("high"), (0, 1)).from_(rows.subquery("masked"))
    return query.where(*(exp.Not(this=exp.Is(this=column(end), expression=exp.Null())) for end in ("low", "high")))


def _repeated(digit: str, times: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="repeat", expressions=[literal(digit), _as_integer(times)])


def _as_integer(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=tree, to=exp.DataType.build("INTEGER"))


def _integer(tree: exp.Expr) -> exp.Expr:
    return exp.TryCast(this=exp.Paren(this=tree), to=exp.DataType.build("HUGEINT", dialect="duckdb"))


def _of_digits() -> exp.Expr:
    """Whether a mask is one of digits, with few stars: what hides behind them is then taken for digits."""
    return exp.RegexpLike(this=column("mask"), expression=literal("^[0-9]+[*]{1,4}$"))


def _behind(prefix: exp.Expr) -> exp.Expr:
    """The least text behind all that begin with the prefix; NULL where it has no last character to raise."""
    last = exp.Anonymous(this="unicode", expressions=[exp.Right(this=prefix.copy(), expression=literal(1))])
    raised = exp.Add(this=last, expression=literal(1))
    # Code points from D800 to DFFF are no characters.
    valid = exp.Case(
        ifs=[exp.If(this=exp.EQ(this=raised, expression=literal(0xD800)), true=literal(0xE000))], default=raised.copy()
    )
    length = exp.Anonymous(this="length", expressions=[prefix.copy()])
    most = _as_integer(exp.Sub(this=length, expression=literal(1)))
    text = exp.DPipe(
        this=exp.Left(this=prefix.copy(), expression=most),
        expression=exp.Anonymous(this="chr", expressions=[_as_integer(valid)]),
        safe=False,
    )
    no_last = exp.or_(
        exp.EQ(this=prefix.copy(), expression=literal("")),
        exp.EQ(this=last.copy(), expression=literal(0x10FFFF)),
    )
    return exp.Case(ifs=[exp.If(this=exp.Not(this=exp.Paren(this=no_last)), true=text)])
