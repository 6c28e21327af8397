"""Releases at random as normal relations, the same rows on both engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine

# Six values in a hierarchy of three levels: the value, its pair, its half.
VALUES = range(6)
HEIGHT = 3

_STRUCT = pa.struct([("key_0", pa.int64()), ("key_1", pa.int64())])


@dataclass(frozen=True)
class Row:
    """A row of a release: its class, its respondent, its sensitive value and its guarding node, if it has one."""

    of: int
    who: int
    value: int
    guard: int | None


def rows(seed: int, classes: int, size: int) -> list[Row]:
    """Classes of up to `size` rows; values are skewed, the last ones rare or absent."""
    random = Random(seed)
    made = []
    for of in range(classes):
        weights = [random.choice((0, 1, 2, 8)) / (1 + value) for value in VALUES]
        for place in range(random.randint(1, size)):
            value = random.choices(VALUES, weights if sum(weights) else None)[0]
            guard = random.choice((None, node(value, 1), node(value, 2)))
            made.append(Row(of, of * size + random.randint(0, place), value, guard))
    return made


def node(value: int, level: int) -> int:
    return value if level == 0 else value // 2 if level == 1 else value // 4


def relations(release: Sequence[Row], seed: int, structs: bool) -> dict[str, pa.Table]:
    """Every normal relation of a release; `structs` makes its class_id a struct of two words."""
    random = Random(seed)
    sizes = Counter(row.of for row in release)
    respondents = Counter(of for of, _ in {(row.of, row.who) for row in release})
    held = Counter((row.of, row.value) for row in release)
    whole = Counter(row.value for row in release)
    # Nodes of the guards are numbered apart from each other: a pair by itself, a half from 100 on.
    guards = {(row.of, row.guard) for row in release if row.guard is not None}
    low_high = {v: random.choice(((None, 0.4), (0.1, None), (0.0, 1.0), (0.25, 0.5), (None, None))) for v in VALUES}
    public = {of: size + random.choice((0, 0, 1, 5)) for of, size in sizes.items() if random.random() < 0.9}
    public |= {10_000: 3}

    def table(columns: dict[str, Any], made: Sequence[tuple[Any, ...]]) -> pa.Table:
        of = (lambda key: {"key_0": key // 7, "key_1": key % 7}) if structs else (lambda key: key)
        named = {name: [of(row[i]) if name == "class_id" else row[i] for row in made] for i, name in enumerate(columns)}
        types = {name: _STRUCT if name == "class_id" and structs else kind for name, kind in columns.items()}
        return pa.table({name: pa.array(named[name], types[name]) for name in columns})

    whole_number, share = pa.int64(), pa.float64()
    return {
        "equivalence_class": table(
            {"class_id": whole_number, "size": whole_number, "entities": whole_number},
            [(of, size, respondents[of]) for of, size in sizes.items()],
        ),
        "class_sensitive_value": table(
            {"class_id": whole_number, "value": whole_number, "n": whole_number},
            [(of, value, n) for (of, value), n in held.items()],
        ),
        "sensitive_value": table({"value": whole_number, "n": whole_number}, list(whole.items())),
        "sensitive_ancestor": table(
            {"value": whole_number, "level": whole_number, "node": whole_number},
            [(value, level, node(value, level)) for value in VALUES for level in range(HEIGHT)],
        ),
        "sensitive_number": table(
            {"value": whole_number, "whole": pa.decimal128(38), "unit": pa.decimal128(38), "number": share},
            [(value, Decimal(value * value - 4), Decimal(2), None) for value in VALUES],
        ),
        "value_range": table(
            {"value": whole_number, "low": share, "high": share},
            [(v, *ends) for v, ends in low_high.items() if v % 3 != 2],
        ),
        # Of every value, and of two values; no triple is below another one of the same value.
        "known_triple": table(
            {"value": whole_number, "l": whole_number, "k": whole_number, "m": whole_number},
            [(None, 1, 2, 0), (0, 0, 1, 2), (3, 2, 0, 1)],
        ),
        "guarded": table({"class_id": whole_number, "node": whole_number}, sorted(guards)),
        "guarding_node": table(
            {"node": whole_number, "value": whole_number},
            sorted({(node(value, level), value) for value in VALUES for level in (1, 2)}),
        ),
        # Each class by itself, some of them together, and all together.
        "superset": table(
            {"class_id": whole_number, "superset_id": whole_number},
            [(of, broader) for of in sizes for broader in (of, 1_000 + of % 7, 2_000 + of % 3, 3_000)],
        ),
        "public_class": table({"class_id": whole_number, "n": whole_number}, list(public.items())),
    }


RELEASES = {
    "many classes": relations(rows(1, classes=60, size=14), seed=1, structs=False),
    "class ids of two words": relations(rows(2, classes=40, size=9), seed=2, structs=True),
    "one class": relations(rows(3, classes=1, size=30), seed=3, structs=False),
    "one value": relations([Row(of, i, 0, None) for of in range(4) for i in range(of + 1)], seed=4, structs=False),
    # Every class is the whole in small, so that distances are 0 and shares meet their bounds exactly.
    "ties": relations([Row(of, i, i % 4, node(i % 4, 1)) for of in range(5) for i in range(8)], seed=5, structs=False),
    "no rows": relations([], seed=6, structs=False),
}


@contextmanager
def registered(duck: DuckDBEngine, spark: SparkEngine, release: dict[str, pa.Table]) -> Iterator[None]:
    """The relations of a release by name, as views of DuckDB and of Spark."""
    for name, table in release.items():
        duck.connection.register(name, table)
        spark.connection.createDataFrame(table).coalesce(1).cache().createOrReplaceTempView(name)
    yield
    for name in release:
        duck.connection.unregister(name)
        spark.connection.catalog.uncacheTable(name)
        spark.connection.catalog.dropTempView(name)
