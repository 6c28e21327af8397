"""Which class stands for a requirement: that of its model, if the model comes with sqlanon."""

from __future__ import annotations

from sqlanon.clients.api import models, models_of_values
from sqlanon.clients.api.requirements import Requirement
from sqlanon.domain.policy import Requirement as Definition

_CLASSES: dict[str, type[Requirement]] = {
    made.MODEL: made for module in (models, models_of_values) for made in map(vars(module).get, module.__all__) if made
}


def requirement_of(definition: Definition) -> Requirement:
    """A requirement that the catalog keeps or a statement has, as an object of its model's class."""
    return _CLASSES.get(definition.model, Requirement).of(definition)
