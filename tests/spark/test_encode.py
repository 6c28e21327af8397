"""Hierarchies, keys, cells and a node of the lattice are the same numbers on DuckDB and on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.lattice.node_rows_sql import Batch, part_of_node
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import KeyLayout, cells, codes, tree, tree_summary
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.hierarchies.base import functional
from sqlanon.sql.questions.ask import bind_requirement

pytestmark = pytest.mark.spark

RANDOM = Random(7)
ROWS = 150
PRICES = tuple(map(Decimal, ("-0.01", "0.24", "0.25", "7")))
BIRTHS = (date(1950, 6, 2), date(1950, 6, 30), date(1, 1, 1))
# What the hierarchy of schools lists, from the value up; one does not occur.
SCHOOLS = (
    ("9th", "school", "any"),
    ("10th", "school", "any"),
    ("BA", "college", "any"),
    ("PhD", "college", "any"),
    ("MA", "college", "any"),
)
# For each column its Arrow type, its hierarchy and the values that it takes, NULL aside.
COLUMNS: dict[str, tuple[pa.DataType, tuple[Any, ...] | None, Sequence[Any]]] = {
    "age": (pa.int32(), ("intervals", (5, 10, 20)), [-23, -5, -1, 0, 1, 4, 5, 19, 20, 21, 2**31 - 1, -(2**31)]),
    "id": (pa.int64(), ("intervals", (10,)), [-(2**63), 2**63 - 1, -11, -10, 0, 9]),
    "years": (
        pa.int32(),
        ("intervals", ("ENDS", 5), (("high", 90), ("above", "it's old"))),
        [-1, 0, 17, 89, 90, 2**31 - 1],
    ),
    "price": (pa.decimal128(8, 2), ("intervals", (Decimal("0.25"), Decimal(1))), PRICES),
    "weight": (pa.float64(), ("intervals", (Decimal("0.1"), 1)), [0.3, 0.1 + 0.2, -0.0, 0.0, 1e300, float("inf")]),
    'zip `4"': (pa.string(), ("prefixes", (4, 2)), ["94141", "94142", "9", "", "é€😀xy", "é€😀", "*", "a'b\\c${d}"]),
    "born": (pa.date32(), ("calendar", ("MONTH", "YEAR", "CENTURY"), (("low", "1950-01-01"),)), BIRTHS),
    "day": (pa.date32(), ("calendar", ("DAY", "WEEK")), [date(2020, 12, d) for d in (27, 28, 31)] + [date(2021, 1, 3)]),
    "at": (pa.timestamp("us"), ("calendar", ("HOUR", "QUARTER")), [datetime(2020, 1, 1, h, 59) for h in (0, 0, 23)]),
    "school": (pa.string(), ("levels", ()), ["9th", "10th", "BA", "PhD"]),
    "sex": (pa.string(), None, ["F", "M", "f", "F "]),
    "alive": (pa.bool_(), None, [True, False]),
    "number": (pa.int64(), None, range(-500, 500)),
    "name": (pa.string(), None, [chr(letter) + "." for letter in range(32, 1000)]),
    "score": (pa.float64(), None, [float("nan"), float("inf"), -0.0, 0.0, *(i / 7 for i in range(900))]),
}
LISTED = [("levels of school", path[0], level, label) for path in SCHOOLS for level, label in enumerate(path)]

SOURCE = pa.table(
    {
        name: pa.array([RANDOM.choice([*values, None]) for _ in range(ROWS)], kind)
        for name, (kind, _, values) in COLUMNS.items()
    }
)
HIERARCHY_VALUE = pa.table(
    {
        name: pa.array([row[place] for row in LISTED])
        for place, name in enumerate(("hierarchy", "value", "level", "label"))
    }
)


@pytest.fixture(scope="module")
def engines(duck: DuckDBEngine, spark: SparkEngine) -> Iterator[tuple[Engine, Engine]]:
    duck.connection.register("given", SOURCE)
    duck.connection.register("listed", HIERARCHY_VALUE)
    for text in (
        "CREATE TABLE source AS FROM given",
        "CREATE SCHEMA anon",
        "CREATE TABLE anon.hierarchy_value AS FROM listed",
    ):
        duck.connection.execute(text)
    session = spark.connection
    session.createDataFrame(SOURCE).coalesce(1).createOrReplaceTempView("source")
    session.sql("CREATE DATABASE anon")
    session.createDataFrame(HIERARCHY_VALUE).coalesce(1).write.saveAsTable("anon.hierarchy_value")
    yield duck, spark
    session.sql("DROP DATABASE anon CASCADE")
    session.catalog.dropTempView("source")


def bound(name: str, kind: str) -> BoundAttribute:
    """A quasi-identifier, as the stage `bind` finds it: `kind` is the column's type."""
    _, defined, _ = COLUMNS[name]
    attribute = Attribute(name, Role.QUASI_IDENTIFIER, hierarchy=f"{defined[0]} of {name}" if defined else None)
    plain = BoundAttribute(attribute, name, kind, kind)
    if defined is None:
        return plain
    definition = HierarchyDefinition(f"{defined[0]} of {name}", *defined)
    height = 3 if defined[0] == "levels" else functional(defined[0]).height(definition)
    stored = defined[0] == "levels"
    return replace(plain, hierarchy=definition, stored=stored, height=height, max_level=height)


def policy(engine: Engine, names: Sequence[str]) -> BoundPolicy:
    kinds = dict(engine.columns("SELECT * FROM source"))
    attributes = tuple(bound(name, kinds[name]) for name in names)
    made = Policy("p", QualifiedName(("source",)), tuple(b.attribute for b in attributes), ())
    return BoundPolicy(made, QualifiedName(("source",)), True, attributes, (), "")


def same_rows(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> bool:
    return shown(ours) == shown(theirs)


def shown(rows: list[tuple[Any, ...]]) -> list[str]:
    """The rows as text; -0.0 and 0.0 are one value, which engines show by either."""
    return sorted(repr([v + 0.0 if isinstance(v, float) else v for v in row]) for row in rows)


def encoded(engine: Engine, temp: TempTables, names: Sequence[str]) -> tuple[str, KeyLayout, list[Any]]:
    """The cells, the layout of their key, and all that was found out on the way."""
    asked = policy(engine, names)
    values = relation(("anon", "hierarchy_value"))
    source = relation("source")
    trees = [temp.table("tree", tree(one, source, values)) for one in asked.quasi_identifiers]
    summaries = [
        engine.rows(tree_summary(one, relation(name)))[0]
        for one, name in zip(asked.quasi_identifiers, trees, strict=True)
    ]
    layout = KeyLayout.pack([found[2 : 2 + b.height] for found, b in zip(summaries, asked.attributes, strict=True)])
    coded = [codes(relation(name), fields) for name, fields in zip(trees, layout.fields, strict=True)]
    tables = [relation(temp.table("code", query)) if query else None for query in coded]
    numbered = [engine.rows(f'SELECT * FROM "{name}"') for name in trees]
    return temp.table("cells", cells(asked, source, tables, layout)), layout, [summaries, layout, *numbered]


def test_columns_have_one_type(engines: tuple[Engine, Engine]) -> None:
    duck, spark = engines
    assert spark.columns("SELECT * FROM source") == duck.columns("SELECT * FROM source")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_hierarchy_has_one_tree(name: str, engines: tuple[Engine, Engine]) -> None:
    values = relation(("anon", "hierarchy_value"))
    asked = [(engine, policy(engine, [name]).quasi_identifiers[0]) for engine in engines]
    ours, theirs = (engine.rows(tree(one, relation("source"), values)) for engine, one in asked)
    assert len(ours) > 1
    assert same_rows(ours, theirs)


@pytest.mark.parametrize("names", [list(COLUMNS), ["sex", "alive", "school", "age"]], ids=["two words", "one word"])
def test_cells_and_a_node_have_one_answer(names: list[str], engines: tuple[Engine, Engine]) -> None:
    answers = []
    for engine in engines:
        with TempTables(engine) as temp:
            table, layout, found = encoded(engine, temp, names)
            found.append(sorted(engine.rows(f'SELECT * FROM "{table}"')))
            for levels in ([0] * len(names), [1] * len(names), [1, 0] * (len(names) // 2) + [2] * (len(names) % 2)):
                found.append(violating(engine, table, layout, levels))
            answers.append(found)
    ours, theirs = answers
    assert theirs[:2] == ours[:2]
    assert all(same_rows(one, other) for one, other in zip(ours[2:], theirs[2:], strict=True))
    assert ours[1].words == (2 if len(names) == len(COLUMNS) else 1)
    assert sum(row[-1] for row in ours[-4]) == ROWS
    assert all(0 < len(found) <= ROWS for found in ours[-3:])


def violating(engine: Engine, table: str, layout: KeyLayout, levels: Sequence[int]) -> list[tuple[Any, ...]]:
    """The classes of a node with fewer than 12 rows: class_id, size."""
    requirements = bind_requirement(Requirement("k_anonymity", (("k", 12),)))
    node = part_of_node(table, layout, entity=False)
    query = with_steps(violations(requirements), Batch(layout, requirements, entity=False).relations(node))
    return [row[:2] for row in engine.rows(query, layout.masks(levels))]
