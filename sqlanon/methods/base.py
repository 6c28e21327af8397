"""What a method is: a module with the parts of `Method`, which `registry` finds by its name.

The stages of a release call these parts and know no method.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import get_annotations
from typing import Any, Protocol

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.choice import Choice
from sqlanon.domain.explanation import Explanation
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.reading import Reading
from sqlanon.domain.report import Assumption, Measurement
from sqlanon.domain.values import Value
from sqlanon.engines.base import RAISE_BOUND, Engine
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.task import Task
from sqlanon.sqlgen.classes.buckets import BucketValues
from sqlanon.sqlgen.release.multi_table_query import TablesQuery
from sqlanon.sqlgen.release.recode import Recoding
from sqlanon.sqlgen.release.region_rows import Placed

__all__ = [
    "EXPORTED",
    "OF_ROWS",
    "Encoding",
    "Figure",
    "Method",
    "PublishedTables",
    "Recoded",
    "Structure",
    "Task",
    "Wording",
    "parts_lacking",
]


@dataclass(frozen=True)
class Encoding:
    """The cells that a method works on: the source's rows by numbers of their values.

    If `flat`, the number of a value is its rank and hierarchies are not climbed; if `by_row`, equal rows stay apart.
    The values of the columns `besides` are numbered too. If not `quasi_identifiers`, these have no numbers: the cells
    have what requirements read. If `unbounded`, the method reads cells where they are, however many there are; else
    `fewer` says what can be done about too many.
    """

    flat: bool = False
    by_row: bool = False
    besides: tuple[BoundAttribute, ...] = ()
    quasi_identifiers: bool = True
    unbounded: bool = False
    fewer: str = f"{RAISE_BOUND}; METHOD generalization leaves them on Spark"


@dataclass(frozen=True)
class Recoded:
    """What the rows of a release that is one table or view show: labels of levels, or of regions that they lie in.

    `readings` says how each column is read that the method recodes or adds; the others are as they are, or tokens.
    A quasi-identifier without one is refused. `rounds` are the levels of the quasi-identifiers in each round of a
    local recoding, and the rows that it published.
    """

    readings: Mapping[str, Reading]
    recodings: tuple[Recoding, ...] = ()
    placed: Placed | None = None
    rounds: tuple[tuple[tuple[int, ...], int], ...] = ()


@dataclass(frozen=True)
class PublishedTables:
    """The tables of a release as they are now, to be compared with what its method promises of them.

    `tables` are those of the release by what stands behind its name, "" for that of a release of one, and `values`
    says where the values of a sensitive attribute are. `suppressed` of the source's rows are in none of them.
    `choice` is what was published, known while the release is made only; `recorded` is what was measured when it was.
    """

    engine: Engine
    policy: Policy
    tables: Mapping[str, exp.Table | exp.Subquery]
    values: Mapping[str, BucketValues]
    suppressed: int
    choice: Any = None
    recorded: Sequence[Measurement] = ()


@dataclass(frozen=True)
class Structure:
    """What the tables of a release come to in what its method promises besides requirements of classes.

    `misfit` says how the tables do not belong together, None where they do.
    """

    measurements: tuple[Measurement, ...] = ()
    misfit: str | None = None


EXPORTED = "rows as exported"

# The readings of columns that show each row by itself.
OF_ROWS = frozenset(
    (Reading.EXACT, Reading.LABEL, Reading.RANGE, Reading.CENTROID, Reading.LOWER_BOUND, Reading.UPPER_BOUND)
)


@dataclass(frozen=True)
class Figure:
    """How a certificate explains a measurement of a structure: what it means, where it is defined, what was read.

    `parameter` is what the required number is called, None where it is a count of what there is to keep.
    """

    meaning: str
    paper: str
    recomputed_from: str = EXPORTED
    parameter: str | None = None

    @property
    def in_files(self) -> bool:
        """Whether it can be computed from the exported rows."""
        return self.recomputed_from == EXPORTED

    def named(self, measurement: Measurement) -> str:
        """The measurement as a requirement, such as k_looseness(k => 4)."""
        if self.parameter is None or not measurement.required:
            return measurement.question
        return f"{measurement.question}({self.parameter} => {measurement.required:.0f})"


@dataclass(frozen=True)
class Wording:
    """What a certificate says of a method's releases.

    `published` is what stands for values, None where columns state their levels. `losses` define what is minimized, and
    `figures` what `verify` measures, both by name. `tables` are the readings that the columns of one table may have
    together, tokens aside: a certificate with others is not believed.
    """

    published: str | None
    losses: Mapping[str, str]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Sequence[Collection[Reading]] = (OF_ROWS,)


class Method(Protocol):
    """The parts that every method has.

    `options` are an instance of its `OPTIONS`, each field of which is a `shared.arguments.argument`.
    """

    OPTIONS: type[Any]

    def options(self, arguments: Sequence[tuple[str, Value]]) -> Any:
        """The arguments, checked. Raises UserError for those that the method does not take."""
        ...

    def limits(self, options: Any) -> Limits:
        """What the method can do, with these options, of all that a statement and its policy may ask."""
        ...

    def encoding(self, task: Task, options: Any) -> Encoding | None:
        """The cells that the method needs; None for none. Raises PolicyError for columns that it cannot have."""
        ...

    def choose(self, task: Task, options: Any) -> Choice:
        """What is published in place of the source. Raises PrivacyViolation where nothing may be."""
        ...

    def why(self, task: Task, choice: Any) -> Explanation | None:
        """What the choice is owed to, where the method can tell."""
        ...

    def reasons(self, task: Task, choice: Any, explained: Any) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail) that say what was chosen, and why; `explained` is what `why` has returned."""
        ...

    def promises(self, options: Any) -> tuple[Requirement, ...]:
        """What the method promises of every class, besides what a policy requires."""
        ...

    def assumes(self, options: Any, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """What the figures of a release rest on; `sensitive` are its columns of that role."""
        ...

    def compile(self, task: Task, choice: Any, release_id: str, tokens: Mapping[str, str]) -> Recoded | TablesQuery:
        """How the rows of the one table or view are recoded, or the SELECT of each table.

        `tokens` are the tables of the tokens of columns that are pseudonyms.
        """
        ...

    def verify(self, published: PublishedTables, options: Any) -> Structure:
        """What the tables of a release keep of what the method promises of them, recomputed from them."""
        ...

    def wording(self, options: Any) -> Wording:
        """What a certificate says of a release."""
        ...


def parts_lacking(method: object) -> list[str]:
    """The parts of `Method` that a module does not have."""
    parts = (*get_annotations(Method), *(name for name in vars(Method) if not name.startswith("_")))
    return [part for part in parts if not callable(getattr(method, part, None))]
