"""Models as a whole: each model as a requirement, models with a sole parameter, and the knowledge of an adversary."""

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

# Every model as a requirement. Only its figure is used, so the required value does not matter.


# Relations that need more than the rows: a policy's text or a public table.
_OF_PUBLIC_TABLE = "public_class"
_OF_HIERARCHY = "sensitive_ancestor"
# Recursive l-diversity counts from the l-th value on; 2 is the least meaningful l.
_LEAST_COUNT = 2


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column: whether it names a hierarchy, whether its values contain other values, and whether they are
    numbers.
    """

    name: str
    has_hierarchy: bool
    is_nested: bool
    is_numeric: bool = False


def every_model(sensitive: Sequence[SensitiveColumn], *, has_public_table: bool) -> tuple[Requirement, ...]:
    """Returns the models that apply to a table, each with valid arguments, and for one sensitive column or none.

    Models with an argument that names another object of the user are left out, and so are models with a broken file and
    models that compare with broader classes, because a table does not show these.
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
    """Whether the statement of the question's figure can be parsed; a broken file is an error only if its model is
    named.
    """
    try:
        question.query("achieved")
    except InternalError:
        return False
    return True


def _is_distance(question: Question, parameter: Parameter) -> bool:
    """Whether a figure depends on the distances of the user's numbers, because they are unknown without a policy."""
    of_numbers = OF_NUMBERS in question.reads and parameter.type == "DECIMAL" and parameter.default is None
    return of_numbers and _is_read(question, parameter)


def _fits(question: Question, column: SensitiveColumn) -> bool:
    """Whether a model applies to a column of single values, of values in a hierarchy, or of numbers."""
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


# The adversary's knowledge of a person's rows in one table that requirements assume.


@dataclass(frozen=True, order=True)
class Known:
    """The knowledge of an adversary: its kind, and the number of different rows of a table, None for all of them."""

    knows: str
    most: int | None = None

    @property
    def is_partition(self) -> bool:
        """Whether this knowledge puts each person in one class."""
        return is_partition(self.knows)

    @property
    def written(self) -> str:
        """Returns the value as a user writes it."""
        return f"'{self.knows}'"


def known_of(requirement: BoundRequirement) -> Known:
    """Returns the knowledge that a requirement assumes: if it names none, the values that occur in all rows."""
    knows = requirement.knows or VALUES
    return Known(knows, 1 if knows == "one_row" else requirement.rows_known)


def by_known(requirements: Sequence[BoundRequirement]) -> dict[Known, list[int]]:
    """Returns the indexes of requirements by the knowledge that they assume."""
    indexes: dict[Known, list[int]] = {}
    for index, requirement in enumerate(requirements):
        indexes.setdefault(known_of(requirement), []).append(index)
    return indexes


# Models with a sole parameter, such as the k of k-anonymity.


_OF_PUBLIC_TABLE_SOLE_PARAMETER = "public_class"


def is_sole_parameter(question: Question, parameter: str, *, public: bool) -> bool:
    """Whether the achieved value is compared with this parameter, and the question needs no other.

    `public` says whether the question may read a public table, which it then has to read.
    """
    if question.required != parameter or (_OF_PUBLIC_TABLE_SOLE_PARAMETER in question.reads) != public:
        return False
    return all(known.name == parameter or known.default is not None for known in question.parameters)


def always_satisfied() -> Requirement:
    """Returns a requirement that every class satisfies. Raises the errors of `satisfied_with`."""
    return satisfied_with(1)


def satisfied_with(rows: int) -> Requirement:
    """Returns a requirement that a class satisfies if and only if it has at least this many rows, each about another
    respondent.

    Raises InternalError if no model's header says how many rows are enough for it.
    """
    for question, *_ in readable_models():
        if (enough := question.enough_rows) and is_sole_parameter(question, enough, public=False):
            return Requirement(question.model, ((enough, rows),))
    raise InternalError("no model says how many rows are enough for a class")
