"""What a call of a macro gives: its named arguments, and the text that stands for each in the query.

A name is quoted, a text is a literal, a number is nothing but digits. Where a question
cannot take an argument, the call is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.errors import InternalError
from sqlanon.questions._macro_parts import MARK, filled, literal
from sqlanon.questions.header import Parameter
from sqlanon.questions.load import Question

# The normal relations that are made of a stored hierarchy, and the one that is made of a public table.
HIERARCHY = ("sensitive_ancestor", "guarding_node")
PUBLIC = "public_class"
# A model has at most one column of guarding nodes and one table of ranges, whatever it calls them.
_STANDS_FOR = {"COLUMN": "guard", "RELATION": "ranges"}


def called(question: Question) -> str:
    """What an error calls the question, as a part of a literal."""
    when = question.when
    return f"{question.model} with {when.argument} ''{when.value}''" if when else question.model


def named(question: Question) -> list[str]:
    """The arguments that a call gives by name, besides the one that chooses among a model's questions."""
    names = [parameter.name for parameter in question.parameters]
    if set(HIERARCHY) & set(question.reads):
        names += ["hierarchy", "database"]
    if PUBLIC in question.reads:
        names.append("against")
    return names


def deciding(question: Question) -> list[str]:
    """The parameters that are needed not for what is achieved, but for whether that is enough."""
    achieved = set(MARK.findall(question.statement("achieved")))
    return [
        parameter.name
        for parameter in question.parameters
        if parameter.type in ("BIGINT", "DECIMAL")
        and parameter.default is None
        and not achieved & set(parameter.placeholders)
    ]


def general(questions: Sequence[Question]) -> str:
    """An expression for the map of the arguments that all questions of a model share: table, columns and numbers."""
    question = questions[0]
    of = {"model": question.model, "called": question.model}
    columns = ["columns"]
    entries = {
        "relation": filled("arguments", "relation", name="relation", **of),
        "columns": filled("arguments", "columns", **of),
        "value": filled("arguments", "none"),
        "guard": filled("arguments", "none"),
    }
    if question.of_sensitive_values:
        sensitive = filled("arguments", "sensitive")
        columns.append(sensitive)
        entries["value"] = filled("arguments", "value", sensitive=sensitive, **of)
    columns += [filled("arguments", "one_column", name=p.name) for p in question.parameters if p.type == "COLUMN"]
    entries["collations"] = filled("arguments", "collations", names=" || ".join(columns))
    return _maps(entries, _shared(questions), question, question.model)


def particular(questions: Sequence[Question], question: Question) -> str:
    """An expression for the map of the arguments that one question of a model does not share with the others."""
    of = {"called": called(question)}
    entries = {}
    if question.of_sensitive_values and not question.joint:
        entries["several"] = filled("arguments", "one_only", sensitive=filled("arguments", "sensitive"), **of)
    if "hierarchy" in named(question):
        entries["hierarchy"] = filled("arguments", "hierarchy", **of)
        entries["database"] = filled("arguments", "database")
    if "against" in named(question):
        entries["against"] = filled("arguments", "relation", name="against", **of)
    known = {name for other in questions for name in named(other)}
    entries |= {name: filled("arguments", "unknown", name=name, **of) for name in sorted(known - {*named(question)})}
    parameters = [parameter for parameter in question.parameters if parameter not in _shared(questions)]
    return _maps(entries, parameters, question, called(question))


def _shared(questions: Sequence[Question]) -> list[Parameter]:
    """The parameters that are the same for all questions of a model."""
    first = questions[0]
    return [
        parameter
        for parameter in first.parameters
        if all(
            parameter in question.parameters
            and (parameter.name in deciding(question)) is (parameter.name in deciding(first))
            for question in questions
        )
    ]


def _maps(entries: dict[str, str], parameters: Sequence[Parameter], question: Question, model: str) -> str:
    """An expression for one map of these entries and of the parameters; a DECIMAL is a map by itself."""
    single = {_STANDS_FOR.get(p.type, p.name): _argument(question, p, model) for p in parameters if p.type != "DECIMAL"}
    # A map needs an entry that is no NULL, for its type.
    text = ", ".join(f"{literal(name)}: {value}" for name, value in ({"": literal("")} | entries | single).items())
    decimals = [_argument(question, p, model) for p in parameters if p.type == "DECIMAL"]
    maps = [filled("arguments", "map", entries=text), *decimals]
    return maps[0] if len(maps) == 1 else filled("arguments", "merged", maps=", ".join(maps))


def _argument(question: Question, parameter: Parameter, model: str) -> str:
    kind = parameter.type.lower()
    of = {"called": model, "name": parameter.name}
    if kind in ("column", "relation"):
        return filled("arguments", kind, **of)
    of["default"] = "NULL" if parameter.default is None else literal(str(parameter.default))
    if kind == "text":
        choices = ", ".join(map(literal, parameter.choices))
        return filled("arguments", kind, choices=choices, shown=choices.replace("'", "''"), **of)
    if parameter.low is None or parameter.high is None:
        raise InternalError(f"{question.name} has a number {parameter.name} without bounds")
    missing = filled("arguments", "left_out" if parameter.name in deciding(question) else "missing", **of)
    return filled("arguments", kind, missing=missing, low=f"{parameter.low:f}", high=f"{parameter.high:f}", **of)
