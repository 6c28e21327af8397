"""What a method is asked to do, as all that works for it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.series import Signatures
from sqlanon.domain.values import QualifiedName
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.methods.shared.cells import Cells
from sqlanon.sources.joins.join import Join
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.questions.ask import BoundRequirement


@dataclass(frozen=True)
class Task:
    """The release that a method is to make: what is asked of it, and of which rows.

    `kind` is TABLE or VIEW in lower case, `sets` and `columns` those behind FRAGMENTS and COLUMNS, of
    which `each_apart` says that each attribute is a column, and `dry` whether nothing is to be published. There are
    `cells` once the source is encoded, if the method has an encoding. Temporary tables are
    made with `scratch`. `signatures` looks up which values respondents have had to choose from, in a series. `join` is
    that with another release, of which the policy requires something.
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
