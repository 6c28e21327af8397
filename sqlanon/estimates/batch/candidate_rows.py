"""The classes that may satisfy each of many queries, from the masks of their labels and the shares of their leaves."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.estimates.batch.bitmasks import MaskedColumn, each
from sqlanon.estimates.batch.distinct_rows import number_of
from sqlanon.estimates.labels.listed_leaves import unit_weight
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, if_, infix, is_null, union_all
from sqlanon.sqlgen.build.names import alias, column

__all__ = ["matched"]

_DOUBLE = exp.DataType.build("DOUBLE")


def matched(masks: str, bit: str, recoded: Sequence[MaskedColumn], own: Sequence[str]) -> exp.Query:
    """query, the columns `own`, n, p and certain of classes that may satisfy.

    p is the probability of a row to satisfy, NULL where nobody knows. `masks` is the table of `masked`, `recoded`
    are the columns of which not every label satisfies for certain or not at all. Classes that satisfy for certain and
    agree in `own` are put together.
    """
    if not recoded:
        return _certain(masks, bit, own, column("possible", "masked"))
    certain = _certain(masks, bit, own, column("certain", "masked"))
    return union_all([certain, _open(masks, bit, recoded, own)])


def _certain(masks: str, bit: str, own: Sequence[str], which: exp.Expr) -> exp.Select:
    """The classes that satisfy for certain."""
    keys = [column(name) for name in ("query", *own)]
    query = exp.select(*keys, alias(big(f.sum(column("n"))), "n"))
    query.select(alias(unit_weight(), "p"), alias(exp.true(), "certain"), copy=False)
    rows = each(masks, bit, ["n", *own], which)
    return query.from_(rows.subquery("each", copy=False)).group_by(*(key.copy() for key in keys))


def _open(masks: str, bit: str, recoded: Sequence[MaskedColumn], own: Sequence[str]) -> exp.Select:
    """The classes that may satisfy and need not: the product of their labels' shares is how likely they do."""
    which = f.call("xor", *(column(side, "masked") for side in ("possible", "certain")))
    numbers = [number_of(one.place) for one in recoded]
    rows = each(masks, bit, list(dict.fromkeys(["n", *numbers, *own])), which)
    p = unit_weight()
    query = exp.select(*(column(name, "each") for name in ("query", *own, "n")))
    query.from_(rows.subquery("each", copy=False), copy=False)
    for one in recoded:
        share = f"share_{one.place}"
        # A query that does not ask about a column has no shares of its labels.
        not_asked = is_null(column("query", share))
        p = infix(p, "*", if_(not_asked, unit_weight(), column("p", share)))
        same = exp.and_(
            column("query", "each").eq(column("query", share)),
            column(number_of(one.place), "each").eq(column("number", share)),
        )
        shares = exp.alias_(one.shares.copy(), share, table=True, quoted=True)
        query.join(shares, on=same, join_type="LEFT", copy=False)
    return query.select(alias(p, "p"), alias(exp.false(), "certain"), copy=False)
