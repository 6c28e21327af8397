"""The spans of labels that end in stars: `10***` says the first digits of its values, and how long they are."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis, span
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import if_, infix, integer, is_not_null, joined, paren, try_cast
from sqlanon.sqlgen.build.names import alias, column, literal

__all__ = ["starred"]


def starred(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """The spans of labels that end in stars, from `masks` with label, mask, prefix and stars."""
    if axis.kind == "text":
        rows = exp.select(exp.Star(), alias(_behind(column("prefix")), "behind")).from_(masks)
        single = column("stars").eq(0)
        whole = span(column("prefix"), column("prefix"), (0, 1)).from_(rows.copy().subquery("whole")).where(single)
        high = f.coalesce(column("behind"), axis.end(axis.high))
        known = _of_digits()
        other = span(column("prefix"), high, (0, 0), known=known, mask=column("mask"))
        masked = other.from_(rows.subquery("masked")).where(exp.not_(single))
        return exp.union(whole, masked, distinct=False, copy=False)
    return _of_numbers(axis, masks)


def _of_numbers(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """The whole numbers that have these digits, and as many more as there are stars."""
    zeros, nines = (_repeated(digit, column("stars")) for digit in "09")
    ends = [axis.of(_integer(joined(column("prefix"), part))) for part in (zeros, nines)]
    minus = column("prefix").eq("-")
    # Below "-" and stars no number begins with 0.
    others = column("stars") - 1
    least = _integer(joined(exp.Literal.string("-1"), _repeated("0", others)))
    first = if_(minus, axis.of(least), ends[0])
    low = f.least(first, ends[1], ignore_nulls=True)
    high = f.greatest(first.copy(), ends[1].copy(), ignore_nulls=True)
    rows = exp.select(column("label"), alias(low, "low"), alias(high, "high")).from_(masks)
    query = span(column("low"), column("high"), (0, 1)).from_(rows.subquery("masked"))
    return query.where(*(is_not_null(column(end)) for end in ("low", "high")))


def _repeated(digit: str, times: exp.Expr) -> exp.Expr:
    return f.call("repeat", literal(digit), _as_integer(times))


def _as_integer(tree: exp.Expr) -> exp.Expr:
    return integer(tree)


def _integer(tree: exp.Expr) -> exp.Expr:
    return try_cast(paren(tree), "HUGEINT")


def _of_digits() -> exp.Expr:
    """Whether a mask has digits and few stars: the values below it are then taken to have digits in their place."""
    return column("mask").rlike("^[0-9]+[*]{1,4}$")


def _behind(prefix: exp.Expr) -> exp.Expr:
    """The least text that sorts after all with the prefix; NULL where there is none."""
    last = f.call("unicode", f.right(prefix.copy(), 1))
    raised = last + 1
    # Code points from D800 to DFFF are no characters.
    valid = if_(infix(raised, "=", 0xD800), 0xE000, raised.copy())
    length = f.call("length", prefix.copy())
    most = _as_integer(length - 1)
    text = joined(f.left(prefix.copy(), most), f.call("chr", _as_integer(valid)))
    no_last = exp.or_(
        prefix.eq(""),
        last.eq(0x10FFFF),
    )
    return if_(exp.not_(paren(no_last)), text)
