"""Defines the task of a method: all that it is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.context import Watching
from sqlanon.domain.series import Signatures
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.sources.joins import Join
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import Codes, KeyLayout
from sqlanon.sql.questions.ask import BoundRequirement

# The source as cells: what methods work on.


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


@dataclass(frozen=True)
class Task:
    """The release that a method is to make: what is asked of it, and of which rows.

    `kind` is TABLE or VIEW in lower case, `sets` and `columns` those behind FRAGMENTS and COLUMNS, of
    which `each_apart` says that each attribute is a column. If `dry`, nothing is to be published; a `draft` is made,
    measured and thrown away. There are `cells` once the source is encoded, if the method has an encoding. Temporary
    tables are made with `scratch`. `signatures` looks up which values respondents have had to choose from, in a series.
    `join` is that with another release, of which the policy requires something.
    """

    engine: Engine
    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    name: QualifiedName
    kind: str
    sets: tuple[tuple[str, ...], ...]
    dry: bool
    scratch: Scratch
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
        """The cells, for a method that has an encoding."""
        if self.cells is None:
            raise InternalError("a method that works on cells has none")
        return self.cells


# How many rows the source of a policy has.


def rows_of_source(engine: Engine, policy: BoundPolicy) -> int:
    """The rows of the source as it was bound, counted for themselves."""
    return int(engine.rows(exp.select(f.count()).from_(relation(policy.relation)))[0][0])
