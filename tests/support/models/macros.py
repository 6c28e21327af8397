"""Calls of the macros for tables as the oracles know them, with names that want to be anything but names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.sql.questions.load import Parameter, Question
from tests.oracles.models.support import Class, Table, in_order
from tests.support.models.relations import NUMBERS_TYPE, listed, of_numbers, ranges_for, with_numbers

COLUMNS = ("a\"g'e -- ", "$value$; $sensitive")
SENSITIVE = 'dis"ease\'"'
GUARD = "{{guard}} || '"
HIERARCHY = "d'is\"eases"
# What the rows of each class have in the two columns.
KEYS: Mapping[Class, tuple[int | None, str | None]] = {
    1: (None, None),
    2: (0, None),
    3: (None, ""),
    4: (1, "a''\"b"),
    99: (1, "A"),
}
# The sets of the two columns, by their places.
LEFT = ((0, 1), (0,), (1,), ())
_LISTS: Mapping[str, Sequence[str]] = {
    "rows": ("INTEGER", "VARCHAR", "VARCHAR", "VARCHAR"),
    "public": ("INTEGER", "VARCHAR"),
}


def text(value: object) -> str:
    """A literal of SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, tuple):  # a label of a drawn taxonomy
        value = " ".join(map(str, value))
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def name(of: str) -> str:
    return '"' + of.replace('"', '""') + '"'


def query(rows: Iterable[Sequence[object]], names: Sequence[str], types: Sequence[str]) -> str:
    """A query in parentheses that returns the rows, or none, in any order."""
    listed = [f"({', '.join(map(text, row))})" for row in rows]
    places = [f"p{place}" for place in range(len(names))]
    columns = ", ".join(f"CAST({p} AS {t}) AS {name(n)}" for p, t, n in zip(places, types, names, strict=True))
    values = ", ".join(listed) or f"({', '.join('NULL' for _ in names)})"
    nothing = "" if listed else " WHERE false"
    return f"(SELECT {columns} FROM (VALUES {values}) AS given({', '.join(places)}){nothing})"


def source(table: Table, of_numbers: bool = False) -> str:
    """A query for the rows of a table: the two columns, the sensitive value and the guarding node."""
    guards: Sequence[Hashable] = table.guards or [None] * len(table.values)
    rows = [(*KEYS[of], table.values[place], guards[place]) for of, places in table.classes.items() for place in places]
    types = [*_LISTS["rows"]]
    types[2] = NUMBERS_TYPE if of_numbers else types[2]
    return query(rows, (*COLUMNS, SENSITIVE, GUARD), types)


def public(table: Table) -> str:
    """A query for the public rows."""
    rows = [KEYS[of] for of, n in (table.public or {}).items() for _ in range(n)]
    return query(rows, COLUMNS, _LISTS["public"])


def ranges(table: Table, question: str) -> str:
    """A query for the ranges, or the weights, of the sensitive values."""
    columns, rows = listed(question, table.ranges or {}, table.known)
    return query(rows, [*columns], [*columns.values()])


def call(
    question: Question,
    arguments: Iterable[tuple[str, Value]],
    table: Table,
    relation: str | None = None,
    database: str | None = None,
    sensitive: object = SENSITIVE,
) -> str:
    """The call of a question's macro for a table, or for a relation with its columns; of an attached database."""
    columns = f"[{', '.join(map(text, COLUMNS))}]"
    given = [text(relation or source(table, of_numbers(question.name))), columns]
    if question.of_sensitive_values:
        given.append(text(sensitive))
    stands_for = {"RELATION": ranges(table, question.name), "COLUMN": GUARD}
    kinds = {parameter.name: parameter.type for parameter in question.parameters}
    for parameter, value in arguments:
        written = stands_for.get(kinds[parameter], value)
        given.append(f"{parameter} => {_written(written)}")
    if question.when:
        given.append(f"{question.when.argument} => {text(question.when.value)}")
    if {"sensitive_ancestor", "guarding_node"} & set(question.reads):
        given.append(f"hierarchy => {text(HIERARCHY)}")
        given += [f"database => {text(database)}"] if database else []
    if "public_class" in question.reads:
        given.append(f"against => {text(public(table))}")
    prefix = f"{name(database)}." if database else ""
    return f"FROM {prefix}anon.{question.model}({', '.join(given)})"


def _written(value: object) -> str:
    assert not isinstance(value, QualifiedName)
    if isinstance(value, Decimal):
        return text("infinite") if value.is_infinite() else f"{value:f}"
    return text(value)


def check(question: Question, arguments: Mapping[str, Value], relation: str, against: str, ranges: str) -> str:
    """The statement that asks the same of tables by their names."""
    kinds = {parameter.name: parameter.type for parameter in question.parameters}
    stands_for = {"RELATION": ranges, "COLUMN": name(GUARD)}
    given = [f"{parameter} => {stands_for.get(kinds[parameter]) or _written(v)}" for parameter, v in arguments.items()]
    if question.when:
        given.append(f"{question.when.argument} => {text(question.when.value)}")
    needs_hierarchy = {"sensitive_ancestor", "guarding_node"} & set(question.reads)
    using = f" USING {name(HIERARCHY)}" if needs_hierarchy else ""
    sensitive = f"SENSITIVE {name(SENSITIVE)}{using} " if question.of_sensitive_values else ""
    public = f"AGAINST {against} " if "public_class" in question.reads else ""
    columns = ", ".join(map(name, COLUMNS))
    return f"CHECK {relation} ({columns}) {sensitive}{public}REQUIRE {question.model}({', '.join(given)})"


def stored_hierarchy(table: Table) -> list[str]:
    """Statements that keep a table's taxonomy in the catalog, in the place of the one before."""
    paths = table.taxonomy if table.taxonomy is not None else dict.fromkeys(in_order(set(table.values)), ())
    rows = [
        f"({text(HIERARCHY)}, {text(value)}, {level}, {text(label)})"
        for value, labels in paths.items()
        for level, label in enumerate((value, *labels))
    ]
    height = 1 + max((len(labels) for labels in paths.values()), default=0)
    return [
        "DELETE FROM anon.hierarchy",
        "DELETE FROM anon.hierarchy_value",
        f"INSERT INTO anon.hierarchy (hierarchy, kind, height) VALUES ({text(HIERARCHY)}, 'levels', {height})",
        *([f"INSERT INTO anon.hierarchy_value VALUES {', '.join(rows)}"] if rows else []),
    ]


def expected(question: Question, oracle: Any, table: Table, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """The row that a macro is to answer with: achieved, classes, rows, required, satisfied, violations."""
    achieved = oracle.achieved(table, **arguments)
    violating = len(oracle.violating(table, **arguments))
    required = float(arguments.get(question.required, 0))
    reached = None if achieved is None else float(achieved)
    return reached, len(table.classes), table.rows or None, required, violating == 0, violating


# One table for all models: three classes, one of which the public table lacks, and a fourth that only that one has.
TABLE = Table(
    classes={1: range(4), 2: range(4, 9), 3: range(9, 11)},
    values=[*"aabc", *"aabb", None, None, "d"],
    taxonomy={"a": ("low",), "b": ("low",), "c": ("high",), "d": ("high",), "e": ("high",), None: ("none",)},
    ranges={"a": (Fraction(1, 4), Fraction(1, 2)), "e": (None, Fraction(1, 2)), None: (None, Fraction(1, 8))},
    guards=["low", None, "c", "b", "c", None, "high", "low", "a", None, "d"],
    public={1: 5, 2: 20, 99: 1},
)
_DECIMALS = {
    "c": "1.5",
    "alpha": "0.4",
    "t": "0.3",
    "delta": "0.9",
    "beta": "0.5",
    "epsilon": "2",
    "min": "0.3",
    "max": "0.8",
}


def some_arguments(question: Question) -> dict[str, int | Decimal | str]:
    """Arguments of a question with which the table violates it in some of its classes."""
    numbers = {p.name: 3 if p.type == "BIGINT" else Decimal(_DECIMALS.get(p.name, "0.6")) for p in question.parameters}
    if question.name in ("entropy_l_diversity", "probabilistic_l_diversity"):
        numbers["l"] = Decimal("2.5")
    return {p.name: p.choices[-1] if p.type == "TEXT" else _inside(numbers[p.name], p) for p in question.parameters}


def _inside(number: int | Decimal, parameter: Parameter) -> int | Decimal:
    return number if parameter.high is None or number <= parameter.high else parameter.high


def answers(question: Question, oracle: Any) -> tuple[Any, ...]:
    """The row that the macro of a question is to answer with for the table and those arguments."""
    kinds = {p.name: p.type for p in question.parameters}
    given = {n: v for n, v in some_arguments(question).items() if kinds[n] not in ("RELATION", "COLUMN")}
    exact = {n: Fraction(v) if isinstance(v, Decimal) else v for n, v in given.items()}
    return expected(question, oracle, fitting(question, TABLE), exact)


def fitting(question: Question, table: Table) -> Table:
    """The table as a call shows it, with numbers in place of letters where the model is about numbers."""
    table = replace(table, ranges=ranges_for(question.name, table.ranges or {}))
    return shown(with_numbers(table) if of_numbers(question.name) else table)


def shown(table: Table) -> Table:
    """The table whose broader classes are those that a set of the columns tells apart."""
    broader = {
        of: {tuple(KEYS[of][place] if place in left else "hidden" for place in (0, 1)) + left for left in LEFT}
        for of in table.classes
    }
    return replace(table, broader=broader)
