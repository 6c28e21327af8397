"""What the shell says of privacy models: what each requires, and its arguments."""

from __future__ import annotations

from textwrap import fill

from sqlanon.domain.values import written
from sqlanon.sql.questions.load import Parameter, Question, model_names, questions_of

MODELS = (*model_names(), *model_names("itemsets"))


def model_described(name: str) -> str:
    """What a model requires, in each of its variants, with the arguments and a line about each."""
    return "\n".join(map(_described, questions_of(name)))


def _described(question: Question) -> str:
    arguments = ", ".join(parameter.name for parameter in question.parameters)
    lines = [question.title, *map(_argument, question.parameters)]
    if question.when:
        chosen = f", {question.when.argument} => {written(question.when.value)}"
        arguments += f" [{chosen}]" if question.when.default else chosen
    if question.of_sensitive_values:
        lines.append("attribute => column: the one sensitive column that it is about, of several")
    if question.of_sensitive_values and question.joint:
        lines.append("jointly => true: all sensitive columns at once, instead of each by itself")
    if question.of_some_columns:
        lines.append("on => (column, ...): the quasi-identifiers by which classes are told apart; by default all")
    if question.of_related_tables:
        lines.append("knows => 'values': what is known of a person's rows in related tables (WITH TABLE)")
    return "\n".join([f"REQUIRE {question.model}({arguments})", *map(_wrapped, lines)])


def _argument(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f"; by default {written(parameter.default)}"
    return f"{parameter.name} => {parameter.meaning}{default}"


def _wrapped(line: str) -> str:
    return fill(line, 100, initial_indent="    ", subsequent_indent="        ")
