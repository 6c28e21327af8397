"""Defines the input of a method: the task, and the cells of the source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.context import Watching
from sqlanon.domain.series import Signatures
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import InternalError
from sqlanon.sources.joins import Join
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import Codes, KeyLayout
from sqlanon.sql.questions.ask import BoundRequirement

# The source as cells, the rows that methods process.


@dataclass(frozen=True)
class Cells:
    """The cells of a source, with the trees that their keys encode and figures of their values."""

    table: str
    trees: tuple[str, ...]
    """The table of each quasi-identifier's tree."""

    layout: KeyLayout
    """The bits of the keys with the levels of each tree, and with the codes of `carried`."""

    rows: int
    """The number of rows of the source that the cells represent."""

    values: tuple[int, ...]
    """For each attribute the number of its leaves."""

    spread: tuple[tuple[int, ...], ...]
    """For each attribute and level the sum, over all rows, of the leaves below the row's ancestor there, less one."""

    most: tuple[tuple[int, ...], ...]
    """For each attribute and level the greatest term of the sum in `spread`."""

    entity: bool = False
    """Whether the cells have a column `entity` of respondents; not needed if each respondent has one row."""

    carried: tuple[str, ...] = ()
    """The columns that requirements read, whose codes are in the keys, too."""

    carried_values: tuple[str, ...] = ()
    """For each of these columns the table of its values, whose codes are their ranks."""

    fixed_relations: tuple[Step, ...] = ()
    """The normal relations that are the same for every node of the lattice."""

    public: str | None = None
    """The cells of the public table."""

    codes: tuple[Codes | None, ...] = ()
    """For each attribute the relation of its values' codes; None for an attribute with one value, which has no bits."""

    ranked: tuple[str, ...] = ()
    """For each attribute the table of its values in their order; empty if codes are no ranks."""

    elsewhere: bool = False
    """Whether the cells are on another engine than tables, because they are too many to copy."""

    count: int | None = None
    """The number of cells; None if a query has to count them."""

    related: tuple[Cells, ...] = ()
    """The cells of each table that belongs to the source, by respondent."""


@dataclass(frozen=True)
class Task:
    """The release that a method is to make: the rows and the requirements.

    `kind` is "table" or "view". `sets` has the sets of names after FRAGMENTS, `columns` the sets after COLUMNS;
    `each_apart` is true for COLUMNS EACH. If `dry`, nothing is published; a `draft` is made, measured and thrown away.
    `cells` exist once the source is encoded, if the method has an encoding. `temp` makes temporary tables.
    `signatures` looks up the candidate values of a series' respondents in earlier releases. `join` is the join with
    another release on which the policy has requirements.
    """

    engine: Engine
    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    name: QualifiedName
    kind: str
    sets: tuple[tuple[str, ...], ...]
    dry: bool
    temp: TempTables
    columns: tuple[tuple[str, ...], ...] = ()
    each_apart: bool = False
    cells: Cells | None = None
    watching: Watching | None = None
    signatures: Callable[[], Signatures] | None = None
    join: Join | None = None
    draft: bool = False

    @property
    def guards(self) -> tuple[tuple[int, str], ...]:
        """The columns of guarding nodes, by the index of their requirement."""
        return tuple(guards_of(self.requirements).items())

    @property
    def encoded(self) -> Cells:
        """Returns the cells of the task. Raises InternalError if the method has requested no encoding."""
        if self.cells is None:
            raise InternalError("a method that works on cells has none")
        return self.cells


# The number of rows of a policy's source.


def rows_of_source(engine: Engine, policy: BoundPolicy) -> int:
    """Counts the rows of the source as it was bound, independently of the cells."""
    return int(engine.rows(select(f.count(), of=relation(policy.relation)))[0][0])
