"""The source as cells: what methods work on."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import Codes
from sqlanon.sql.cells.key_layout import KeyLayout


@dataclass(frozen=True)
class Cells:
    """The cells relation, the trees that its keys are made of, and figures of the values in them."""

    table: str
    trees: tuple[str, ...]
    """The table of each quasi-identifier's tree."""

    layout: KeyLayout
    """Which bits of the keys have the levels of each tree, and which the codes of `carried`."""

    rows: int
    """How many rows of the source the cells stand for."""

    values: tuple[int, ...]
    """For each attribute the number of its leaves."""

    spread: tuple[tuple[int, ...], ...]
    """For each attribute and level the sum, over all rows, of the leaves below the row's ancestor there, less one."""

    most: tuple[tuple[int, ...], ...]
    """For each attribute and level the greatest of what `spread` sums."""

    entity: bool = False
    """Whether the cells tell respondents apart, in a column `entity`: not where each row is of another one anyway."""

    carried: tuple[str, ...] = ()
    """The columns that requirements ask about, whose codes are in the keys, too."""

    carried_values: tuple[str, ...] = ()
    """For each of these columns the table of its values, whose codes are their ranks."""

    fixed_relations: tuple[Step, ...] = ()
    """The normal relations that are the same for every node of the lattice."""

    public: str | None = None
    """The cells of the public table."""

    codes: tuple[Codes | None, ...] = ()
    """For each attribute the relation of its values' codes; None where it has no bits, since it has one value."""

    ranked: tuple[str, ...] = ()
    """For each attribute the table of its values in their order; none where codes are no ranks."""

    elsewhere: bool = False
    """Whether the cells are on another engine than tables, since they are too many to go from one to the other."""

    count: int | None = None
    """The number of cells; None where a query has to count them."""

    related: tuple[Cells, ...] = ()
    """The cells of each table that belongs to the source, by respondent."""
