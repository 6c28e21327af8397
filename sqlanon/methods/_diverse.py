"""Whether a table can be divided into l-diverse buckets at all, and what stands in the way.

A union of l-diverse buckets is l-diverse, in each of the variants. So there are such
buckets iff the whole table is one (Xiao and Tao 2006, for the share of one value).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp as e_to
from math import log

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.terms import up_to_here

__all__ = ["too_frequent"]

# Logarithms are rounded, as in the model's own text.
_ROUNDING = 1e-9


def too_frequent(
    engine: Engine,
    codes: str,
    variant: str,
    wanted: int,
    c: Decimal,
) -> tuple[str, str] | None:
    """Why the values of an attribute allow no l-diverse buckets, and what would do; None if they do.

    `codes` is a table with the rows n of each value. No value is named.
    """
    rows, values, most, entropy = engine.rows(_summary(codes))[0]
    if not rows:
        return None
    rows, values, most = int(rows), int(values), int(most)
    share = f"its most frequent value has {most} of {rows} rows ({most / rows:.1%})"
    if variant == "probabilistic":
        more = most - rows // wanted
        return (
            (f"{share}, {more} more than the {rows // wanted} that l => {wanted} allows", _hint(rows // most))
            if more > 0
            else None
        )
    if variant == "distinct":
        return (f"it has {values} different values", _hint(values)) if values < wanted else None
    if variant == "entropy":
        reached = e_to(float(entropy))
        why = f"{share}, so that its values are as diverse as {reached:.3f} of equal number"
        return (why, _hint(int(reached + _ROUNDING))) if float(entropy) < log(wanted) - 1e-12 else None
    return _recursive(engine, codes, rows, most, share, wanted, Fraction(c))


def _recursive(
    engine: Engine,
    codes: str,
    rows: int,
    most: int,
    share: str,
    wanted: int,
    c: Fraction,
) -> tuple[str, str] | None:
    """r_1 < c (r_l + ... + r_m), which falls as l grows."""
    rest = [rows, *(rows - int(top) for (top,) in engine.rows(_tops(codes, wanted)))]
    limits = [c * left for left in rest]
    if len(rest) >= wanted and most < limits[wanted - 1]:
        return None
    most_l = sum(1 for limit in limits[:wanted] if most < limit)
    allowed = limits[wanted - 1] if len(rest) >= wanted else Fraction(0)
    return f"{share}, and fewer than {float(allowed):g} would be few enough", _hint(most_l)


def _summary(codes: str) -> exp.Select:
    """Rows, values, rows of the most frequent value, and the entropy."""
    n = exp.Cast(this=column("n"), to=exp.DataType.build("DOUBLE"))
    rows = exp.Sum(this=column("n"))
    total = exp.Cast(this=exp.Sum(this=column("n")), to=exp.DataType.build("DOUBLE"))
    logs = exp.Sum(this=exp.Mul(this=n, expression=exp.Ln(this=n.copy())))
    entropy = exp.Sub(
        this=exp.Ln(this=total),
        expression=exp.Div(this=logs, expression=exp.Nullif(this=total.copy(), expression=literal(0))),
    )
    return exp.select(rows, exp.Count(this=exp.Star()), exp.Max(this=column("n")), entropy).from_(relation(codes))


def _tops(codes: str, most: int) -> exp.Select:
    """The rows of the most frequent value, of the two most frequent, ..., of the l most frequent."""
    order = [
        exp.Ordered(this=column("n"), desc=True, nulls_first=False),
        exp.Ordered(this=column("code"), nulls_first=False),
    ]
    top = exp.Window(
        this=exp.Sum(this=column("n")),
        order=exp.Order(expressions=order),
        spec=up_to_here(),
    )
    query = exp.select(alias(top, "top")).from_(relation(codes))
    return query.order_by(exp.Ordered(this=column("top"), nulls_first=False)).limit(most)


def _hint(most_l: int) -> str:
    if most_l < 2:
        return "no l above 1 works: the values of this column are too much alike"
    return f"l => {most_l} is the largest that works"
