"""The help of the shell on privacy models, figures and attacks: the meaning of each, and its arguments."""

from __future__ import annotations

from textwrap import fill

from sqlanon.assess.measure_figures import COMPUTED, figure_names
from sqlanon.domain.values import written
from sqlanon.export.report.risks import meanings_of
from sqlanon.sql.questions.load import Parameter, Question, model_names, questions_of
from sqlanon.sql.questions.statistics import attack_names, load_statistic, statistic_names

MODELS = (*model_names(), *model_names("itemsets"))


def model_described(name: str) -> str:
    """What a model requires, in each of its variants, with the arguments and a line about each."""
    return "\n".join(map(_described, questions_of(name)))


def models_described() -> str:
    """Every model, as `model_described` has it."""
    return "\n".join(map(model_described, MODELS))


def figure_described(name: str) -> str:
    """A name that figures are asked for by, with its arguments and the meaning of each of its figures."""
    parameters = () if name in COMPUTED else load_statistic("figures", name).parameters
    columns = (name,) if name in COMPUTED else load_statistic("figures", name).columns
    arguments = f"({', '.join(parameter.name for parameter in parameters)})" if parameters else ""
    meanings = [f"{', '.join(names)}: {meaning}" for names, meaning in meanings_of(columns)]
    return "\n".join([f"WITH FIGURES ({name}{arguments})", *map(_wrapped, [*meanings, *map(_argument, parameters)])])


def figures_described() -> str:
    """All figures, as `figure_described` has them."""
    return "\n".join(map(figure_described, figure_names()))


def attack_described(name: str) -> str:
    """An attack with what the adversary knows and does, in each of its forms, and its arguments."""
    parts = [load_statistic("attacks", file) for file in statistic_names("attacks")]
    forms = [part for part in parts if part.model == name]
    parameters = {parameter.name: parameter for part in forms for parameter in part.parameters}
    arguments = f"({', '.join(parameters)})" if parameters else ""
    lines = [*dict.fromkeys(part.title for part in forms), *map(_argument, parameters.values())]
    return "\n".join([f"WITH {name}{arguments}", *map(_wrapped, lines)])


def attacks_described() -> str:
    """All attacks, as `attack_described` has them."""
    return "\n".join(map(attack_described, attack_names()))


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
