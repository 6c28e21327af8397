"""A requirement of a policy as an object, including models of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sqlanon.clients.api.arguments import Argument, Defined, ValueKind, python_value, text_argument, values
from sqlanon.domain.policy import Requirement as Definition
from sqlanon.sources.joins import bind_joined, is_of_join
from sqlanon.sql.questions.ask import require_parameters
from sqlanon.sql.questions.load import questions_of
from sqlanon.syntax.texts import call_text

_KINDS = {"COLUMN": ValueKind.COLUMN, "RELATION": ValueKind.RELATION}
_OF_VALUES = {"attribute": ValueKind.COLUMN, "on": ValueKind.COLUMNS}
_OF_JOIN = {"x": ValueKind.COLUMNS, "y": ValueKind.COLUMN}


class Requirement(Defined[Definition]):
    """A privacy model and its arguments, as after REQUIRE: `Requirement("k_anonymity", k=5)`.

    Each model that comes with sqlanon has its own class with documented arguments, such as `KAnonymity`; this class
    also serves models of other packages. Arguments that are None are left out. If the model expects the name of
    a column or a table, a text is that name.

    Raises UserError for an unknown model, and PolicyError for an argument that is missing, unknown, of the wrong type,
    outside its bounds or not among its choices.

    >>> Requirement("k_anonymity", k=5).sql()
    'k_anonymity(k => 5)'
    """

    # Set in the classes that represent one model.
    MODEL: ClassVar[str] = ""

    def __init__(self, model: str, /, **arguments: Argument) -> None:
        name = text_argument("the model of a requirement", model).lower()
        self._definition = Definition(name, values(name, arguments, _kinds(name)))
        if is_of_join(self._definition):
            bind_joined([self._definition])
        else:
            require_parameters(self._definition)

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._definition.model

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments that the caller gave."""
        return {name: python_value(value) for name, value in self._definition.arguments}

    def sql(self) -> str:
        """Returns the requirement as it is written after REQUIRE."""
        return call_text(self._definition)

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        named = [f"{name}={value!r}" for name, value in self.arguments.items()]
        model = [] if self.MODEL else [repr(self.model)]
        return f"{type(self).__name__}({', '.join([*model, *named])})"


def _kinds(model: str) -> Mapping[str, ValueKind]:
    """Returns the kinds of a model's arguments that are names. Raises UserError for an unknown model."""
    if is_of_join(Definition(model)):
        return _OF_JOIN
    parameters = [parameter for question in questions_of(model) for parameter in question.parameters]
    return _OF_VALUES | {p.name: _KINDS[p.type] for p in parameters if p.type in _KINDS}
