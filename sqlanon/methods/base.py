"""Base class of the methods, each of which `registry` finds by its name.

The stages of a release call the parts of `Method` and do not depend on a particular method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from sqlanon.methods.limits import CAN, Limits
from sqlanon.methods.shared.arguments import parsed
from sqlanon.methods.shared.task import Task
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.recode import Placed, Recoding

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Encoding:
    """A method's request for cells, a table of the source's rows with numbers in place of values.

    If `flat` is true, the number of a value is its rank, and hierarchies are not used; if `by_row` is true, equal rows
    stay separate. The values of the columns `besides` are numbered, too. If `quasi_identifiers` is false,
    quasi-identifiers get no numbers: the cells have only the columns that requirements read. If `unbounded` is true,
    any number of cells is allowed; otherwise `fewer` is the hint for a source with too many.
    """

    flat: bool = False
    by_row: bool = False
    besides: tuple[BoundAttribute, ...] = ()
    quasi_identifiers: bool = True
    unbounded: bool = False
    fewer: str = f"{RAISE_BOUND}; METHOD generalization leaves them on Spark"


@dataclass(frozen=True)
class Recoded:
    """The rows of a release that is one table or view: recoded to levels of hierarchies, or to labels of regions.

    `readings` maps each column that the method recodes or adds to its reading; all other columns keep their values, or
    are tokens. A quasi-identifier without a reading is refused. `rounds` has, for each round of a local recoding, the
    levels of the quasi-identifiers and the number of rows published; if cells are suppressed, it has these for each set
    of columns.
    """

    readings: Mapping[str, Reading]
    recodings: tuple[Recoding, ...] = ()
    placed: Placed | None = None
    rounds: tuple[tuple[tuple[int, ...], int], ...] = ()


@dataclass(frozen=True)
class PublishedTables:
    """The current tables of a release, to be checked against the promises of its method.

    `tables` maps the suffix of each table's name to the table; a single table has the suffix "". `values` maps each
    sensitive attribute to the table of its values. `suppressed` counts the source's rows that are in no table. `choice`
    is known only while the release is made. `recorded` has the measurements from that time. If `is_own` is true, the
    release belongs to this database, whose ledgers can be read.
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
    """The measurements of a release's tables for the promises of its method, besides requirements of classes.

    `misfit` describes how the tables contradict each other; it is None if they do not.
    """

    measurements: tuple[Measurement, ...] = ()
    misfit: str | None = None


EXPORTED = "rows as exported"

# The readings that the columns of a table of rows may have.
OF_ROWS = frozenset(
    (Reading.EXACT, Reading.LABEL, Reading.RANGE, Reading.CENTROID, Reading.LOWER_BOUND, Reading.UPPER_BOUND)
)


@dataclass(frozen=True)
class Figure:
    """The explanation of a measurement in a certificate: its meaning, its definition, and the rows that were read.

    `parameter` is the name of the required number, None for a figure that requires none.
    """

    meaning: str
    paper: str
    recomputed_from: str = EXPORTED
    parameter: str | None = None

    @property
    def in_files(self) -> bool:
        """Whether a recipient can recompute the figure from the exported rows."""
        return self.recomputed_from == EXPORTED

    def named(self, measurement: Measurement) -> str:
        """Formats a measurement as a requirement, such as k_looseness(k => 4)."""
        if self.parameter is None or not measurement.required:
            return measurement.question
        required = written(plain_number(Decimal(repr(measurement.required))))
        return f"{measurement.question}({self.parameter} => {required})"


@dataclass(frozen=True)
class Wording:
    """The texts in the certificate of a method's release: sentences, definitions and explanations.

    `published` is a sentence on what the rows have in place of values, None if columns state their levels. `losses`
    maps the names of the losses to definitions, and `figures` the names of the measurements of `verify` to
    explanations. Each of `tables` is a set of readings that the columns of one table may have, besides tokens; any
    other certificate is rejected.
    """

    published: str | None
    losses: Mapping[str, str]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Sequence[Collection[Reading]] = (OF_ROWS,)


_Options = TypeVar("_Options", bound="DataclassInstance")
_Choice = TypeVar("_Choice", bound=Choice)


class Method(ABC, Generic[_Options, _Choice]):
    """A way to choose what is published in place of a source. The module of a method has one subclass of this class.

    `name` is the name that users type. OPTIONS is the data class of the method's arguments; each field is a
    `shared.arguments.argument`. Each method has `choose`, `compile` and `wording`; any other part that a method does
    not override returns nothing, or refuses.
    """

    OPTIONS: type[_Options]

    # The arguments of the calls with which the method competes if a statement names no method. They have the same
    # encoding, and the method implements `choices` and `spans` for them.
    COMPETES: ClassVar[tuple[tuple[tuple[str, Value], ...], ...]] = ()

    # Whether no label is above the MAX LEVEL of its column. A method that publishes ranges may take a policy with MAX
    # LEVEL and not keep it; then it does not compete, and a remark says so.
    KEEPS_MAX_LEVEL: ClassVar[bool] = True

    # Whether releases must meet their policy's requirements. If not, their rows are not rows of the source, and they
    # keep a promise of the method's own instead, which `verify` measures.
    ASKS_REQUIREMENTS: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        self.name = name

    def options(self, arguments: Sequence[tuple[str, Value]]) -> _Options:
        """Checks the arguments. Raises UserError for an argument that the method does not take."""
        return parsed(self.name, self.OPTIONS, arguments)

    def limits(self, options: _Options) -> Limits:
        """Returns the abilities of the method with these options; a statement or policy that needs more is refused."""
        return Limits()

    def limits_with_levels(self, options: _Options) -> Limits:
        """Returns the limits of a release that must observe MAX LEVEL, because the statement names no method or reuses
        the levels of another release.
        """
        limits = self.limits(options)
        return limits if self.KEEPS_MAX_LEVEL else replace(limits, max_level=Limits.max_level)

    def publishes_levels(self, options: _Options) -> bool:
        """Whether the method publishes each column at a level of its hierarchy.

        A column without a hierarchy is then published unchanged or as `*`.
        """
        return self.limits_with_levels(options).max_level is CAN

    def promises(self, options: _Options) -> tuple[Requirement, ...]:
        """Returns the requirements that the method itself guarantees for every class, besides the policy's
        requirements.
        """
        return ()

    def assumes(self, options: _Options, sensitive: Sequence[str]) -> tuple[Assumption, ...]:
        """Returns the assumptions behind the figures of a release; `sensitive` are its sensitive columns."""
        return ()

    def encoding(self, task: Task, options: _Options) -> Encoding | None:
        """Returns the request for the cells that the method needs; None if it needs none.

        Raises PolicyError for columns that the method cannot process.
        """
        return None

    @abstractmethod
    def choose(self, task: Task, options: _Options) -> _Choice:
        """Chooses what is published in place of the source. Raises PrivacyViolation if nothing may be published."""

    def choices(self, task: Task, options: Sequence[_Options]) -> Sequence[_Choice]:
        """Returns the choice for each of several options, which the caller compares. Raises the errors of `choose`.

        A method may override this part to search once for all.
        """
        return [self.choose(task, each) for each in options]

    def spans(self, task: Task, choice: _Choice, ranks: Sequence[str]) -> exp.Query:
        """Returns the query of `shared.spans` for a choice, the common measure of competing methods.

        `ranks` has, for each quasi-identifier, the table of its values and their ranks.
        """
        raise InternalError(f"the method {self.name} does not say what its labels stand for")

    def why(self, task: Task, choice: _Choice) -> Explanation | None:
        """Returns the reasons why the chosen node was preferred to its neighbors, for EXPLAIN; None if the method
        compares no nodes.
        """
        return None

    def reasons(self, task: Task, choice: _Choice, explained: Explanation | None) -> Iterator[tuple[str, str, str]]:
        """Yields rows of (stage, item, detail) about the choice, for EXPLAIN; `explained` is the result of `why`."""
        return iter(())

    @abstractmethod
    def compile(self, task: Task, choice: _Choice, release_id: str, tokens: Mapping[str, str]) -> Recoded | TablesQuery:
        """Returns the recoding of the release's only table or view, or the SELECT of each of its tables.

        `tokens` maps the columns that are pseudonyms to the tables of their tokens.
        """

    def verify(self, published: PublishedTables, options: _Options) -> Structure:
        """Recomputes from a release's tables whether the method's promises hold.

        The default serves releases of one table, whose requirements the stages check; it raises InternalError for a
        release of several tables.
        """
        if len(published.tables) > 1:
            raise InternalError(f"the method {self.name} does not say how its tables belong together")
        return Structure()

    @abstractmethod
    def wording(self, options: _Options) -> Wording:
        """Returns the texts that the certificate has about a release."""

    def on_spark(self) -> Method[_Options, _Choice]:
        """Returns the method for rows on Spark: itself, unless it needs other steps there."""
        return self

    def preferred(self, task: Task, options: _Options, levels: tuple[int, ...], most: int) -> Sequence[tuple[int, ...]]:
        """Returns the levels that the method would prefer to `levels` if they met the requirements.

        `task` has the requirements that each class must satisfy. Raises PolicyError if there are more than `most`
        levels to choose from, or if the choice depends on more than the levels.
        """
        raise PolicyError(f"{self.name} does not publish the best of several levels")
