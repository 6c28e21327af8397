"""Macros for clients without Python: a privacy model as `FROM anon.<model>('table', [columns], ...)`.

When it is called, a macro writes the query that makes the normal relations of the named table and runs the model's own
text on these. It does not call another macro, so it also works from an attached database.

Its SQL is in `sql/macros/`: a file has parts, each below a line `-- part: name`. A hole `{{name}}` is filled in when a
macro is made; a mark `$name` is replaced by an argument of a call. In a call, a name is quoted, a text is a literal,
and a number has only digits. If a question cannot take an argument, the call is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from sqlanon.assets import listing, read
from sqlanon.errors import InternalError
from sqlanon.plugins import names
from sqlanon.sql.build.render import InstalledScript
from sqlanon.sql.hierarchies.base import builder
from sqlanon.sql.questions.load import RANGES, TRIPLES, WEIGHTS, Parameter, Question, readable_models

# The names that the catalog's checks of a stored hierarchy read, and the part of a macro that replaces each.
_IN_A_CHECK = {"$1": "hierarchy_name", "$2": "hierarchy_height", "anon.hierarchy_value": "hierarchy_values"}


def macro_definitions() -> list[InstalledScript]:
    """Returns CREATE OR REPLACE MACRO statements: one for each readable model that users can name, and for
    `joined_buckets`.

    Every macro of a model returns one row with achieved, classes and rows, and, if the arguments decide whether the
    model is satisfied, also required, satisfied and violations, which is the number of violating classes.
    """
    models = [InstalledScript(_macro(questions)) for questions in readable_models()]
    return [*models, InstalledScript(filled("joined_buckets", "macro"))]


def violating_classes(question: Question, written: Callable[[str], str]) -> str:
    """Returns the query of the violating classes of a table; `written(name)` is an argument of a macro's call."""
    query = filled("call", "violating", relations=_relations(question), violations=question.statement("violations"))
    return MARK.sub(lambda mark: written(mark[1]), query)


def _macro(questions: Sequence[Question]) -> str:
    """Returns the macro of one model, which chooses among its questions as their headers say."""
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
    """Returns an SQL expression that selects the text of one of a model's questions by the value of `argument`.

    `by_question` has the text of each question by its name.
    """
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
    """Returns an expression for the text of the query, which returns the achieved value and, unless nothing is
    required, the verdict.
    """
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
    """Returns the WITH list: the user's relations first, then each normal relation that the question reads."""
    reads = question.reads
    if PUBLIC in reads and question.of_sensitive_values:
        raise InternalError(f"no macro can ask {question.name} of sensitive values and of a public table at once")
    parts = [filled("relations", "rows_and_public_rows" if PUBLIC in reads else "rows")]
    problems = []
    for listed in (_TABLES[parameter.columns] for parameter in question.parameters if parameter.columns):
        parts.append(filled("relations", listed))
        problems.append(filled("relations", f"problem_of_{listed}"))
    if "sensitive_number" in reads:
        problems.append(filled("relations", "problem_of_numbers"))
    if set(HIERARCHY) & set(reads):
        parts.append(filled("relations", "hierarchy"))
        problems.append(_problem_of_hierarchy())
    wanted = dict.fromkeys(("equivalence_class", *reads))
    parts += [filled("relations", name) for name in wanted]
    text = "\nUNION ALL\n".join(problems) or filled("relations", "no_problem")
    return "\n".join([*parts, filled("relations", "problem", problems=text)])


def _problem_of_hierarchy() -> str:
    """Returns the check that stored rows are a hierarchy, with the catalog's own checks and further checks."""
    kinds = ", ".join(literal(kind) for kind in names("sqlanon.sql.hierarchies") if builder(kind).STORED)
    checks = "\n".join(_check(file) for file in listing("sql", "catalog", "checks"))
    return filled("relations", "problem_of_hierarchy", stored_kinds=kinds, checks=checks)


def _check(file: str) -> str:
    lines = read("sql", "catalog", "checks", file).splitlines()
    title = next(line.removeprefix("-- title: ") for line in lines if line.startswith("-- title: "))
    check = "\n".join(line for line in lines if not line.startswith("--"))
    for text_in_check, part in _IN_A_CHECK.items():
        check = check.replace(text_in_check, filled("relations", part))
    return filled("relations", "problem_of_hierarchy_values", title=title.replace("'", "''"), check=check)


# The normal relations that are made of a stored hierarchy, and the one that is made of a public table.
HIERARCHY = ("sensitive_ancestor", "guarding_node")
PUBLIC = "public_class"
SUPERSET = "superset"
# The largest number of columns of which every set is hidden once.
_MOST_HIDDEN = 12
# The parts that read a table of the user, by its columns.
_TABLES = {RANGES: "ranges", WEIGHTS: "weights", TRIPLES: "triples"}
# A model has at most one column of guarding nodes and one table of values, under any name.
_STANDS_FOR = {"COLUMN": "guard", "RELATION": "ranges"}


def called(question: Question) -> str:
    """Returns the name of the question for an error, as a part of a literal."""
    when = question.when
    return f"{question.model} with {when.argument} ''{when.value}''" if when else question.model


def named(question: Question) -> list[str]:
    """Returns the arguments that a call gives by name, except the one that chooses among a model's questions."""
    names = [parameter.name for parameter in question.parameters]
    if set(HIERARCHY) & set(question.reads):
        names += ["hierarchy", "database"]
    if PUBLIC in question.reads:
        names.append("against")
    return names


def deciding(question: Question) -> list[str]:
    """Returns the parameters that are needed only for the verdict, and not for the achieved value."""
    achieved = set(MARK.findall(question.statement("achieved")))
    return [
        parameter.name
        for parameter in question.parameters
        if parameter.type in ("BIGINT", "DECIMAL")
        and parameter.default is None
        and not achieved & set(parameter.placeholders)
    ]


def general(questions: Sequence[Question]) -> str:
    """Returns an expression for the map of the arguments that a model's questions share: table, columns and numbers."""
    question = questions[0]
    of = {"model": question.model, "called": question.model}
    columns = ["columns"]
    entries = {
        "relation": filled("arguments", "relation", name="relation", **of),
        "columns": filled("arguments", "columns", **of),
        "value": filled("arguments", "none"),
        "guard": filled("arguments", "none"),
    }
    if any(SUPERSET in other.reads for other in questions):
        entries["hidden"] = filled("arguments", "hidden", most=str(_MOST_HIDDEN), **of)
        entries["sets"] = filled("arguments", "sets")
    if question.of_sensitive_values:
        sensitive = filled("arguments", "sensitive")
        columns.append(sensitive)
        entries["value"] = filled("arguments", "value", sensitive=sensitive, **of)
    columns += [filled("arguments", "one_column", name=p.name) for p in question.parameters if p.type == "COLUMN"]
    entries["collations"] = filled("arguments", "collations", names=" || ".join(columns))
    return _maps(entries, _shared(questions), question, question.model)


def particular(questions: Sequence[Question], question: Question) -> str:
    """Returns an expression for the map of a question's arguments that the model's other questions do not share."""
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
    """Returns the parameters that are equal in all questions of a model."""
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
    """Returns an expression for one map of these entries and of the parameters; a DECIMAL is a map of its own."""
    single = {_STANDS_FOR.get(p.type, p.name): _argument(question, p, model) for p in parameters if p.type != "DECIMAL"}
    # A map needs an entry other than NULL to have a type.
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
    if parameter.infinite:
        kind = "decimal_or_infinite"
        of["decimal"] = filled(
            "arguments", "decimal", missing=missing, low=f"{parameter.low:f}", high=f"{parameter.high:f}", **of
        )
    return filled("arguments", kind, missing=missing, low=f"{parameter.low:f}", high=f"{parameter.high:f}", **of)


MARK = re.compile(r"\$(\w+)")
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_PART = "-- part: "


@cache
def _parts(file: str) -> Mapping[str, str]:
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in read("sql", "macros", f"{file}.sql").splitlines():
        if line.startswith(_PART):
            lines = parts.setdefault(line.removeprefix(_PART), [])
        elif not line.lstrip().startswith("--"):
            lines.append(line)
    return {name: "\n".join(body).strip() for name, body in parts.items()}


def filled(file: str, part: str, **values: str) -> str:
    """Returns a part of a file, without its comments, with a value in each of its holes."""
    return _HOLE.sub(lambda hole: values[hole[1]], _parts(file)[part])


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def text(query: str) -> str:
    """Returns a literal for a query with its marks, each of them between two dollar signs."""
    if len(MARK.findall(query)) != query.count("$"):
        raise InternalError("a text that macros are made of has a dollar that is not one of $name")
    return literal(MARK.sub(r"$\1$", query))
