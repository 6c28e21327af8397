"""Models as a whole: each as a requirement, those that one number is enough for, and what an adversary knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.errors import InternalError
from sqlanon.sql.classes.further_relations import OF_NUMBERS
from sqlanon.sql.classes.related import VALUES, is_partition
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.load import Parameter, Question, readable_models

# Every model as a requirement, for its figure alone: what is required of it does not matter.


# Read from more than the rows, a policy's words or a public table.
_OF_PUBLIC_TABLE = "public_class"
_OF_HIERARCHY = "sensitive_ancestor"
# Recursive l-diversity counts from the l-th value on; 2 is the least l that says something.
_LEAST_COUNT = 2


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column: whether it names a hierarchy, whether its values are made of others, and whether numbers."""

    name: str
    has_hierarchy: bool
    is_nested: bool
    is_numeric: bool = False


def every_model(sensitive: Sequence[SensitiveColumn], *, has_public_table: bool) -> tuple[Requirement, ...]:
    """The models that can be asked of a table, each of one sensitive column, or of none, with arguments that it takes.

    Models whose arguments name something else of the user's are left out, and those with a broken file, and those
    that compare with broader classes, of which a table shows nothing.
    """
    every_question = sorted((q for questions in readable_models() for q in questions), key=lambda q: q.name)
    questions = [q for q in every_question if _is_askable(q, has_public_table) and _has_query(q)]
    of_classes = [Requirement(q.model, _arguments(q)) for q in questions if not q.of_sensitive_values]
    of_values = [
        Requirement(question.model, (*_arguments(question), ("attribute", QualifiedName((column.name,)))))
        for column in sensitive
        for question in questions
        if question.of_sensitive_values and _fits(question, column)
    ]
    return (*of_classes, *of_values)


def _is_askable(question: Question, has_public_table: bool) -> bool:
    is_about_more = (
        question.of_sample
        or SUPERSET in question.reads
        or any(p.type in ("RELATION", "COLUMN") or _is_distance(question, p) for p in question.parameters)
    )
    return not is_about_more and (has_public_table or _OF_PUBLIC_TABLE not in question.reads)


def _has_query(question: Question) -> bool:
    """Whether the statement of its figure is one: a model with a broken file is asked where it is named, alone."""
    try:
        question.query("achieved")
    except InternalError:
        return False
    return True


def _is_distance(question: Question, parameter: Parameter) -> bool:
    """Whether a figure depends on how far the user's numbers lie apart, of which nothing is known without a policy."""
    of_numbers = OF_NUMBERS in question.reads and parameter.type == "DECIMAL" and parameter.default is None
    return of_numbers and _is_read(question, parameter)


def _fits(question: Question, column: SensitiveColumn) -> bool:
    """Whether a model can be asked of a column: one of single values, of values in a hierarchy, or of numbers."""
    of_single_values = question.joint or not column.is_nested
    with_hierarchy = column.has_hierarchy or _OF_HIERARCHY not in question.reads
    return of_single_values and with_hierarchy and (column.is_numeric or OF_NUMBERS not in question.reads)


def figure_name(question: Question) -> str:
    """Returns the name of the figure: the question's name, with the arguments that change its result."""
    chosen = [
        f"{parameter.name} => {written(_value(question, parameter))}"
        for parameter in question.parameters
        if parameter.default is None and _is_read(question, parameter)
    ]
    return f"{question.name}({', '.join(chosen)})" if chosen else question.name


def _arguments(question: Question) -> tuple[tuple[str, Value], ...]:
    arguments: dict[str, Value] = {p.name: _value(question, p) for p in question.parameters}
    if question.when:
        arguments[question.when.argument] = question.when.value
    return tuple(arguments.items())


def _value(question: Question, parameter: Parameter) -> Value:
    if parameter.default is not None:
        return parameter.default
    if parameter.type == "TEXT":
        return parameter.choices[0]
    low = parameter.low or Decimal(0)
    if parameter.type == "BIGINT":
        return max(int(low), _LEAST_COUNT) if _is_read(question, parameter) else int(low)
    return low


def _is_read(question: Question, parameter: Parameter) -> bool:
    """Whether the figure depends on the parameter."""
    return not question.placeholders("achieved").isdisjoint(parameter.placeholders)


# What requirements say that an adversary may know of a person's rows in one table.


@dataclass(frozen=True, order=True)
class Known:
    """The knowledge of an adversary: its kind, and the number of different rows of a table, None for all of them."""

    knows: str
    most: int | None = None

    @property
    def is_partition(self) -> bool:
        """Whether each person is in one class by it."""
        return is_partition(self.knows)

    @property
    def written(self) -> str:
        """The value as a user writes it."""
        return f"'{self.knows}'"


def known_of(requirement: BoundRequirement) -> Known:
    """Returns the knowledge that a requirement assumes; everything that is the case, if it does not say."""
    knows = requirement.knows or VALUES
    return Known(knows, 1 if knows == "one_row" else requirement.rows_known)


def by_known(requirements: Sequence[BoundRequirement]) -> dict[Known, list[int]]:
    """The indexes of requirements by what they say is known."""
    indexes: dict[Known, list[int]] = {}
    for index, requirement in enumerate(requirements):
        indexes.setdefault(known_of(requirement), []).append(index)
    return indexes


# Models that one number is enough for, such as the k of k-anonymity.


_OF_PUBLIC_TABLE_SOLE_PARAMETER = "public_class"


def is_sole_parameter(question: Question, parameter: str, *, public: bool) -> bool:
    """Whether what the question achieves is compared with this parameter, and it needs no other.

    `public` is whether the question may read, and then has to read, a public table.
    """
    if question.required != parameter or (_OF_PUBLIC_TABLE_SOLE_PARAMETER in question.reads) != public:
        return False
    return all(known.name == parameter or known.default is not None for known in question.parameters)


def always_satisfied() -> Requirement:
    """A requirement that every class satisfies. Raises as `satisfied_with` does."""
    return satisfied_with(1)


def satisfied_with(rows: int) -> Requirement:
    """A requirement that a class satisfies with this many rows, each of another respondent, and violates with fewer.

    Raises InternalError where no model says in its header how many rows are enough for it.
    """
    for question, *_ in readable_models():
        if (enough := question.enough_rows) and is_sole_parameter(question, enough, public=False):
            return Requirement(question.model, ((enough, rows),))
    raise InternalError("no model says how many rows are enough for a class")
