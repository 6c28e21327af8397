"""What a method is: a module with the parts of `Method`, which `registry` finds by its name.

The stages of a release call these parts and know no method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, Protocol

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.transformation import Transformation
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import InternalError
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.cell_source import RankedCells
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.release.multi_table_query import FragmentsQuery
from sqlanon.sqlgen.release.recode import Recoding
from sqlanon.sqlgen.release.region_rows import Placed

__all__ = ["Encoding", "Method", "Recoded", "Task", "parts_lacking"]


@dataclass(frozen=True)
class Encoding:
    """The cells that a method works on: the source's rows by numbers of their values.

    If `flat`, the number of a value is its rank and hierarchies are not climbed; if `by_row`, equal rows stay apart.
    The values of the columns `besides` are numbered too.
    """

    flat: bool = False
    by_row: bool = False
    besides: tuple[BoundAttribute, ...] = ()


@dataclass(frozen=True)
class Task:
    """The release that a method is to make: what is asked of it, and of which rows.

    `kind` is TABLE or VIEW in lower case, `fragments` the sets of columns after FRAGMENTS, and `dry` whether nothing is
    to be published. There are `cells` once the source is encoded, if the method has an encoding. Temporary tables are
    made with `scratch`.
    """

    engine: Engine
    policy: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    name: QualifiedName
    kind: str
    fragments: tuple[tuple[str, ...], ...]
    dry: bool
    scratch: Scratch
    cells: RankedCells | None = None
    watching: Watching | None = None

    @property
    def guards(self) -> tuple[tuple[int, str], ...]:
        """The columns of guarding nodes, by the place of their requirement."""
        return tuple(guards_of(self.requirements).items())

    @property
    def encoded(self) -> RankedCells:
        """The cells, for a method that has an encoding."""
        if self.cells is None:
            raise InternalError("a method that works on cells has none")
        return self.cells


@dataclass(frozen=True)
class Recoded:
    """What the rows of a release that is one table or view show: labels of levels, or of regions that they lie in."""

    recodings: tuple[Recoding, ...] = ()
    placed: Placed | None = None


class Method(Protocol):
    """The parts that every method has. `given` are its own `OPTIONS`, whose fields are `shared.arguments.argument`s."""

    OPTIONS: type[Any]

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Any:
        """The arguments, checked. Raises UserError for those that the method does not take."""
        ...

    def limits(self, given: Any) -> Limits:
        """What the method can do, with these options, of all that a statement and its policy may ask."""
        ...

    def encoding(self, task: Task, given: Any) -> Encoding | None:
        """The cells that the method needs; None for none. Raises PolicyError for columns that it cannot have."""
        ...

    def choose(self, task: Task, given: Any) -> Transformation:
        """What is published in place of the source. Raises PrivacyViolation where nothing may be."""
        ...

    def why(self, task: Task, found: Any) -> Explanation | None:
        """What the choice is owed to, where the method can tell."""
        ...

    def reasons(self, task: Task, found: Any, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail) that say what was chosen, and why."""
        ...

    def compile(self, task: Task, found: Any, release_id: str, tokens: Mapping[str, str]) -> Recoded | FragmentsQuery:
        """How the rows of the one table or view are recoded, or the SELECT of each table.

        `tokens` are the tables of the tokens of columns that are pseudonyms.
        """
        ...


def parts_lacking(method: object) -> list[str]:
    """The parts of `Method` that a module does not have."""
    parts = (*get_annotations(Method), *(name for name in vars(Method) if not name.startswith("_")))
    return [part for part in parts if not callable(getattr(method, part, None))]
