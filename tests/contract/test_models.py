"""Every file of `sql/models` against its oracle, and against what its header promises to the search.

A model is here by its file alone: its SQL is run over drawn tables on DuckDB and
compared with the module of `tests/oracles/models` that has its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.ask import least_rows
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.models.support import Table
from tests.support.database import one_thread
from tests.support.draws import draws
from tests.support.models.contract import check_against_the_oracle, check_an_empty_table, check_the_header, draw_model
from tests.support.models.drawn import (
    Drawn,
    answer,
    bound,
    violations,
)

pytestmark = pytest.mark.drawn

quick = settings(deadline=None, max_examples=draws(12, long=40))
every_model = pytest.mark.parametrize("name", question_names())


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        yield opened


@pytest.mark.one_in(3)
@every_model
@quick
@given(data=st.data())
def test_a_model_agrees_with_its_oracle(connection: Any, name: str, data: st.DataObject) -> None:
    check_against_the_oracle(connection, name, data)


@every_model
def test_a_model_of_an_empty_table_reaches_nothing_and_is_not_violated(connection: Any, name: str) -> None:
    check_an_empty_table(connection, name)


@pytest.mark.one_in(9)
@every_model
@quick
@given(data=st.data())
def test_the_header_keeps_its_promises_to_the_search(connection: Any, name: str, data: st.DataObject) -> None:
    check_the_header(connection, name, data)


@pytest.mark.parametrize("name", [name for name in question_names() if load_question(name).least_rows])
@quick
@given(data=st.data())
def test_a_class_with_fewer_than_the_least_rows_violates(connection: Any, name: str, data: st.DataObject) -> None:
    drawn = draw_model(data, name)
    small = {of for of, places in drawn.table.classes.items() if len(places) < drawn.requirement.least_rows}
    assert small <= set(violations(connection, drawn, drawn.table))


@pytest.mark.parametrize("name", [name for name in question_names() if load_question(name).enough_rows])
@quick
@given(data=st.data())
def test_a_class_with_enough_rows_of_different_respondents_satisfies(
    connection: Any, name: str, data: st.DataObject
) -> None:
    drawn = draw_model(data, name)
    table = replace(drawn.table, entities=None)
    large = {of for of, places in table.classes.items() if drawn.requirement.satisfied_by(len(places))}
    assert not large & set(violations(connection, drawn, table))


def test_the_k_of_k_map_counts_no_rows_of_a_class() -> None:
    """A class with one row satisfies it beside a public table with k of them."""
    asked = {name: bound(load_question(name), {"k": 4}) for name in ("k_map", "k_anonymity")}
    assert least_rows([asked["k_map"]]) == 1
    assert least_rows(list(asked.values())) == 4
    assert not asked["k_map"].satisfied_by(1_000_000)
    assert [asked["k_anonymity"].satisfied_by(rows) for rows in (3, 4)] == [False, True]


def test_the_figures_of_a_table_by_hand(connection: Any) -> None:
    """Against an error that an oracle and a model share: counts 4-2-1-1 of 7 respondents, 2-2 of 3."""
    table = Table({1: range(8), 2: range(8, 12)}, [*"aaaabbcd", *"aabb"], entities=[1, *range(1, 8), 8, 8, 9, 10])
    expected: dict[str, tuple[dict[str, Any], Any, dict[int, Any]]] = {
        "k_anonymity": ({"k": 4}, 3, {2: 4}),
        "distinct_l_diversity": ({"l": 3}, 2, {2: 4}),
        "entropy_l_diversity": ({"l": Fraction(4)}, 2, {1: 1, 2: 4}),
        "probabilistic_l_diversity": ({"l": Fraction(3)}, 2, {1: 2, 2: 4}),
        "recursive_l_diversity": ({"l": 2, "c": Fraction(1)}, 1, {1: 0, 2: 0}),
        "alpha_k_anonymity": ({"alpha": Fraction(1, 4), "k": 7}, Fraction(1, 2), {1: Fraction(8, 3), 2: 4}),
        "p_sensitive_k_anonymity": ({"p": 2, "k": 4}, 2, {2: 4}),
    }
    for name, (arguments, achieved, excess) in expected.items():
        written = {key: _decimal(value) for key, value in arguments.items()}
        found = answer(connection, Drawn(bound(load_question(name), written), arguments, table, structs=False))
        assert found.achieved == pytest.approx(float(achieved)), name
        beyond = {of: own for of, (_, own) in found.violations.items()}
        assert beyond == pytest.approx({of: float(own) for of, own in excess.items()}), name


def test_equally_frequent_values_are_entropy_diverse_whatever_rounding_does(connection: Any) -> None:
    for count in range(2, 40):
        requirement = bound(load_question("entropy_l_diversity"), {"l": count})
        rows = f"SELECT n AS class_id, value, n FROM range(1, 60) AS n(n), range({count}) AS value(value)"
        asked = to_sql(requirement.statement("violations"))
        assert connection.execute(f"WITH class_sensitive_value AS ({rows}) FROM ({asked})").fetchall() == []


def _decimal(value: Any) -> Any:
    return Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else value
