"""Models that one number is enough for, such as the k of k-anonymity."""

from __future__ import annotations

from sqlanon.domain.policy import Requirement
from sqlanon.errors import InternalError
from sqlanon.sql.questions.load import Question, readable_models

_OF_PUBLIC_TABLE = "public_class"


def is_sole_parameter(question: Question, parameter: str, *, public: bool) -> bool:
    """Whether what the question achieves is compared with this parameter, and it needs no other.

    `public` is whether the question may read, and then has to read, a public table.
    """
    if question.required != parameter or (_OF_PUBLIC_TABLE in question.reads) != public:
        return False
    return all(known.name == parameter or known.default is not None for known in question.parameters)


def always_satisfied() -> Requirement:
    """A requirement that every class satisfies: one that so many rows are enough for, with a single row.

    Raises InternalError where no model says so in its header.
    """
    for question, *_ in readable_models():
        if (rows := question.enough_rows) and is_sole_parameter(question, rows, public=False):
            return Requirement(question.model, ((rows, 1),))
    raise InternalError("no model says how many rows are enough for a class")
