"""The macro of every model against its oracle, on a connection that has nothing but the macros and the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon.catalog import migrations
from sqlanon.clients.session import Connection
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.sql.questions.load import Question, load_question, question_names
from sqlanon.sql.questions.macros import macro_definitions
from tests.oracles.models.support import Table
from tests.support.database import one_thread
from tests.support.draws import draws
from tests.support.models import macros as support
from tests.support.models.drawn import Drawn, drawn_models
from tests.support.models.macros import call, check, expected, fitting, some_arguments, stored_hierarchy
from tests.support.models.relations import of_numbers, ranges_for

pytestmark = pytest.mark.drawn

every_model = pytest.mark.parametrize("name", question_names())


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        migrations.install(DuckDBEngine(opened))
        for definition in macro_definitions():
            opened.execute(definition)
        yield opened


def oracle_of(name: str) -> Any:
    return import_module(f"tests.oracles.models.{name}")


def with_weights(table: Table, name: str) -> Table:
    """The table with weights that are a prior, for a model that reads weights."""
    return replace(table, ranges=ranges_for(name, table.ranges)) if table.ranges is not None else table


def ask(connection: Any, question: Question, drawn: Drawn, *left_out: str) -> tuple[Any, ...]:
    if drawn.table.taxonomy is not None:
        for statement in stored_hierarchy(drawn.table):
            connection.execute(statement)
    arguments = [(parameter, value) for parameter, value in drawn.requirement.arguments if parameter not in left_out]
    (row,) = connection.execute(call(question, arguments, drawn.table)).fetchall()
    return tuple(row)


@pytest.mark.one_in(24)
@every_model
@settings(deadline=None, max_examples=draws(5, long=15))
@given(data=st.data())
def test_a_macro_agrees_with_the_oracle(connection: Any, name: str, data: st.DataObject) -> None:
    question, oracle = load_question(name), oracle_of(name)
    drawn = data.draw(drawn_models(question, oracle))
    # A macro counts rows, not respondents.
    drawn = replace(drawn, table=support.shown(replace(with_weights(drawn.table, name), entities=None)))
    assume(drawn.table.ranges != {})
    found = ask(connection, question, drawn)
    assert found == pytest.approx(expected(question, oracle, drawn.table, drawn.arguments), rel=1e-9, abs=1e-11)


@pytest.mark.one_in(4)
@every_model
@settings(deadline=None, max_examples=draws(2, long=4))
@given(data=st.data())
def test_without_what_decides_it_a_macro_says_what_is_achieved(connection: Any, name: str, data: st.DataObject) -> None:
    question = load_question(name)
    drawn = data.draw(drawn_models(question, oracle_of(name)))
    drawn = replace(drawn, table=with_weights(drawn.table, name))
    assume(drawn.table.ranges != {})
    parameters = [p for p in question.parameters if p.type in ("BIGINT", "DECIMAL") and p.default is None]
    numbers = [p.name for p in parameters]
    needed = [p.name for p in parameters if not question.placeholders("achieved").isdisjoint(p.placeholders)]
    found = ask(connection, question, drawn, *(n for n in numbers if n not in needed))
    assert found[:3] == ask(connection, question, drawn)[:3]
    assert len(found) == (3 if numbers else 6)
    for missing in needed:
        with pytest.raises(duckdb.Error, match=f"needs {missing}"):
            ask(connection, question, drawn, *numbers)
    for alone in numbers if len(numbers) > 1 and not needed else []:
        with pytest.raises(duckdb.Error, match="needs all of"):
            ask(connection, question, drawn, alone)


@every_model
def test_a_table_without_rows_achieves_nothing_and_violates_nothing(connection: Any, name: str) -> None:
    question, oracle = load_question(name), oracle_of(name)
    table = with_weights(Table({}, taxonomy={"a": ("low",)}, ranges={"a": (None, None)}, guards=(), public={}), name)
    low = {p.name: p.default or p.low for p in question.parameters}
    for statement in stored_hierarchy(table):
        connection.execute(statement)
    found = connection.execute(call(question, low.items(), table)).fetchall()
    arguments = {k: v for k, v in low.items() if v is not None}
    assert found == [(None, 0, None, float(low.get(question.required) or 0), True, 0)]
    assert oracle.violating(table, **arguments) == set()


# As far from any infinite figure as the other table is near.
GENTLE = Table(
    {1: range(4), 2: range(4, 8)},
    [*"aab", None, *"abb", None],
    taxonomy={"a": ("low",), "b": ("low",), None: ("none",)},
    ranges={"a": (Fraction(1, 3), None), None: (None, Fraction(1, 4))},
    guards=["low", "a", None, "b", None, None, "*", None],
    public={1: 5, 2: 8},
)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("table", [support.TABLE, GENTLE], ids=["violated", "gentle"])
@every_model
def test_check_and_the_macro_answer_alike(connection: Any, name: str, table: Table) -> None:
    question = load_question(name)
    table = fitting(question, table)
    made = {
        "patients": support.source(table, of_numbers(name)),
        "voters": support.public(table),
        "ranges": support.ranges(table, name),
    }
    for relation, rows in made.items():
        connection.execute(f"CREATE OR REPLACE TABLE {relation} AS {rows}")
    for statement in stored_hierarchy(table):
        connection.execute(statement)
    arguments = some_arguments(question)
    asked = check(question, arguments, *made)
    ((_, called, attribute, required, achieved, satisfied),) = Connection(connection).execute(asked).fetchall()
    (found,) = connection.execute(call(question, arguments.items(), table, "patients")).fetchall()
    assert (called, attribute) == (name, support.SENSITIVE if question.of_sensitive_values else None)
    assert (found[0], found[3], found[4]) == (pytest.approx(achieved), required, satisfied)
