"""Writes the classes of models and methods in `sqlanon.clients.api`: `python -m tools.typed_classes --write`.

The parameters of a class and its docstring come from the headers of the models and from the options of the methods; no
text is repeated. `--check` fails if a module is not up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from textwrap import wrap
from typing import Any

from sqlanon.domain.values import written
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.methods.shared.arguments import Kind, arguments_of
from sqlanon.sql.questions.knowledge import KNOWN
from sqlanon.sql.questions.load import INFINITE, Parameter, Question, model_names, questions_of
from sqlanon.sql.questions.statistics import Statistic, load_statistic, statistic_names

__all__ = ["class_name", "modules"]

FOLDER = Path(__file__).resolve().parents[1] / "sqlanon" / "clients" / "api"
WIDTH = 120
INDENT = 8
# The largest BIGINT: a bound of the type, not of the model.
UNBOUNDED = 2**63 - 1
OF_HEADER = {"BIGINT": "int", "DECIMAL": "Number", "COLUMN": "str", "RELATION": "Name"}
OF_METHOD = {
    Kind.WHOLE: "int",
    Kind.NUMBER: "Number",
    Kind.FRACTION: "Number",
    Kind.FLAG: "bool",
    Kind.WHOLES: "Sequence[int]",
    Kind.COLUMN: "str",
    Kind.COLUMNS: "Sequence[str]",
    Kind.BUDGET: "str",
    Kind.SPAN: "int | str",
}
# The values of required arguments in examples; some models and methods take others, or show an option.
OF_EXAMPLES: Mapping[str, Any] = {
    **{"k": 5, "l": 3, "m": 2, "n": 100, "p": 2, "t": 0.2, "c": 0.8, "e": 1000, "h": 0.5},
    **{"alpha": 0.5, "beta": 2, "delta": 1, "epsilon": 1, "stubbornness": 10},
    **{"min": 0.1, "max": 0.5, "least": 1000, "within": 500},
    **{"x": ["zip"], "y": "disease", "by": ["zip", "sex"]},
    **{"budget": "clinic_2026", "guarding": "guard", "ranges": "disease_shares"},
}
IN_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "generalization": {"suppression": 0.05},
    "itemsets": {"search": "levels"},
    "loose": {"k": 4},
    "mondrian": {"mode": "relaxed"},
    "multirelational": {"suppression": 0},
    "personalized": {"p": 0.5},
}
# Models against a reader who knows more than quasi-identifiers.
OF_KNOWLEDGE = ("ck_safety", "epsilon_privacy", "privacy_skyline")
OF_JOIN = (
    ("x", "Names", "the columns X of the join"),
    ("y", "str", "the column Y of the join"),
)


@dataclass(frozen=True)
class Taken:
    """An argument of a class: its name, its type, its meaning, and whether it is required."""

    name: str
    type: str
    meaning: str
    is_required: bool = False

    @property
    def declared(self) -> str:
        """Returns the parameter as a signature has it."""
        text = f"{self.name}: {self.type}" + ("" if self.is_required else " | None = None")
        if len(text) < WIDTH - INDENT or "Literal[" not in text:
            return text
        head, choices, tail = text.replace("]", "[").split("[")
        return f"{head}[\n            {choices}\n        ]\n       {tail}"


def class_name(name: str) -> str:
    """Returns the class name of a model or a method: KAnonymity for k_anonymity."""
    return "".join(part.capitalize() for part in name.split("_"))


def modules() -> dict[str, str]:
    """Returns the text of each generated module, by the name of its file."""
    names = [*model_names(), *model_names("itemsets")]
    of_values = [name for name in model_names() if questions_of(name)[0].of_sensitive_values]
    of_numbers = [name for name in of_values if "sensitive_number" in questions_of(name)[0].reads]
    others = [_model(name) for name in names if name not in of_values]
    joined = [_joined(load_statistic("joined", name)) for name in statistic_names("joined")]
    return {
        "methods.py": _module("Methods and their arguments", "Method", map(_method, METHODS)),
        "models.py": _module(
            "Privacy models of classes, of items in lists and of joins", "Requirement", [*others, *joined]
        ),
        "models_of_knowledge.py": _module(
            "Privacy models of background knowledge", "Requirement", map(_model, OF_KNOWLEDGE)
        ),
        "models_of_numbers.py": _module("Privacy models of secret numbers", "Requirement", map(_model, of_numbers)),
        "models_of_values.py": _module(
            "Privacy models of sensitive values",
            "Requirement",
            [_model(name) for name in of_values if name not in (*of_numbers, *OF_KNOWLEDGE)],
        ),
    }


def _module(title: str, base: str, classes: Iterable[str]) -> str:
    texts = list(classes)
    body = "\n\n\n".join(texts)
    names = sorted(text.split("(")[0].removeprefix("class ") for text in texts)
    used = [name for name in ("Name", "Names", "Number") if f": {name} " in body or f": {name}," in body]
    imports = [
        *(["from collections.abc import Sequence"] if "Sequence[" in body else []),
        f"from typing import {'ClassVar, Literal' if 'Literal[' in body else 'ClassVar'}",
        "",
        *([f"from sqlanon.clients.api.arguments import {', '.join(used)}"] if used else []),
        f"from sqlanon.clients.api.{'requirements' if base == 'Requirement' else 'method'} import {base}",
    ]
    listed = "\n".join(["__all__ = [", *(f'    "{name}",' for name in names), "]"])
    head = f'"""{title}; written by `python -m tools.typed_classes --write`."""\n\nfrom __future__ import annotations\n'
    return "\n".join([head, *imports, "", listed, "", "", body, ""])


def _model(name: str) -> str:
    default, *others = questions_of(name)
    more = [f"- {_when(question)}: {question.title}" for question in others]
    papers = list(dict.fromkeys(question.paper for question in (default, *others)))
    taken = [*_parameters((default, *others)), *_generic((default, *others))]
    return _class(name, "Requirement", "MODEL", default.title, more, papers, taken)


def _when(question: Question) -> str:
    return f"`{question.when.argument}={question.when.value!r}`" if question.when else ""


def _parameters(questions: Sequence[Question]) -> Iterator[Taken]:
    """Yields the parameters of a model's questions, each once; a parameter that all questions need is required."""
    by_name: dict[str, list[tuple[Question, Parameter]]] = {}
    for question in questions:
        for parameter in question.parameters:
            by_name.setdefault(parameter.name, []).append((question, parameter))
    taken = []
    for name, known in by_name.items():
        types = [_header_type(parameter) for _, parameter in known]
        needed = len(known) == len(questions) and all(p.default is None and not p.of_policy for _, p in known)
        taken.append(Taken(name, "Number" if "Number" in types else types[0], _meanings(questions, known), needed))
    if whens := [question.when for question in questions if question.when]:
        default = next((when.value for when in whens if when.default), None)
        meaning = f"the form of the model, by default {default!r}" if default else "the form of the model"
        taken.append(Taken(whens[0].argument, _literal(when.value for when in whens), meaning, default is None))
    yield from sorted(taken, key=lambda argument: not argument.is_required)


def _meanings(questions: Sequence[Question], known: Sequence[tuple[Question, Parameter]]) -> str:
    """Returns the meaning of an argument, and its companions if they differ between models."""
    texts = [_header_meaning(parameter) for _, parameter in known]
    if len(questions) == len(known) and len(set(texts)) == 1:
        return texts[0]
    told_apart = [
        text if question is questions[0] else f"with {_when(question)} {text}"
        for (question, _), text in zip(known, texts, strict=True)
    ]
    return "; ".join(told_apart)


def _header_type(parameter: Parameter) -> str:
    if parameter.type == "TEXT":
        return _literal(parameter.choices)
    return OF_HEADER[parameter.type] + (f' | Literal["{INFINITE}"]' if parameter.infinite else "")


def _literal(choices: Iterable[str]) -> str:
    listed = ", ".join(f'"{choice}"' for choice in choices)
    return f"Literal[{listed}]"


def _header_meaning(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f"; by default {written(parameter.default)}"
    if parameter.low is None or parameter.high is None:
        table = "the name of a table with " if parameter.type == "RELATION" else ""
        return f"{table}{parameter.meaning}{default}"
    bounds = f"{parameter.low} or more" if parameter.high == UNBOUNDED else f"{parameter.low} to {parameter.high}"
    bounds += f" or {INFINITE!r}" if parameter.infinite else ""
    return f"{parameter.meaning} ({bounds}{default})"


def _generic(questions: Sequence[Question]) -> Iterator[Taken]:
    """Yields the arguments of a model besides the parameters of its header."""
    if any(question.of_sensitive_values for question in questions):
        yield Taken("attribute", "str", "the sensitive column to check, if the policy has several")
    if any(question.of_sensitive_values and question.joint for question in questions):
        yield Taken("jointly", "bool", "whether all sensitive columns are checked at once, instead of each by itself")
    if any(question.of_some_columns for question in questions):
        yield Taken("on", "Names", "the quasi-identifiers by which classes are told apart; by default all")
    if any(question.within for question in questions):
        yield Taken(
            "within",
            "Names",
            "columns with levels, such as 'zip LEVEL 2': a class is compared with the rows of its labels",
        )
    if any(question.of_related_tables for question in questions):
        yield Taken("knows", _literal(KNOWN), "what is known of a person's rows in related tables")
        if not any(parameter.name == "m" for question in questions for parameter in question.parameters):
            yield Taken("m", "int", "with `knows='m_rows'`, the number of rows that a reader knows")


def _joined(statistic: Statistic) -> str:
    taken = [Taken(name, type_, meaning, True) for name, type_, meaning in OF_JOIN]
    taken += [Taken(p.name, _header_type(p), _header_meaning(p), p.default is None) for p in statistic.parameters]
    return _class(statistic.name, "Requirement", "MODEL", statistic.title, [], [statistic.paper], taken)


def _method(name: str) -> str:
    method = find_method(name)
    options = {field.name: field.default for field in fields(method.OPTIONS)}
    taken = []
    for option, argument in arguments_of(method.OPTIONS).items():
        default = options[option]
        type_ = _literal(argument.choices) if argument.kind is Kind.CHOICE else OF_METHOD[argument.kind]
        by_default = "" if default in (MISSING, None, ()) else f"; by default {_default(default)}"
        bounds = "" if argument.kind in (Kind.CHOICE, Kind.FLAG, Kind.COLUMN) else f" ({argument.takes})"
        taken.append(Taken(option, type_, f"{argument.help}{bounds}{by_default}", default is MISSING))
    (first, *_) = (sys.modules[type(method).__module__].__doc__ or "").splitlines()
    required_first = sorted(taken, key=lambda argument: not argument.is_required)
    return _class(name, "Method", "METHOD", first, [], [], required_first)


def _default(value: Any) -> str:
    return repr(value) if isinstance(value, bool | str) else written(value)


def _class(
    name: str, base: str, constant: str, title: str, more: Sequence[str], papers: Sequence[str], taken: Sequence[Taken]
) -> str:
    described = [f"- `{argument.name}`: {argument.meaning}." for argument in taken]
    cited = papers if len(papers) < 2 else [f"- {paper}" for paper in papers]
    sections = [_wrapped(part, hanging="  ") for part in (more, described)]
    example = _example(name, base, taken)
    docstring = "\n\n".join(filter(None, [*_title(title), *sections, _wrapped(cited), example]))
    lines = [f"class {class_name(name)}({base}):", f'    """{docstring.strip()}', '    """', ""]
    if "\n" not in docstring.strip():
        lines = [lines[0], f'    """{docstring.strip()}"""', ""]
    lines += [f'    {constant}: ClassVar[str] = "{name}"', ""]
    if not taken:
        lines += ["    def __init__(self) -> None:", f'        super().__init__("{name}")']
        return "\n".join(lines)
    signature = ["self", "*", *(argument.declared for argument in taken)]
    handed_on = [f'"{name}"', *(f"{argument.name}={argument.name}" for argument in taken)]
    lines.append(_call("    def __init__(", signature, ") -> None:", "    "))
    lines.append(_call("        super().__init__(", handed_on, ")", "        "))
    return "\n".join(lines)


def _example(name: str, base: str, taken: Sequence[Taken]) -> str:
    """Returns a doctest: the object with values for its required arguments, and its SQL."""
    # Only these two classes are imported, not the modules that are written here.
    from sqlanon.clients.api.method import Method
    from sqlanon.clients.api.requirements import Requirement

    given = {argument.name: OF_EXAMPLES.get(argument.name) for argument in taken if argument.is_required}
    given |= IN_EXAMPLES.get(name, {})
    if lacking := [argument for argument, value in given.items() if value is None]:
        raise ValueError(f"OF_EXAMPLES has no value for {', '.join(lacking)} of {name}")
    made = (Requirement if base == "Requirement" else Method)(name, **given)
    arguments = ", ".join(f"{argument}={value!r}" for argument, value in given.items()).replace("'", '"')
    return f"    >>> {class_name(name)}({arguments}).sql()\n    {made.sql()!r}"


def _title(title: str) -> Iterator[str]:
    """Yields the first line of a docstring, with the rest of a long title below it."""
    (first, *rest) = wrap(title, WIDTH - 8)
    yield "\n    ".join([first, *rest])


def _wrapped(lines: Iterable[str], hanging: str = "") -> str:
    return "\n".join(
        part
        for line in lines
        for part in wrap(line, WIDTH, initial_indent="    ", subsequent_indent=f"    {hanging}", break_on_hyphens=False)
    )


def _call(opening: str, parts: Sequence[str], closing: str, indent: str) -> str:
    """Formats a call or a signature as ruff does: on one line, on one between the parentheses, or one for each part."""
    whole = ", ".join(parts)
    if len(opening + whole + closing) <= WIDTH:
        return f"{opening}{whole}{closing}"
    if len(f"{indent}    {whole}") <= WIDTH:
        return f"{opening}\n{indent}    {whole}\n{indent}{closing}"
    listed = "".join(f"\n{indent}    {part}," for part in parts)
    return f"{opening}{listed}\n{indent}{closing}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the modules, or with --check compares them; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the modules")
    what.add_argument("--check", action="store_true", help="fail where one is not as it would be written")
    chosen = parser.parse_args(arguments)
    texts: Mapping[str, str] = modules()
    if chosen.write:
        for name, text in texts.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in texts.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    for name in stale:
        print(f"sqlanon/clients/api/{name} is not up to date: python -m tools.typed_classes --write", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
