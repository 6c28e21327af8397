"""Whether a table can be divided into l-diverse buckets at all, and what stands in the way.

A union of l-diverse buckets is l-diverse, in each of the variants. So there are such
buckets iff the whole table is one (Xiao and Tao 2006, for the share of one value).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import exp as e_to
from math import log

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, cast, descending, infix, order_by, up_to_here, window
from sqlanon.sql.build.names import alias, column, relation

# Logarithms are rounded, as in the model's own text.
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Shortfall:
    """Why the values of an attribute allow no l-diverse buckets: what is said of their most frequent value before and
    after it is named, and the largest l that they allow, 1 if they allow none above.
    """

    before: str
    after: str
    largest: int


def shortfall(engine: Engine, codes: str, variant: str, wanted: int, c: Decimal) -> Shortfall | None:
    """What keeps the values of an attribute from l-diverse buckets; None if nothing does.

    `codes` is a table with the rows n of each value.
    """
    rows, values, most, entropy = engine.rows(_summary(codes))[0]
    if not rows:
        return None
    rows, values, most = int(rows), int(values), int(most)
    if variant == "probabilistic":
        allowed = rows // wanted
        after = f", {most - allowed} more than the {allowed} that l => {wanted} allows"
        return Shortfall("its", after, rows // most) if most > allowed else None
    if variant == "distinct":
        before = f"it has {values} different values, and its"
        return Shortfall(before, "", values) if values < wanted else None
    if variant == "entropy":
        after = f", so that its values are as diverse as {e_to(float(entropy)):.3f} of equal number"
        largest = values if most * values == rows else _largest_by_entropy(float(entropy))
        return Shortfall("its", after, largest) if largest < wanted else None
    return _recursive(engine, codes, rows, most, wanted, Fraction(c))


def _largest_by_entropy(entropy: float) -> int:
    """The largest l whose logarithm is below the entropy by more than what rounding can make of it."""
    near = round(e_to(entropy))
    return near if log(near) <= entropy - _TOLERANCE else near - 1


def _recursive(engine: Engine, codes: str, rows: int, most: int, wanted: int, c: Fraction) -> Shortfall | None:
    """r_1 < c (r_l + ... + r_m), which falls as l grows."""
    rest = [rows, *(rows - int(top) for (top,) in engine.rows(_tops(codes, wanted)))]
    limits = [c * left for left in rest]
    if len(rest) >= wanted and most < limits[wanted - 1]:
        return None
    largest = sum(1 for limit in limits[:wanted] if most < limit)
    allowed = limits[wanted - 1] if len(rest) >= wanted else Fraction(0)
    return Shortfall("its", f", and fewer than {float(allowed):g} would be few enough", largest)


def _summary(codes: str) -> exp.Select:
    """Rows, values, rows of the most frequent value, and the entropy."""
    n = cast(column("n"), "DOUBLE")
    rows = f.sum(column("n"))
    total = cast(f.sum(column("n")), "DOUBLE")
    logs = f.sum(n * f.ln(n.copy()))
    entropy = infix(f.ln(total), "-", logs / f.nullif(total.copy(), 0))
    return exp.select(rows, f.count(), f.max(column("n")), entropy).from_(relation(codes))


def _tops(codes: str, most: int) -> exp.Select:
    """The rows of the most frequent value, of the two most frequent, ..., of the l most frequent."""
    order = [
        descending(column("n")),
        ascending(column("code")),
    ]
    top = window(f.sum(column("n")), order=order_by(*order), frame=up_to_here())
    query = exp.select(alias(top, "top")).from_(relation(codes))
    return query.order_by(ascending(column("top"))).limit(most)
