"""The argument `on` of a model: the quasi-identifiers by which its classes are told apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.errors import PolicyError
from sqlanon.questions.load import Question

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
    part = ("requirement", question.model, ON)
    if _OF_PUBLIC_TABLE in question.reads:
        raise PolicyError(
            f"{question.model} compares with a public table by all quasi-identifiers, and takes no columns to be on",
            hint=f"leave {ON} out of {question.model}",
            part=part,
        )
    if question.of_itemsets:
        raise PolicyError(
            f"{question.model} is about the items in lists, and takes no columns to be on",
            hint=f"leave {ON} out of {question.model}",
            part=part,
        )
    known = {fold(name): name for name in quasi}
    columns: list[str] = []
    for item in value if isinstance(value, tuple) else (value,):
        name = item.name if isinstance(item, QualifiedName) and len(item.parts) == 1 else item
        if not isinstance(name, str) or fold(name) not in known:
            raise PolicyError(
                f"{question.model}: {written(item)} is no quasi-identifier, which a requirement is {ON}",
                hint=nearest(str(name), quasi) or f"the quasi-identifiers are: {', '.join(quasi)}",
                part=part,
            )
        if known[fold(name)] in columns:
            raise PolicyError(f"{question.model}: {ON} names {known[fold(name)]} twice", hint="name it once", part=part)
        columns.append(known[fold(name)])
    return tuple(name for name in quasi if name in columns)
