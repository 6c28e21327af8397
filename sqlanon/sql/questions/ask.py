"""Binds the parameters and relations of a question to a query that any engine can run."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import comb, isclose, isfinite

from sqlglot import exp

from sqlanon.domain.identifiers import fold, listed, nearest, same_name
from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName, Scalar, Value, written
from sqlanon.errors import InternalError, PolicyError, about
from sqlanon.sql.build.sql_files import reading
from sqlanon.sql.questions.arguments import Argument, bound_arguments, chosen, columns_of_weights, subjects_of_question
from sqlanon.sql.questions.knowledge import DEFAULT, ON, knowledge, meaning, wrong_argument
from sqlanon.sql.questions.load import INFINITE, Question, questions_of

# Arguments of any model besides its header's parameters: their values depend on a policy.
_OF_POLICY = ("attribute", "jointly", "on", "within", "knows", "m")
# Figures that differ by less count as equal, because they are sums of fractions.
_SAME = 1e-9


@dataclass(frozen=True)
class BoundRequirement:
    """A privacy model in which every parameter has a value inside its bounds.

    `attributes` are the protected sensitive columns: none, one, or several whose values count jointly. `on` are the
    quasi-identifiers of its classes, in the policy's order; it is empty for all of them. `knows` is an adversary's
    knowledge of a respondent's rows in the related tables, and `rows_known` the number of these rows, if it is limited;
    both are None if the policy has no such tables. `within` are the quasi-identifiers, each with its level, of the one
    broader class that a class is compared with; None if classes are not compared with such a class.
    """

    question: Question
    arguments: tuple[tuple[str, Argument], ...]
    attributes: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    knows: str | None = None
    rows_known: int | None = None
    within: tuple[tuple[str, int], ...] | None = None

    @property
    def question_name(self) -> str:
        """The name of the measurement: the question's file, with the columns of `on`, and with `knows` unless it is the
        default.
        """
        if self.knows in (None, DEFAULT):
            return self.question.name + self._on
        rows = "" if self.rows_known is None else f", m => {self.rows_known}"
        return f"{self.question.name} knows {written(str(self.knows))}{rows}"

    @property
    def _on(self) -> str:
        return f" on {listed(self.on)}" if self.on else f" {WITHIN} {self._within}" if self.within else ""

    @property
    def _within(self) -> str:
        """Returns the columns of `within` with their levels, as text."""
        return f"({', '.join(f'{name} LEVEL {level}' for name, level in self.within or ())})"

    @property
    def scope(self) -> str:
        """A sentence that follows the model's title if classes are by some of the quasi-identifiers, or by several
        tables.
        """
        if self.knows is not None:
            return meaning(self.knows, self.rows_known)
        if self.within is not None:
            return f" In place of the whole release stand the rows with the same labels of {self._within}."
        return f" Classes are by {listed(self.on)} alone: nothing is said to anyone who knows more." if self.on else ""

    @property
    def reads(self) -> tuple[str, ...]:
        """The normal relations that the model's statements read."""
        return self.question.reads

    @property
    def of_whole_release(self) -> bool:
        """Whether the model judges a class by all classes of one release together."""
        return self.question.whole_release

    @property
    def of_itemsets(self) -> bool:
        """Whether the model is about the sets of items in lists."""
        return self.question.of_itemsets

    @property
    def required(self) -> float:
        """The parameter, or the model's own constant, with which `achieved` is compared."""
        value = dict(self.arguments).get(self.question.required, self.question.required)
        assert isinstance(value, int | Decimal | str)
        return float(value)

    def is_contradicted_by(self, achieved: float) -> bool:
        """Whether a figure fails the required value by more than the rounding errors of sums."""
        required = self.required
        missed = achieved < required if self.question.at_least else achieved > required
        return missed and not isclose(achieved, required, rel_tol=_SAME, abs_tol=_SAME)

    @property
    def counts_respondents(self) -> bool:
        """Whether the model's statements read the column `entities` of the classes, by name or by a star."""
        if "equivalence_class" not in self.reads:
            return False
        for name in ("achieved", "violations"):
            statement = self.statement(name)
            if any(same_name(part.name, "entities") for part in statement.find_all(exp.Column)):
                return True
            if any(not isinstance(star.parent, exp.Count) for star in statement.find_all(exp.Star)):
                return True
        return False

    def argument(self, name: str) -> Argument:
        """Returns the value of a parameter, or its default; a COLUMN has a name of one part."""
        for known, value in self.arguments:
            if known == name:
                return value
        raise InternalError(f"{self.question.name} has no parameter {name!r}")

    @property
    def least_rows(self) -> int:
        """The number of rows below which a class always violates the requirement; 1 if the header names none.

        It is also 1 if the classes are made by some quasi-identifiers only, because the classes by all of them may be
        smaller.
        """
        return 1 if self.question.least_rows is None or self.on else self._rows(self.question.least_rows)

    def satisfied_by(self, rows: int) -> bool:
        """Whether the header says that a class of this many rows, each about another respondent, always satisfies the
        requirement.
        """
        return self.question.enough_rows is not None and not self.on and self._rows(self.question.enough_rows) <= rows

    def _rows(self, parameter: str) -> int:
        number = self.argument(parameter)
        assert isinstance(number, int)
        return number

    def __str__(self) -> str:
        infinite = {parameter.name for parameter in self.question.parameters if parameter.infinite}
        parts = [
            f"{name} => {written(INFINITE if name in infinite and value == Decimal('Infinity') else value)}"
            for name, value in self.arguments
        ]
        when = self.question.when
        if self.knows not in (None, DEFAULT):
            parts.append(f"knows => {written(str(self.knows))}")
        if self.rows_known is not None:
            parts.append(f"m => {self.rows_known}")
        if when:
            parts.append(f"{when.argument} => {written(when.value)}")
        about = f" of {', '.join(self.attributes)}" if self.attributes else ""
        jointly = " jointly" if len(self.attributes) > 1 else ""
        return f"{self.question.model}({', '.join(parts)}){about}{jointly}{self._on}"

    def statement(self, name: str, relations: Mapping[str, str] | None = None) -> exp.Select:
        """Returns the statement `achieved` or `violations` with its parameters filled in.

        `relations` replaces normal relations by name; a relation that it lacks is read by its own name.
        """
        tree = self.question.query(name)
        values = literals_of(self.arguments)
        for index in list(tree.find_all(exp.Placeholder)):
            if index.name in values:
                index.replace(values[index.name].copy())
        instead = {name: table for name, table in (relations or {}).items() if name in self.reads and table != name}
        return reading(tree, instead)


def literals_of(arguments: Sequence[tuple[str, Argument]]) -> dict[str, exp.Expr]:
    """Returns the literal for each placeholder: an integer, or a fraction and its parts, because these compare
    exactly.
    """
    literals: dict[str, exp.Expr] = {}
    for name, value in arguments:
        if isinstance(value, str):
            literals[name] = exp.Literal.string(value)
        elif isinstance(value, int):
            literals[name] = exp.Literal.number(value)
        elif isinstance(value, Decimal) and value.is_infinite():
            literals[name] = exp.cast(exp.Literal.string("infinity"), exp.DataType.Type.DOUBLE)
            literals |= {f"{name}_numerator": _exact(1), f"{name}_denominator": _exact(0)}
        elif isinstance(value, Decimal):
            fraction = comparable(value)
            literals[name] = exp.cast(exp.Literal.number(repr(float(value))), exp.DataType.Type.DOUBLE)
            literals[f"{name}_numerator"] = _exact(fraction.numerator)
            literals[f"{name}_denominator"] = _exact(fraction.denominator)
    return literals


def _exact(value: int) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(value)), exp.DataType.build("DECIMAL(38, 0)"))


def bind_requirement(
    requirement: Requirement,
    sensitive: Sequence[str] = (),
    quasi: Sequence[str] | None = None,
    several: Collection[str] | None = None,
    weights: Sequence[str] | None = None,
) -> tuple[BoundRequirement, ...]:
    """Checks a requirement's arguments against the model's header, and binds it to the columns that it protects.

    Returns one bound requirement for each column in `sensitive`, or for the column that `attribute` names, or one for
    all columns if `jointly` is true; for a model that is not about sensitive values, exactly one. `quasi` are the
    quasi-identifiers that `on` may name; None if that argument is not allowed. `several` are the sensitive columns of
    related tables; None if there are no such tables, so that `knows` and `m` are not allowed. `weights` is the column
    of sampling weights, for models of weights, if the policy names one; None means any sensitive column. Raises
    UserError for an unknown model, and PolicyError for an argument that is missing, unknown, of the wrong type or
    outside its bounds, and for a model about sensitive values without sensitive columns.
    """
    with about("requirement", requirement.model):
        return _bound(requirement, sensitive, quasi, several, weights)


def _bound(
    requirement: Requirement,
    sensitive: Sequence[str],
    quasi: Sequence[str] | None,
    several: Collection[str] | None,
    weights: Sequence[str] | None,
) -> tuple[BoundRequirement, ...]:
    values = dict(requirement.arguments)
    questions = questions_of(requirement.model)
    question = chosen(questions, values)
    within = levels_within(question, values, quasi)
    question = question if within is None else question.compared_within()
    if question.of_weights and weights is not None:
        sensitive = columns_of_weights(question, values, weights, sensitive)
    about = subjects_of_question(question, values, sensitive)
    known = knowledge(question, values, several, about)
    sets = [()] if quasi is None else sets_on(question, values, quasi)
    arguments = bound_arguments(question, values, questions)
    bound = tuple(BoundRequirement(question, arguments, of, on, *known, within) for on in sets for of in about)
    if not isfinite(bound[0].required):
        raise PolicyError(f"{question.model}: {question.required} is too large")
    return bound


def require_parameters(requirement: Requirement) -> None:
    """Checks the arguments that the model's header declares; `bind_requirement` checks the others, with a policy.

    Raises UserError for an unknown model, and PolicyError for an argument that is missing, unknown, of the wrong type
    or outside its bounds.
    """
    with about("requirement", requirement.model):
        arguments = dict(requirement.arguments)
        questions = questions_of(requirement.model)
        question = chosen(questions, arguments)
        declared = {parameter.name for parameter in question.parameters}
        of_header = {name: value for name, value in arguments.items() if name in declared or name not in _OF_POLICY}
        for parameter in question.parameters:
            if parameter.of_policy and parameter.high is not None:
                of_header.setdefault(parameter.name, parameter.high)
        bound_arguments(question, of_header, questions)


def least_rows(requirements: Sequence[BoundRequirement]) -> int:
    """Returns the number of rows below which a class violates one of the requirements, by their headers; at least 1."""
    return max((requirement.least_rows for requirement in requirements), default=1)


# The largest count that is exact as a DOUBLE: no numerator and no denominator of two counts is larger.
_MOST = 2**53


def comparable(number: Decimal) -> Fraction:
    """Returns the number, or a simpler number that compares in the same way with every fraction of two counts.

    The result is the first mediant on the way to the number, by continued fractions, that has a part beyond all counts.
    So all fractions of counts that differ from the number are on the same side of both, and products of the result's
    parts with counts stay below 10^38.
    """
    remaining = exact = Fraction(number)
    before, last = (0, 1), (1, 0)
    while True:
        whole, left = divmod(remaining.numerator, remaining.denominator)
        times = min(whole, _beyond(before, last))
        before, last = last, (before[0] + times * last[0], before[1] + times * last[1])
        if max(last) > _MOST:
            return Fraction(*last)
        if not left:
            return exact
        remaining = Fraction(remaining.denominator, left)


def _beyond(before: tuple[int, int], last: tuple[int, int]) -> int:
    """Returns how many times the last fraction has to be added until a part is beyond all counts."""
    return min((_MOST - first) // step + 1 for first, step in zip(before, last, strict=True) if step)


# The stored form of on => EACH 2: every set of this many quasi-identifiers.
_EACH = re.compile(r"each (\d+)", re.IGNORECASE)
_MOST_SETS = 1000

_OF_PUBLIC_TABLE = "public_class"


def sets_on(question: Question, arguments: dict[str, Value], quasi: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the sets of quasi-identifiers to which a model applies: the set from `columns_on`, or each set of a given
    size.

    The sets of exactly n protect against a reader who knows at most n of a person's values, because classes by fewer
    quasi-identifiers are unions of these classes (Mohammed, Fung, Hung and Lee, Anonymizing healthcare data, 2009:
    LKC-privacy). Removes `on` from `arguments`. Raises PolicyError like `columns_on`, for a size that no set has, and
    for too many sets.
    """
    value = arguments.get(ON)
    text = value.name if isinstance(value, QualifiedName) else value
    match = _EACH.fullmatch(text) if isinstance(text, str) and fold(text) not in map(fold, quasi) else None
    if match is None:
        return [columns_on(question, arguments, quasi)]
    _require_of_some_columns(question)
    del arguments[ON]
    size = int(match[1])
    if not 1 <= size <= len(quasi):
        problem = f": no set has {size} quasi-identifiers, of which there are {len(quasi)}"
        raise _wrong_columns(question, problem, f"write {ON} => EACH with a number from 1 to {len(quasi)}")
    if (number_of_sets := comb(len(quasi), size)) > _MOST_SETS:
        raise _wrong_columns(
            question,
            f": there are {number_of_sets} sets of {size} quasi-identifiers, more than {_MOST_SETS}",
            f"write {ON} => EACH with a lesser number, or name the sets that somebody may know",
        )
    return [()] if size == len(quasi) else [*combinations(quasi, size)]


WITHIN = "within"
# A column at a level, as in `within`; a column without a level has its values.
_AT_LEVEL = re.compile(r"(.+) LEVEL (\d+)", re.IGNORECASE | re.DOTALL)


def levels_within(
    question: Question, arguments: dict[str, Value], quasi: Sequence[str] | None
) -> tuple[tuple[str, int], ...] | None:
    """Returns the quasi-identifiers that `within` names, each with a level, in the order of `quasi`; None if `within`
    is not given.

    Removes `within` from `arguments`. Raises PolicyError for a model that does not compare classes, for a column that
    is not a quasi-identifier, and for a repeated column.
    """
    if quasi is None or any(parameter.name == WITHIN for parameter in question.parameters):
        return None
    if (value := arguments.pop(WITHIN, None)) is None:
        return None
    if question.within is None:
        raise wrong_argument(question, WITHIN, "it compares no class with the release", f"leave {WITHIN} out")
    known = {fold(column): column for column in quasi}
    levels: dict[str, int] = {}
    for item in value if isinstance(value, tuple) else (value,):
        text = str(item) if isinstance(item, str | QualifiedName) else written(item)
        match = None if fold(text) in known else _AT_LEVEL.fullmatch(text)
        column, level = (match[1], int(match[2])) if match else (text, 0)
        if fold(column) not in known:
            hint = nearest(column, quasi) or f"the quasi-identifiers are: {', '.join(quasi)}"
            raise wrong_argument(
                question, WITHIN, f"{column} is not a quasi-identifier, whose labels a class could share", hint
            )
        if known[fold(column)] in levels:
            raise wrong_argument(question, WITHIN, f"{WITHIN} names {column} twice", "name it once")
        levels[known[fold(column)]] = level
    return tuple((name, levels[name]) for name in quasi if name in levels)


def columns_on(question: Question, arguments: dict[str, Value], quasi: Sequence[str]) -> tuple[str, ...]:
    """Returns the quasi-identifiers that `on` names, in the order of `quasi`; empty if `on` is not given.

    Removes `on` from `arguments`. Raises PolicyError for a column that is not a quasi-identifier, for a repeated
    column, and for a model that compares with a public table or is about items in lists.
    """
    value = arguments.pop(ON, None)
    if value is None:
        return ()
    _require_of_some_columns(question)
    columns: list[str] = []
    for item in value if isinstance(value, tuple) else (value,):
        name = _column(question, item, quasi)
        if name in columns:
            raise _wrong_columns(question, f": {ON} names {name} twice", "name it once")
        columns.append(name)
    return tuple(name for name in quasi if name in columns)


def _require_of_some_columns(question: Question) -> None:
    """Raises PolicyError for a model that is about all quasi-identifiers."""
    if (about := _all_columns(question)) is not None:
        hint = f"leave {ON} out of {question.model}"
        raise _wrong_columns(question, f" {about}, and takes no columns to be on", hint)


def _all_columns(question: Question) -> str | None:
    """Returns the reason why a model does not take `on`; None if it may be about some of the quasi-identifiers."""
    if _OF_PUBLIC_TABLE in question.reads:
        return "compares with a public table by all quasi-identifiers"
    if "superset" in question.reads:
        return "compares with the classes of broader labels of all quasi-identifiers"
    return "is about the items in lists" if question.of_itemsets else None


def _column(question: Question, item: Scalar, quasi: Sequence[str]) -> str:
    """Returns the quasi-identifier that an item of `on` names."""
    name = item.name if isinstance(item, QualifiedName) and len(item.parts) == 1 else item
    known = {fold(column): column for column in quasi}
    if not isinstance(name, str) or fold(name) not in known:
        raise _wrong_columns(
            question,
            f": {written(item)} is not a quasi-identifier, which a requirement is {ON}",
            nearest(str(name), quasi) or f"the quasi-identifiers are: {', '.join(quasi)}",
        )
    return known[fold(name)]


def _wrong_columns(question: Question, problem: str, hint: str) -> PolicyError:
    return PolicyError(f"{question.model}{problem}", hint=hint, part=("requirement", question.model, ON))
