"""Numbers in the order of draws, where rows lie in many parts: on an engine whose tables have no order.

Rows are numbered among those whose draws begin alike, and a small table says how many come before these. So no step has
all rows in one part, and none depends on where a row lies. The draws were made once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, big, infix, order_by, same, up_to_here, window
from sqlanon.sql.build.names import alias, column, relation

# A draw is a text of hexadecimal digits: there are 4096 beginnings.
_DIGITS = 3


def numbered(scratch: Scratch, drawn: str, columns: Sequence[str], name: str) -> exp.Select:
    """These columns of a relation with a column `draw`, and under this name the number of each row from 1.

    Small tables of how the draws begin are made with `scratch`.
    """
    alike = scratch.table("draws_alike", draws_alike(drawn, "draw"))
    return _numbers(drawn, scratch.table("numbers_before", numbers_before(alike)), columns, name)


def draws_alike(drawn: str, draw: str) -> exp.Select:
    """beginning, n: how many draws of this column begin alike."""
    begins = beginning(column(draw))
    query = exp.select(alias(begins, "beginning"), alias(f.count(), "n")).from_(relation(drawn))
    return query.group_by(begins.copy(), copy=False)


def numbers_before(alike: str, of: Sequence[str] = ()) -> exp.Select:
    """The columns `of`, beginning, before: how many of these draws come before those that begin so."""
    names = [column(name) for name in of]
    order = order_by(ascending(column("beginning")))
    reached = window(f.sum(column("n")), partition_by=names, order=order, frame=up_to_here())
    before = infix(big(reached), "-", column("n"))
    query = exp.select(*(name.copy() for name in names), column("beginning"), alias(before, "before"))
    return query.from_(relation(alike))


def _numbers(drawn: str, before: str, columns: Sequence[str], name: str) -> exp.Select:
    alike = window(f.row_number(), partition_by=[column("beginning")], order=order_by(ascending(column("draw"))))
    begun = exp.select(*map(column, columns), column("draw"), alias(beginning(column("draw")), "beginning")).from_(
        relation(drawn)
    )
    counted = exp.select(*map(column, columns), column("beginning"), alias(big(alike), "number"))
    counted.from_(begun.subquery("begun", copy=False), copy=False)
    number = column("before", "part") + column("number", "drawn")
    query = exp.select(*(column(part, "drawn") for part in columns), alias(number, name))
    query.from_(counted.subquery("drawn", copy=False), copy=False)
    return query.join(relation(before, as_="part"), on=same("beginning", "drawn", "part"), copy=False)


def beginning(draw: exp.Expr) -> exp.Expr:
    """How a draw begins, of which there are not many ways."""
    return f.left(draw.copy(), _DIGITS)
