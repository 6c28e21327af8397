"""Runs a builder's labels in DuckDB over given values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import duckdb
from hypothesis import settings
from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import functional
from tests.support.draws import draws

Labels = tuple[str | None, ...]

quick = settings(deadline=None, max_examples=draws(12, long=60))


@cache
def connection() -> Any:
    opened = duckdb.connect()
    opened.execute("SET enable_progress_bar = false")
    return opened


def labelled(
    definition: HierarchyDefinition, column_type: str, values: Sequence[str | None]
) -> list[tuple[str | None, Labels]]:
    """Each value as DuckDB prints it, with its labels; the values, and a NULL among them, are cast from text."""
    connection().execute(
        f'CREATE OR REPLACE TEMP TABLE source AS SELECT CAST(unnest(?::VARCHAR[]) AS {column_type}) AS "v"',
        [[*values, None]],
    )
    return labelled_source(definition, column_type)


def labelled_source(definition: HierarchyDefinition, column_type: str) -> list[tuple[str | None, Labels]]:
    """The labels of each value in the temporary table `source`."""
    module = functional(definition.kind)
    assert module.accepts(column_type)
    trees = module.labels(definition, column("v"), column_type)
    assert len(trees) == module.height(definition) - 1
    shown = [alias(tree, f"level {level}") for level, tree in enumerate(trees, 1)]
    value = exp.Cast(this=column("v"), to=exp.DataType.build("VARCHAR"))
    query = exp.Select(expressions=[alias(value, "value"), *shown]).from_(relation("source"))
    result = connection().execute(to_sql(query))
    assert all(str(kind) == "VARCHAR" for _, kind, *_ in result.description[1:])
    return [(first, tuple(rest)) for first, *rest in result.fetchall()]


def assert_null_stays_null(rows: Iterable[tuple[str | None, Labels]]) -> None:
    for value, labels in rows:
        assert {label is None for label in labels} == {value is None}, (value, labels)


def assert_levels_nest(rows: Iterable[tuple[str | None, Labels]]) -> None:
    """Values that share a label share all labels above it."""
    above: dict[tuple[int, str | None], set[str | None]] = defaultdict(set)
    for _, labels in rows:
        for level, (finer, coarser) in enumerate(pairwise(labels)):
            above[level, finer].add(coarser)
    torn = {label: parents for label, parents in above.items() if len(parents) > 1}
    assert not torn
