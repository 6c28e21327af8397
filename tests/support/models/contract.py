"""What every model of `sql/models` keeps: its oracle's answers, its header's promises, SQL that all engines know."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import sqlglot
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.portable import require_portable
from sqlanon.sql.questions.load import load_question
from tests.oracles.models.support import Table
from tests.support.models.drawn import (
    BEYOND_MENDING,
    Drawn,
    answer,
    bound,
    drawn_models,
    exact,
    merged,
    total_excess,
    violations,
    without,
)

# Of a sum of excesses, in rows.
ROUNDING = Fraction(1, 10**9)


def oracle_of(name: str) -> Any:
    module = f"tests.oracles.models.{name}"
    assert find_spec(module), f"sql/models/{name}.sql has no oracle tests/oracles/models/{name}.py"
    return import_module(module)


def draw_model(data: st.DataObject, name: str) -> Drawn:
    return data.draw(drawn_models(load_question(name), oracle_of(name)))


def check_against_the_oracle(connection: Any, name: str, data: st.DataObject) -> None:
    """A drawn table's violating classes and figure are those of the model's oracle."""
    oracle, drawn = oracle_of(name), draw_model(data, name)
    found = answer(connection, drawn)
    assert set(found.violations) == oracle.violating(drawn.table, **drawn.arguments)
    reached = oracle.achieved(drawn.table, **drawn.arguments)
    if reached is None:
        assert found.achieved is None
    else:
        assert found.achieved == pytest.approx(float(reached), rel=1e-9, abs=1e-11)
    for of, (size, excess) in found.violations.items():
        assert size == len(drawn.table.classes.get(of, ()))
        assert 0 <= excess <= size or excess == BEYOND_MENDING


def check_an_empty_table(connection: Any, name: str) -> None:
    """A table without rows reaches nothing and violates nothing."""
    question = load_question(name)
    table = Table({}, taxonomy={}, ranges={}, guards=(), public={}, broader={})
    parameters = {p.name: p.default if p.default is not None else _least(p) for p in question.parameters}
    drawn = Drawn(bound(question, parameters), exact(parameters), table, structs=False)
    found = answer(connection, drawn)
    assert found.achieved is None
    assert found.violations == {}
    assert oracle_of(name).achieved(table, **drawn.arguments) is None
    assert oracle_of(name).violating(table, **drawn.arguments) == set()


def _least(parameter: Any) -> Any:
    if parameter.type in ("RELATION", "COLUMN"):
        return QualifiedName(("given",))
    if parameter.type == "TEXT":
        return parameter.choices[0]
    return int(parameter.low) if parameter.type == "BIGINT" else parameter.low


def check_the_header(connection: Any, name: str, data: st.DataObject) -> None:
    """The excess never grows when classes merge, nor shrinks by more than the rows that are left out.

    So a table that satisfies the model without some of its rows, and every finer one, has
    an excess of at most their number. What is declared monotone is.
    """
    question, drawn = load_question(name), draw_model(data, name)
    before = violations(connection, drawn, drawn.table)
    first, *others = data.draw(st.permutations(list(drawn.table.classes)))
    if others:
        after = violations(connection, drawn, merged(drawn.table, first, others[0]))
        assert total_excess(after) <= total_excess(before) + ROUNDING
        satisfying = {first, others[0]} - set(before)
        if question.monotone and len(satisfying) == 2:
            assert first not in after, "two satisfying classes make one that violates"
        if question.monotone_under_suppression and satisfying:
            assert first not in after, "a satisfying class violates with more rows"
    places = [place for rows in drawn.table.classes.values() for place in rows]
    removed = data.draw(st.sets(st.sampled_from(places), min_size=1))
    left = violations(connection, drawn, without(drawn.table, removed))
    assert total_excess(before) <= len(removed) + total_excess(left) + ROUNDING


def check_model_is_portable(name: str, statement: str) -> None:
    """All engines answer the model's statement alike."""
    tree = sqlglot.parse_one(load_question(name).statement(statement), dialect="duckdb")
    for place in list(tree.find_all(exp.Placeholder)):
        place.replace(exp.Literal.number(1))
    require_portable(tree)
