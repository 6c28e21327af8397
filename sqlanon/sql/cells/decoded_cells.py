"""The cells as rows of the source again: the values of their columns, and how many rows each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build.expressions import infix, paren
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.cells import key_name
from sqlanon.sql.cells.key_layout import Field


@dataclass(frozen=True)
class CodedColumn:
    """A column whose values stand in the keys of cells, in these `fields`.

    `codes` is a query for value, and for each word of the key with bits of the column the value's part of it; None
    where the column has no bits. It has one value then, in `values`.
    """

    fields: Sequence[Field]
    codes: exp.Query | None
    values: str


def decoded_cells(cells: str, columns: Mapping[str, CodedColumn], entity: str | None, weight: str) -> exp.Select:
    """A row for each cell: its values in these columns, its respondent in `entity`, if any, its rows in `weight`."""
    query = exp.select().from_(relation(cells, as_="cell"), copy=False)
    for index, (name, coded) in enumerate(columns.items()):
        of = f"code_{index}"
        query.select(alias(column("value", of), name), copy=False)
        if coded.codes is None:
            query.join(relation(coded.values, as_=of), join_type="CROSS", copy=False)
        else:
            query.join(coded.codes.subquery(of), on=exp.and_(*_same_code(coded.fields, of)), copy=False)
    if entity is not None:
        query.select(alias(column("entity", "cell"), entity), copy=False)
    return query.select(alias(column("n", "cell"), weight), copy=False)


def _same_code(fields: Sequence[Field], of: str) -> list[exp.Expr]:
    masks: dict[int, int] = {}
    for field in fields:
        if field.bits:
            masks[field.word] = masks.get(field.word, 0) | field.mask
    return [
        paren(infix(column(key_name(word), "cell"), "&", mask)).eq(column(key_name(word), of))
        for word, mask in masks.items()
    ]
