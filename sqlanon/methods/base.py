"""Base class of the methods, each of which `registry` finds by its name.

The stages of a release call the parts of `Method` and know no method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import Choice, Explanation
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.release import Assumption, Measurement, Reading
from sqlanon.domain.values import Value, plain_number, written
from sqlanon.engines.base import RAISE_BOUND, Engine
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.limits import Limits
from sqlanon.methods.shared.arguments import parsed
from sqlanon.methods.shared.task import Task
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.recode import Placed, Recoding

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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
    """The content of the rows of a release that is one table or view: labels of levels, or of the rows' regions.

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
    If `is_own`, the release is one of this database, whose ledgers can be asked.
    """

    engine: Engine
    policy: Policy
    tables: Mapping[str, exp.Table | exp.Subquery]
    values: Mapping[str, BucketValues]
    suppressed: int
    choice: Choice | None = None
    recorded: Sequence[Measurement] = ()
    is_own: bool = False


@dataclass(frozen=True)
class Structure:
    """The measurements of a release's tables in the promises of its method besides requirements of classes.

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
    """The explanation of a measurement in a certificate: its meaning, its definition, and the rows that were read.

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
        required = written(plain_number(Decimal(repr(measurement.required))))
        return f"{measurement.question}({self.parameter} => {required})"


@dataclass(frozen=True)
class Wording:
    """The words of a certificate about a method's releases.

    `published` is what stands for values, None where columns state their levels. `losses` define what is minimized, and
    `figures` what `verify` measures, both by name. `tables` are the readings that the columns of one table may have
    together, tokens aside: a certificate with others is not believed.
    """

    published: str | None
    losses: Mapping[str, str]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Sequence[Collection[Reading]] = (OF_ROWS,)


_Options = TypeVar("_Options", bound="DataclassInstance")
_Choice = TypeVar("_Choice", bound=Choice)


class Method(ABC, Generic[_Options, _Choice]):
    """A way to choose what is published in place of a source. A module of a method has one subclass.

    `name` is the name that users type. OPTIONS is the data class of the method's arguments, each field of which is a
    `shared.arguments.argument`. `choose`, `compile` and `wording` make a method; a part that a method does not
    override answers nothing, or refuses.
    """

    OPTIONS: type[_Options]

    # The calls by which the method competes where a statement names none, each as its arguments; none by default.
    # Their encodings are the same, and `choices` and `spans` answer for them.
    COMPETES: ClassVar[tuple[tuple[tuple[str, Value], ...], ...]] = ()

    # Whether releases are asked what their policy requires. If not, no row of theirs is a row of the source, and they
    # keep a promise of the method's own instead, which `verify` measures.
    ASKS_REQUIREMENTS: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        self.name = name

    def options(self, arguments: Sequence[tuple[str, Value]]) -> _Options:
        """Checks the arguments. Raises UserError for those that the method does not take."""
        return parsed(self.name, self.OPTIONS, arguments)

    def limits(self, options: _Options) -> Limits:
        """The abilities of the method, with these options, among all that a statement and its policy may ask."""
        return Limits()

    def promises(self, options: _Options) -> tuple[Requirement, ...]:
        """The requirements that the method promises of every class, besides those of a policy."""
        return ()

    def assumes(self, options: _Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """The assumptions behind the figures of a release; `sensitive` are its columns of that role."""
        return ()

    def encoding(self, task: Task, options: _Options) -> Encoding | None:
        """The cells that the method needs; None for none. Raises PolicyError for columns that it cannot have."""
        return None

    @abstractmethod
    def choose(self, task: Task, options: _Options) -> _Choice:
        """Chooses what is published in place of the source. Raises PrivacyViolation where nothing may be."""

    def choices(self, task: Task, options: Sequence[_Options]) -> Sequence[_Choice]:
        """The choices by several options, to be compared: a method may search once for all. Raises as `choose` does."""
        return [self.choose(task, each) for each in options]

    def spans(self, task: Task, choice: _Choice, ranks: Sequence[str]) -> exp.Query:
        """The `shared.spans` of a choice, whatever method competes with it.

        `ranks` are the tables of each quasi-identifier's values with their ranks.
        """
        raise InternalError(f"the method {self.name} does not say what its labels stand for")

    def why(self, task: Task, choice: _Choice) -> Explanation | None:
        """The nodes beside the choice, looked at again for EXPLAIN; None for a method that compares none."""
        return None

    def reasons(self, task: Task, choice: _Choice, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Rows of (stage, item, detail) for EXPLAIN about the choice; `explained` is what `why` has returned."""
        return iter(())

    @abstractmethod
    def compile(self, task: Task, choice: _Choice, release_id: str, tokens: Mapping[str, str]) -> Recoded | TablesQuery:
        """The recoding of the rows of the one table or view, or the SELECT of each table.

        `tokens` are the tables of the tokens of columns that are pseudonyms.
        """

    def verify(self, published: PublishedTables, options: _Options) -> Structure:
        """The promises of the method about a release's tables, recomputed from these.

        One table promises requirements of classes only, which the stages check. Raises InternalError for several.
        """
        if len(published.tables) > 1:
            raise InternalError(f"the method {self.name} does not say how its tables belong together")
        return Structure()

    @abstractmethod
    def wording(self, options: _Options) -> Wording:
        """The words of a certificate about a release."""

    def on_spark(self) -> Method[_Options, _Choice]:
        """The method for rows that lie on Spark: itself, unless it takes other steps there."""
        return self

    def preferred(self, task: Task, options: _Options, levels: tuple[int, ...], most: int) -> Sequence[tuple[int, ...]]:
        """The levels that the method would have published in place of these, had they satisfied.

        `task` requires what each class satisfies. Raises PolicyError for more than `most` to choose from, and where
        the choice depends on more than the levels.
        """
        raise PolicyError(f"{self.name} does not publish the best of several levels")
