"""Classes of one signature, cut so that the rows of each are near each other.

Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007), split the rows of a
signature until a class has one row of each value, each half with as many rows of one value as of another. Here it is
done as Mondrian cuts its regions, all at once: of each value between the rows in the middle, in the attribute in which
the rows vary most. Were it that in which they lie farthest apart, as with Mondrian, one row that stays behind would
have the same attribute cut again and again: halves of two values seldom end at one place.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.m_invariance.steps import step
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.ddl import drop
from sqlanon.sql.build.expressions import (
    ascending,
    big,
    case,
    filtered,
    infix,
    is_not_null,
    order_by,
    paren,
    real,
    same,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation

# Variances that differ by less, in proportion, are taken for one: in another order the same numbers add up to another.
_ALIKE = 1e-9


def position_name(index: int) -> str:
    """The column with where a row lies in the quasi-identifier at this index."""
    return f"position_{index}"


@dataclass(frozen=True)
class NearClasses:
    """Puts rows that have classes into other classes of the same values.

    `rows` is a table of row_no and `position_name` of each of the attributes, from 0 to the attribute's weight.
    """

    engine: Engine
    scratch: Scratch
    rows: str
    attributes: int

    def placed(self, placed: str, draw: str) -> str:
        """The table `placed` with other places: row_no, signature, code and place.

        Counterfeits are cut with the others, each as if it lay where a row does that was drawn; so a half has no more
        of them than chance gives it. Of a value that has a row in each class each half has as many rows as classes, and
        there is one: no class becomes one of counterfeits alone.
        """
        tables: dict[str, str | exp.Query] = {"placed": placed}
        tables["value_set"] = self.scratch.table("value_set", step("value_set", tables))
        drawn = exp.select("*", alias(f.call(draw, 0), "draw")).from_(step("near_row", tables).subquery("each"))
        tables["near_row"] = self.scratch.table("near_row", drawn)
        regions = self.scratch.table("region", self._regions(step("lies_at", tables)))
        ((classes,),) = self.engine.rows(step("most_classes", tables))
        for _ in range((int(classes) - 1).bit_length() if classes else 0):
            halves = self.scratch.table("region", self._halves(regions))
            self.engine.run(drop("TABLE", relation(regions), exists=True))
            regions = halves
        query = exp.select(*map(column, ("row_no", "signature", "code")), alias(column("region"), "place"))
        return self.scratch.table("placed", query.from_(relation(regions)))

    @property
    def _positions(self) -> list[str]:
        return [position_name(index) for index in range(self.attributes)]

    def _regions(self, lies_at: exp.Query) -> exp.Select:
        query = exp.select(*(column(name, "each") for name in ("row_no", "signature", "code", "draw")))
        query.select(alias(big(column("region", "each")), "region"), copy=False)
        query.select(*(column(name, "row") for name in self._positions), copy=False)
        query.from_(lies_at.subquery("each"), copy=False)
        on = column("lies_at", "each").eq(column("row_no", "row"))
        return query.join(relation(self.rows, as_="row"), on=on, copy=False)

    def _halves(self, regions: str) -> exp.Select:
        """The rows of each region in its two halves; a region of one class is the second half of itself."""
        at = case(
            *(
                (column("attribute", "turn").eq(literal(index)), column(name, "row"))
                for index, name in enumerate(self._positions)
            )
        )
        of_value = [column("region", "row"), column("code", "row")]
        order = order_by(ascending(at), ascending(column("draw", "row")), ascending(column("row_no", "row")))
        number_in_value = window(f.row_number(), partition_by=of_value, order=order)
        classes = window(f.count(), partition_by=[part.copy() for part in of_value])
        second = infix(paren(infix(number_in_value, "*", 2)), ">", classes)
        region = infix(infix(column("region", "row"), "*", 2), "+", big(paren(second)))
        query = exp.select(*(column(name, "row") for name in ("row_no", "signature", "code", "draw")))
        query.select(alias(region, "region"), *(column(name, "row") for name in self._positions), copy=False)
        query.from_(relation(regions, as_="row"), copy=False)
        return query.join(self._turns(regions).subquery("turn"), on=same("region", "row", "turn"), copy=False)

    def _turns(self, regions: str) -> exp.Select:
        """region, and the first attribute in which its rows vary most; counterfeits lie nowhere."""
        variances = [
            alias(filtered(f.call("var_pop", column(name)), is_not_null(column("row_no"))), f"variance_{index}")
            for index, name in enumerate(self._positions)
        ]
        spans = exp.select(column("region"), *variances).from_(relation(regions)).group_by(column("region"))
        names = [column(f"variance_{index}") for index in range(self.attributes)]
        most = infix(f.greatest(*(name.copy() for name in names)), "*", real(1 - _ALIKE))
        attribute = case(*((infix(name, ">=", most.copy()), index) for index, name in enumerate(names)))
        return exp.select(column("region"), alias(attribute, "attribute")).from_(spans.subquery("span"))
