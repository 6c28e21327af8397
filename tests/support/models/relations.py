"""The normal relations that the models' texts read, of a small table, as queries of literals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlanon.sql.questions.load import RANGES, load_question
from sqlanon.sql.questions.load import WEIGHTS as COLUMNS_OF_WEIGHTS
from tests.oracles.models.support import TRIPLES, Table, Triple, in_order

# 'e' never occurs: a hierarchy and a table of ranges may know more values than the release.
VALUES = ("a", "b", "c", "d", None)
KNOWN = (*VALUES, "e")
# The numbers that models of numbers are given in place of them, in their order.
NUMBERS = dict(zip("abcde", map(Decimal, ("-3.00", "0.50", "1.00", "1.75", "1000000000000.00")), strict=True))
# The type of a column that has them, and in how many units each is 1.
NUMBERS_TYPE, UNITS = "DECIMAL(18, 2)", 100

# Of a table of weights; 'e' has none.
WEIGHTS: Mapping[Hashable, Fraction] = dict(
    zip(VALUES, (Fraction(1, parts) for parts in (2, 4, 8, 16, 16)), strict=True)
)

Row = tuple[object, ...]
Ranges = Mapping[Hashable, tuple[Fraction | None, Fraction | None]]


def literal(name: str, table: Table, baseline: Mapping[Hashable, int], structs: bool) -> str:
    """The relation `name` as a query; it may be empty, and a class may be known by a struct."""
    rows: Sequence[Row] = list(RELATIONS[name][1](table, baseline))
    kinds = dict(part.split() for part in RELATIONS[name][0].split(", "))
    if structs and "class_id" in kinds:
        kinds["class_id"] = 'STRUCT("of" BIGINT)'
    nothing = not rows
    written = [
        [_cell(cell, structs and column == "class_id") for column, cell in zip(kinds, row, strict=True)] for row in rows
    ]
    values = ", ".join(f"({', '.join(row)})" for row in written or [["NULL"] * len(kinds)])
    columns = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in kinds.items())
    return f"SELECT {columns} FROM (VALUES {values}) AS r({', '.join(kinds)}){' WHERE false' if nothing else ''}"


def _cell(cell: object, struct: bool) -> str:
    return "NULL" if cell is None else f"{{'of': {cell!r}}}" if struct else repr(cell)


def of_numbers(question: str) -> bool:
    """Whether a model asks how far numbers lie apart."""
    return "sensitive_number" in load_question(question).reads


def of_weights(question: str) -> bool:
    """Whether a model reads a table of weights."""
    return _columns(question) == COLUMNS_OF_WEIGHTS


def _columns(question: str) -> tuple[str, ...]:
    """The columns of the table that a model reads, those of ranges where it reads none."""
    return next((p.columns for p in load_question(question).parameters if p.columns), RANGES)


def ranges_for(question: str, ranges: Ranges, weights: Mapping[Hashable, Fraction] = WEIGHTS) -> Ranges:
    """The ranges, or for a model that reads weights each weight as both ends of a range."""
    return {value: (weight, weight) for value, weight in weights.items()} if of_weights(question) else ranges


def listed(
    question: str, ranges: Ranges, known: Sequence[Triple] = TRIPLES
) -> tuple[dict[str, str], list[tuple[Hashable, ...]]]:
    """The columns with their types and the rows of the table that a model's user writes: ranges, weights or triples."""
    names = _columns(question)
    columns = {name: "VARCHAR" if name == "value" else "BIGINT" if name in "lkm" else "DOUBLE" for name in names}
    if "l" in columns:
        return columns, [*known]
    ends = [(value, *(None if end is None else float(end) for end in bounds)) for value, bounds in ranges.items()]
    return columns, [row[: len(columns)] for row in ends]


def named_arguments(question: str) -> list[str]:
    """The arguments of a model that name a table, `ranges`, or a column, `g`, as in a policy."""
    parameters = load_question(question).parameters
    stands_for = {"RELATION": "ranges", "COLUMN": "g"}
    about = ["attribute => s"] if load_question(question).of_weights else []
    return about + [f"{p.name} => {stands_for[p.type]}" for p in parameters if p.type in stands_for]


def create_ranges(con: Any, question: str, ranges: Ranges) -> None:
    """Makes the table `ranges` of a model."""
    columns, rows = listed(question, ranges)
    con.execute(f"CREATE TABLE ranges ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
    for row in rows:
        con.duckdb.execute(f"INSERT INTO ranges VALUES ({', '.join('?' * len(row))})", [*row])


def valued(question: str, value: Any) -> Any:
    """A value as a model is given it: a number for each letter where the model is about numbers."""
    return NUMBERS.get(value) if of_numbers(question) else value


def with_numbers(table: Table) -> Table:
    """The table with a number in place of each letter."""
    return replace(table, values=[NUMBERS.get(str(value)) for value in table.values])


def code(value: Hashable) -> int:
    """Codes are in value order, NULL's last, but neither dense nor from zero."""
    letter = next((letter for letter, number in NUMBERS.items() if number == value), value)
    return 5 + 3 * in_order(KNOWN).index(letter)


def _equivalence_class(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    return [(of, len(places), table.respondents(of)) for of, places in table.classes.items()]


def _class_sensitive_value(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    return [(of, code(value), n) for of in table.classes for value, n in table.counts(of).items()]


def _sensitive_value(_: Table, baseline: Mapping[Hashable, int]) -> Iterable[Row]:
    return [(code(value), n) for value, n in Counter(baseline).items()]


def _sensitive_ancestor(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    paths = {value: (value, *above) for value, above in (table.taxonomy or {}).items()}
    for value, path in paths.items():
        for level, label in enumerate(path):
            nodes = in_order({other[level] for other in paths.values()})
            yield code(value), level, code(value) if level == 0 else 1 + nodes.index(label)


def _sensitive_number(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    for value in dict.fromkeys(table.values):
        yield code(value), None if value is None else int(value * UNITS), UNITS, None  # type: ignore[call-overload]


def _value_range(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    for value, ends in (table.ranges or {}).items():
        yield code(value), *(None if end is None else float(end) for end in ends)


def _known_triple(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    occurring = table.baseline
    return [(None if v is None else code(v), *known) for v, *known in table.known if v is None or v in occurring]


def _guarding_nodes(table: Table) -> list[Hashable]:
    return list(dict.fromkeys(guard for guard in table.guards or () if guard is not None))


def _guarded(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    nodes = _guarding_nodes(table)
    for of, places in table.classes.items():
        guards = {(table.guards or ())[place] for place in places} - {None}
        yield from ((of, 40 + nodes.index(guard)) for guard in guards)


def _guarding_node(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    for number, node in enumerate(_guarding_nodes(table)):
        for value, path in (table.taxonomy or {}).items():
            if node in (value, *path):
                yield 40 + number, code(value)


def _public_class(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    return list((table.public or {}).items())


def _superset(table: Table, _: Mapping[Hashable, int]) -> Iterable[Row]:
    broader = table.broader or {}
    numbers = {name: number for number, name in enumerate(sorted({n for of in table.classes for n in broader[of]}))}
    return [(of, 70 + numbers[name]) for of in table.classes for name in broader[of]]


# Each normal relation: its columns, and its rows for a table whose classes are compared with a distribution.
RELATIONS: Mapping[str, tuple[str, Callable[[Table, Mapping[Hashable, int]], Iterable[Row]]]] = {
    "equivalence_class": ("class_id BIGINT, size BIGINT, entities BIGINT", _equivalence_class),
    "class_sensitive_value": ("class_id BIGINT, value BIGINT, n BIGINT", _class_sensitive_value),
    "sensitive_value": ("value BIGINT, n BIGINT", _sensitive_value),
    "sensitive_ancestor": ("value BIGINT, level INTEGER, node BIGINT", _sensitive_ancestor),
    "sensitive_number": (
        "value BIGINT, whole DECIMAL(38,0), unit DECIMAL(38,0), number DOUBLE",
        _sensitive_number,
    ),
    "value_range": ("value BIGINT, low DOUBLE, high DOUBLE", _value_range),
    "known_triple": ("value BIGINT, l BIGINT, k BIGINT, m BIGINT", _known_triple),
    "guarded": ("class_id BIGINT, node BIGINT", _guarded),
    "guarding_node": ("node BIGINT, value BIGINT", _guarding_node),
    "superset": ("class_id BIGINT, superset_id BIGINT", _superset),
    "public_class": ("class_id BIGINT, n BIGINT", _public_class),
}
