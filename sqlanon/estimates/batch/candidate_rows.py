"""Finds the classes of rows that may satisfy each of many queries, from bitmasks of labels and shares of leaves."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.estimates.batch.bitmasks import MaskedColumn, each
from sqlanon.estimates.batch.distinct_rows import number_of
from sqlanon.estimates.labels.listed_leaves import unit_weight
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, if_, infix, is_null, union_all
from sqlanon.sqlgen.build.names import alias, column

_DOUBLE = exp.DataType.build("DOUBLE")


def matched(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Query:
    """query, `columns`, n, p and certain of the classes that may satisfy a query.

    p is the probability that a row satisfies it, NULL where nobody knows. `masks` is the table of `masked`; `recoded`
    are the columns with labels that may satisfy and need not. Classes that satisfy for certain and agree in `columns`
    are one row.
    """
    if not recoded:
        return _certain(masks, bit, columns, column("possible", "masked"))
    certain = _certain(masks, bit, columns, column("certain", "masked"))
    return union_all([certain, _open(masks, bit, recoded, columns)])


def _certain(masks: str, bit: str, columns: Sequence[str], which: exp.Expr) -> exp.Select:
    """The classes that satisfy a query for certain, those that agree in `columns` as one row."""
    keys = [column(name) for name in ("query", *columns)]
    query = exp.select(*keys, alias(big(f.sum(column("n"))), "n"))
    query.select(alias(unit_weight(), "p"), alias(exp.true(), "certain"), copy=False)
    rows = each(masks, bit, ["n", *columns], which)
    return query.from_(rows.subquery("each", copy=False)).group_by(*(key.copy() for key in keys))


def _open(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Select:
    """The classes that may satisfy a query and need not, with the product of their labels' shares as p."""
    which = f.call("xor", *(column(side, "masked") for side in ("possible", "certain")))
    numbers = [number_of(col.index) for col in recoded]
    rows = each(masks, bit, list(dict.fromkeys(["n", *numbers, *columns])), which)
    p = unit_weight()
    query = exp.select(*(column(name, "each") for name in ("query", *columns, "n")))
    query.from_(rows.subquery("each", copy=False), copy=False)
    for col in recoded:
        share = f"share_{col.index}"
        # Labels have no share for a query without a condition on their column.
        not_asked = is_null(column("query", share))
        p = infix(p, "*", if_(not_asked, unit_weight(), column("p", share)))
        same = exp.and_(
            column("query", "each").eq(column("query", share)),
            column(number_of(col.index), "each").eq(column("number", share)),
        )
        shares = exp.alias_(col.shares.copy(), share, table=True, quoted=True)
        query.join(shares, on=same, join_type="LEFT", copy=False)
    return query.select(alias(p, "p"), alias(exp.false(), "certain"), copy=False)
