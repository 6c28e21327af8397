"""Writes the macros of a dbt project: the materialization, the generic tests, and the queries of these tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlanon import __version__
from sqlanon.assets import listing, read
from sqlanon.errors import UserError
from sqlanon.sql.questions.load import Question, questions_of
from sqlanon.sql.questions.macros import violating_classes

# The privacy models with generic tests; only CHECK answers questions that read more than the table.
_MODELS = ("k_anonymity", "l_diversity", "t_closeness")
_FOLDER = ("macros", "sqlanon")
_WRITTEN = "{# Written by `sqlanon dbt install`"


def install_macros(project: Path) -> list[Path]:
    """Writes the macros into a dbt project, or updates them, and returns the paths of the files.

    Raises UserError if the folder is not a dbt project, or if a file with a macro's name was not written by sqlanon.
    """
    if not (project / "dbt_project.yml").is_file():
        raise UserError(
            f"{project} is not a dbt project: it has no dbt_project.yml", hint="name the folder that has it"
        )
    paths = {project.joinpath(*_FOLDER, name): text for name, text in macro_files().items()}
    for path in paths:
        if path.exists() and not path.read_text(encoding="utf-8").startswith(_WRITTEN):
            raise UserError(f"{path} is a file that sqlanon has not written", hint="move or rename it")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(paths)


def macro_files() -> dict[str, str]:
    """Returns the macros' texts by file name: the files under `sql/dbt`, and `violations.sql`."""
    files = {name: read("sql", "dbt", name).replace("@version@", __version__) for name in listing("sql", "dbt")}
    files["violations.sql"] = "\n\n".join(("".join(_violations()), "".join(_parameters()))) + "\n"
    head = _WRITTEN + f" of sqlanon {__version__}, which overwrites it: do not edit it. #}}\n\n"
    return {name: head + text for name, text in sorted(files.items())}


def _questions() -> Iterator[Question]:
    for model in _MODELS:
        yield from (question for question in questions_of(model) if not question.of_one_table)


def _violations() -> Iterator[str]:
    """Yields the parts of a macro that has, for each question, the query that finds the violating classes."""
    yield "{#- The equivalence classes that violate a model, as its own SQL finds them. -#}\n"
    yield "{% macro sqlanon_violations(question, given) %}\n"
    for number, question in enumerate(_questions()):
        yield f"{{%- {'elif' if number else 'if'} question == '{question.name}' %}}\n"
        yield violating_classes(question, "{{{{ given.{} }}}}".format) + "\n"
    yield "{%- endif -%}\n{% endmacro %}"


def _parameters() -> Iterator[str]:
    """Yields the parts of a macro that has, for each question, its parameters with their bounds."""
    yield "{#- The arguments of each model, and what they lie between. -#}\n"
    yield "{% macro sqlanon_parameters() %}\n  {% do return({\n"
    for question in _questions():
        yield f"    '{question.name}': {dict(_bounds(question))},\n"
    yield "  }) %}\n{% endmacro %}"


def _bounds(question: Question) -> Iterator[tuple[str, Mapping[str, object]]]:
    for parameter in question.parameters:
        assert parameter.low is not None and parameter.high is not None
        number = int if parameter.type == "BIGINT" else float
        yield parameter.name, {"type": parameter.type, "low": number(parameter.low), "high": number(parameter.high)}
