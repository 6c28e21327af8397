"""Macros for clients without Python: a privacy model as `FROM anon.<model>('table', [columns], ...)`.

A macro writes, when it is called, the query that makes the normal relations of the named
table and runs the model's own text on them. It calls no other macro, so that it also
works from an attached database. The SQL that it is put together from is in `sql/macros/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlanon.assets import listing, read
from sqlanon.errors import InternalError
from sqlanon.hierarchies.base import builder
from sqlanon.plugins import names
from sqlanon.questions._macro_arguments import HIERARCHY, PUBLIC, called, deciding, general, named, particular
from sqlanon.questions._macro_parts import MARK, filled, literal, text
from sqlanon.questions.load import Question, readable_models
from sqlanon.sqlgen.build.repeated import InstalledScript

# What the catalog's checks of a stored hierarchy refer to, and the part that stands for it in a macro.
_IN_A_CHECK = {"$1": "hierarchy_name", "$2": "hierarchy_height", "anon.hierarchy_value": "hierarchy_values"}


def macro_definitions() -> list[InstalledScript]:
    """CREATE OR REPLACE MACRO statements: one for each model that users name and can be read, and `joined_buckets`.

    Every macro of a model answers with one row: achieved, classes and rows; and, where the arguments
    decide it, required, satisfied and violations, the number of classes that violate.
    """
    models = [InstalledScript(_macro(questions)) for questions in readable_models()]
    return [*models, InstalledScript(filled("joined_buckets", "macro"))]


def violating_classes(question: Question, written: Callable[[str], str]) -> str:
    """The query of the classes of a table that violate, with `written(name)` for what a call of a macro gives."""
    query = filled("call", "violating", relations=_relations(question), violations=question.statement("violations"))
    return MARK.sub(lambda mark: written(mark[1]), query)


def _macro(questions: Sequence[Question]) -> str:
    """The macro of one model, which chooses among its questions as their headers say."""
    model = questions[0].model
    choosing = next((question.when.argument for question in questions if question.when), None)
    optional = list(dict.fromkeys(name for question in questions for name in named(question)))
    needed = ["relation", "columns", *(["sensitive"] if questions[0].of_sensitive_values else [])]
    defaults = (filled("call", "optional", name=name) for name in (*optional, *([choosing] if choosing else [])))
    if choosing:
        arguments = _choice(choosing, questions, {q.name: particular(questions, q) for q in questions})
        query = _choice(choosing, questions, {q.name: _query(q) for q in questions})
    else:
        arguments, query = particular(questions, questions[0]), _query(questions[0])
    return filled(
        "call",
        "macro",
        model=model,
        parameters=", ".join([*needed, *defaults]),
        given=filled("arguments", "merged", maps=f"{general(questions)}, {arguments}"),
        query=query,
    )


def _choice(argument: str, questions: Sequence[Question], by_question: Mapping[str, str]) -> str:
    """One expression of several, by the value of the argument that chooses among a model's questions."""
    values = {question.when.value: question for question in questions if question.when}
    default = next((value for value, question in values.items() if question.when and question.when.default), None)
    return filled(
        "call",
        "choice",
        model=questions[0].model,
        argument=argument,
        default="NULL" if default is None else literal(default),
        cases="\n".join(filled("call", "case", value=value, of=by_question[q.name]) for value, q in values.items()),
        choices=" or ".join(f"{argument} => ''{value}''" for value in values),
    )


def _query(question: Question) -> str:
    """An expression for the text of the query: what is achieved, and the verdict unless nothing is required."""
    of = {"called": called(question)}
    parts = {"relations": _relations(question), "achieved": question.statement("achieved"), **of}
    of_parameter = question.required in (parameter.name for parameter in question.parameters)
    required = f"${question.required}" if of_parameter else question.required
    judged = text(filled("call", "judged", required=required, violations=question.statement("violations"), **parts))
    conditions = {name: filled("call", "left_out", name=name) for name in deciding(question)}
    if not conditions:
        return judged
    return filled(
        "call",
        "if_required",
        nothing_required=" AND ".join(conditions.values()),
        something_missing=" OR ".join(conditions.values()),
        bounds=", ".join(conditions),
        achieved=text(filled("call", "achieved", **parts)),
        judged=judged,
        **of,
    )


def _relations(question: Question) -> str:
    """The WITH list: what belongs to the user first, then each normal relation that the question reads."""
    reads = question.reads
    if PUBLIC in reads and question.of_sensitive_values:
        raise InternalError(f"no macro can ask {question.name} of sensitive values and of a public table at once")
    parts = [filled("relations", "rows_and_public_rows" if PUBLIC in reads else "rows")]
    problems = []
    if "value_range" in reads:
        parts.append(filled("relations", "ranges"))
        problems.append(filled("relations", "problem_of_ranges"))
    if set(HIERARCHY) & set(reads):
        parts.append(filled("relations", "hierarchy"))
        problems.append(_problem_of_hierarchy())
    wanted = dict.fromkeys(("equivalence_class", *reads))
    parts += [filled("relations", name) for name in wanted]
    text = "\nUNION ALL\n".join(problems) or filled("relations", "no_problem")
    return "\n".join([*parts, filled("relations", "problem", problems=text)])


def _problem_of_hierarchy() -> str:
    """What keeps stored rows from being a hierarchy: the catalog's own checks, and what it asks besides."""
    kinds = ", ".join(literal(kind) for kind in names("sqlanon.hierarchies") if builder(kind).STORED)
    checks = "\n".join(_check(file) for file in listing("sql", "catalog", "checks"))
    return filled("relations", "problem_of_hierarchy", stored_kinds=kinds, checks=checks)


def _check(file: str) -> str:
    lines = read("sql", "catalog", "checks", file).splitlines()
    title = next(line.removeprefix("-- title: ") for line in lines if line.startswith("-- title: "))
    check = "\n".join(line for line in lines if not line.startswith("--"))
    for text_in_check, part in _IN_A_CHECK.items():
        check = check.replace(text_in_check, filled("relations", part))
    return filled("relations", "problem_of_hierarchy_values", title=title.replace("'", "''"), check=check)
