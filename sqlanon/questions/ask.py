"""Binds a question's parameters and relations, which gives a query that any engine can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import sqlglot
from sqlglot import exp

from sqlanon.domain.policy import Requirement
from sqlanon.errors import PolicyError
from sqlanon.questions.load import Question, load_question
from sqlanon.sqlgen.names import identifier

__all__ = ["BoundRequirement", "bind_requirement"]


@dataclass(frozen=True)
class BoundRequirement:
    """A privacy model with every parameter given and inside its bounds."""

    question: Question
    arguments: tuple[tuple[str, int | Decimal], ...]

    @property
    def required(self) -> float:
        """The parameter that `achieved` is compared with."""
        return float(dict(self.arguments)[self.question.required])

    def __str__(self) -> str:
        return f"{self.question.name}({', '.join(f'{name} => {value}' for name, value in self.arguments)})"

    def ask(self, statement: str, relations: Mapping[str, exp.Query]) -> exp.Select:
        """The statement `achieved` or `violations`, over the given normal relations."""
        tree = self.statement(statement)
        for name in self.question.reads:
            tree = tree.with_(identifier(name), as_=relations[name], copy=False)
        return tree

    def statement(self, name: str) -> exp.Select:
        """The statement with its parameters in place; the normal relations that it reads stay names."""
        values = dict(self.arguments)

        def fill(node: exp.Expr) -> exp.Expr:
            return exp.convert(values[node.name]) if isinstance(node, exp.Placeholder) else node

        tree = sqlglot.parse_one(self.question.statement(name), dialect="duckdb").transform(fill)
        assert isinstance(tree, exp.Select)
        return tree


def bind_requirement(requirement: Requirement) -> BoundRequirement:
    """Checks a requirement's arguments against the model's header.

    Raises UserError for an unknown model, PolicyError for an argument that is missing,
    unknown, of the wrong type or outside its bounds.
    """
    question = load_question(requirement.model)
    given = dict(requirement.arguments)
    names = [parameter.name for parameter in question.parameters]
    shape = f"{question.name}({', '.join(f'{name} => ...' for name in names)})"
    for name in given:
        if name not in names:
            raise PolicyError(f"{question.name} has no argument {name!r}", hint=f"write {shape}")
    bound: list[tuple[str, int | Decimal]] = []
    for parameter in question.parameters:
        if parameter.name not in given:
            raise PolicyError(f"{question.name} lacks its argument {parameter.name!r}", hint=f"write {shape}")
        value = given[parameter.name]
        kinds = (int,) if parameter.type == "BIGINT" else (int, Decimal)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise PolicyError(f"{question.name}: {parameter.name} is to be a {parameter.type}, not {value}")
        if not parameter.low <= value <= parameter.high:
            raise PolicyError(
                f"{question.name}: {parameter.name} = {value} is outside {parameter.low} to {parameter.high}"
            )
        bound.append((parameter.name, value))
    return BoundRequirement(question, tuple(bound))
