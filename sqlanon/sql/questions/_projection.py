"""The argument `on` of a model: the quasi-identifiers by which its classes are told apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import QualifiedName, Scalar, Value, written
from sqlanon.errors import PolicyError
from sqlanon.sql.questions.load import Question

ON = "on"

_OF_PUBLIC_TABLE = "public_class"


def columns_on(question: Question, arguments: dict[str, Value], quasi: Sequence[str]) -> tuple[str, ...]:
    """The quasi-identifiers that `on` names, in the order of `quasi`; none if it is not given.

    Takes `on` out of `arguments`. Raises PolicyError for a column that is no quasi-identifier, for one that is named
    twice, and for a model that compares with a public table or is about items in lists.
    """
    value = arguments.pop(ON, None)
    if value is None:
        return ()
    if (about := _all_columns(question)) is not None:
        raise _wrong(question, f" {about}, and takes no columns to be on", f"leave {ON} out of {question.model}")
    columns: list[str] = []
    for item in value if isinstance(value, tuple) else (value,):
        name = _column(question, item, quasi)
        if name in columns:
            raise _wrong(question, f": {ON} names {name} twice", "name it once")
        columns.append(name)
    return tuple(name for name in quasi if name in columns)


def _all_columns(question: Question) -> str | None:
    """Why a model is about all quasi-identifiers; None if it may be about some of them."""
    if _OF_PUBLIC_TABLE in question.reads:
        return "compares with a public table by all quasi-identifiers"
    return "is about the items in lists" if question.of_itemsets else None


def _column(question: Question, item: Scalar, quasi: Sequence[str]) -> str:
    """The quasi-identifier that an item of `on` names."""
    name = item.name if isinstance(item, QualifiedName) and len(item.parts) == 1 else item
    known = {fold(column): column for column in quasi}
    if not isinstance(name, str) or fold(name) not in known:
        raise _wrong(
            question,
            f": {written(item)} is no quasi-identifier, which a requirement is {ON}",
            nearest(str(name), quasi) or f"the quasi-identifiers are: {', '.join(quasi)}",
        )
    return known[fold(name)]


def _wrong(question: Question, problem: str, hint: str) -> PolicyError:
    return PolicyError(f"{question.model}{problem}", hint=hint, part=("requirement", question.model, ON))
