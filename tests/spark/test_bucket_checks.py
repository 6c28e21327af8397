"""What buckets come to by their published tables is the same on DuckDB and on Spark, and by the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine
from sqlanon.methods.anatomy.method import unequal_buckets
from sqlanon.methods.shared.arguments import VARIANTS
from sqlanon.methods.shared.bucket_tables import QUASI_IDENTIFIERS
from sqlanon.release.pipeline.check import measured, violating_classes
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.buckets import BucketValues, rows_of_buckets
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from tests.oracles.anatomy import by_bucket, diverse, fitting, unequal
from tests.support.spark import registered

pytestmark = pytest.mark.spark

NAME = 'the "value"'
TEXTS = (None, "", "NULL", 'a "b"', "é", "B", "b")
C = Decimal("1.5")
KINDS = {"bucket": pa.int64(), "value": pa.string(), "count": pa.int64()}


def held_table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(KINDS.items())})


def l_diversity(variant: str, least: int) -> tuple[BoundRequirement, ...]:
    c: list[tuple[str, Value]] = [("c", C)] if variant == "recursive" else []
    return bind_requirement(Requirement("l_diversity", (("l", least), ("variant", variant), *c)), [NAME])


def tables(seed: int, size: int) -> dict[str, pa.Table]:
    """Two tables of buckets that fit together, or nearly: up to three of their rows are changed, or gone."""
    random = Random(seed)
    rows = [(random.randrange(1, 1 + size // 3), random.choice(TEXTS[:4])) for _ in range(size)]
    exact: list[int | None] = [bucket for bucket, _ in rows]
    values: list[tuple[int | None, Any, int | None]] = [(*one, n) for one, n in Counter(rows).items()]
    for _ in range(random.randrange(4) if values else 0):
        place, (bucket, value, n) = random.randrange(len(values)), random.choice(values)
        rows_of_it = [
            (bucket, value, n),
            (None, value, n),
            (bucket, value, None),
            (bucket, value, 0),
            (bucket, "B", -1),
        ]
        changed = random.choice([*rows_of_it, (bucket, "other", 1), None])
        values = [*values[:place], *([changed] if changed else []), *values[place + 1 :]] or [(None, None, 1)]
        if exact and random.random() < 0.5:
            exact[random.randrange(len(exact))] = random.choice([None, 1, 99])
    return {"exact": pa.table({"bucket": pa.array(exact, pa.int64())}), "held": held_table(values)}


SOURCES = {QUASI_IDENTIFIERS: relation("exact"), "sensitive": relation("held")}
VALUES = {NAME: BucketValues("sensitive", "bucket", "value", (), "count")}


def test_tables_that_do_not_fit_are_found_alike(duck: DuckDBEngine, spark: SparkEngine) -> None:
    found = []
    for seed in range(9):
        made = tables(seed, 0 if seed == 0 else 12)
        rows = made["held"].to_pylist()
        expected = unequal(made["exact"]["bucket"].to_pylist(), [(r["bucket"], r["value"], r["count"]) for r in rows])
        with registered(duck, spark, made):
            assert [unequal_buckets(engine, SOURCES, VALUES) for engine in (duck, spark)] == [expected] * 2, seed
        found.append(expected)
    assert found[0] == 0
    assert len(set(found)) > 2, found


def checks(
    requirements: Sequence[BoundRequirement], engine: Engine
) -> list[tuple[float | None, bool | None, set[Any]]]:
    """What each requirement comes to by the published tables, and the buckets that violate it."""
    (asked,) = rows_of_buckets(SOURCES, requirements, range(len(requirements)), VALUES)
    found = measured(engine, requirements, asked.rows, Background())
    each = []
    for place in range(len(requirements)):
        broken = violating_classes(requirements, place, asked.rows, Background()).subquery("violating")
        each.append(exp.select(alias(literal(place), "place"), column("class_id")).from_(broken))
    rows = engine.rows(union_all(each))
    return [(m.achieved, m.satisfied, {of for at, of in rows if at == i}) for i, m in enumerate(found)]


@pytest.mark.parametrize("size", [70, 0])
def test_buckets_are_checked_alike(size: int, duck: DuckDBEngine, spark: SparkEngine) -> None:
    random = Random(size)
    rows = [(random.randrange(1, 12), random.choice(TEXTS[: 2 + row % 5])) for row in range(size)]
    counted = [(*one, n) for one, n in Counter(rows).items()]
    held = by_bucket(counted)
    assert fitting([bucket for bucket, _ in rows], held)
    asked = list(product(VARIANTS, (2, 3)))
    requirements = [one for variant, least in asked for one in l_diversity(variant, least)]
    requirements += bind_requirement(Requirement("k_anonymity", (("k", 6),)), [NAME])
    with registered(duck, spark, {"held": held_table(counted)}):
        here, there = (checks(requirements, engine) for engine in (duck, spark))
    expected = [{b for b, counts in held.items() if not diverse(counts, *one, Fraction(C))} for one in asked]
    expected.append({bucket for bucket, counts in held.items() if sum(counts.values()) < 6})
    assert [found for _, _, found in here] == [found for _, _, found in there] == expected
    assert [found for _, found, _ in here] == [found for _, found, _ in there] == [not broken for broken in expected]
    assert [v for v, _, _ in there] == [v if v is None else pytest.approx(v, rel=1e-9) for v, _, _ in here]
    assert size == 0 or len({len(broken) for broken in expected}) > 2
