"""A threshold of any number of digits, above all next to what a table reaches, means what is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.domain.values import Value
from sqlanon.sql.questions.load import Parameter, load_question, question_names
from tests.support.draws import draws
from tests.support.models.drawn import Drawn, bound, drawn_models, exact, violations

pytestmark = pytest.mark.drawn

# Their figures are logarithms, roots or products of fractions, of which only so many digits are computed.
ROUNDED = (
    *(
        "ck_safety",
        "delta_disclosure",
        "entropy_l_diversity",
        "jensen_shannon_nt_closeness",
        "jensen_shannon_t_closeness",
    ),
    *(
        "epsilon_privacy_of_table",
        "privacy_skyline",
        "privacy_skyline_of_table",
        "individual_risk",
        "k_map_estimated",
        "deviation_spread",
        "variance_spread",
    ),
)
MOST_DIGITS = 30
slow = settings(deadline=None, max_examples=draws(20, long=60))


def required(name: str) -> Parameter | None:
    """The threshold of a model, where that is a fraction."""
    question = load_question(name)
    return next((p for p in question.parameters if p.name == question.required and p.type == "DECIMAL"), None)


RATIONAL = [name for name in question_names() if required(name) and name not in ROUNDED]


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with duckdb.connect() as opened:
        opened.execute("SET threads = 1")
        yield opened


def asked(data: st.DataObject, name: str, digits: st.SearchStrategy[int]) -> Drawn:
    """A table and a threshold that is what the table reaches, or anything, up to a few units of its last digit."""
    question, parameter = load_question(name), required(name)
    oracle = import_module(f"tests.oracles.models.{name}")
    drawn = data.draw(drawn_models(question, oracle))
    reached = oracle.achieved(drawn.table, **drawn.arguments)
    anything = data.draw(st.fractions(0, 4))
    number = anything if reached is None or reached == float("inf") or data.draw(st.booleans()) else reached
    places, nudge = data.draw(digits), data.draw(st.sampled_from((-1, 0, 0, 1, 2)))
    threshold = rounded(Fraction(number), places, nudge)
    assert parameter is not None
    assert parameter.low is not None
    assert parameter.high is not None
    threshold = min(max(threshold, parameter.low), parameter.high)
    arguments: dict[str, Value] = {**dict(drawn.requirement.arguments), parameter.name: threshold}
    return replace(drawn, requirement=bound(question, arguments), arguments=exact(arguments))


def rounded(number: Fraction, places: int, nudge: int) -> Decimal:
    """The number with so many decimal places, and a few units of the last one more."""
    with localcontext() as context:
        context.prec = 80
        units = Decimal(number.numerator) / Decimal(number.denominator) * 10**places
        return (units.to_integral_value(ROUND_FLOOR) + nudge) / 10**places


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", RATIONAL)
@slow
@given(data=st.data())
def test_a_threshold_is_kept_to_its_last_digit(connection: Any, name: str, data: st.DataObject) -> None:
    drawn = asked(data, name, st.integers(1, MOST_DIGITS))
    oracle = import_module(f"tests.oracles.models.{name}")
    assert set(violations(connection, drawn, drawn.table)) == oracle.violating(drawn.table, **drawn.arguments)


@pytest.mark.parametrize("name", ROUNDED)
@slow
@given(data=st.data())
def test_where_rounding_cannot_tell_a_class_violates(connection: Any, name: str, data: st.DataObject) -> None:
    drawn = asked(data, name, st.integers(14, MOST_DIGITS))
    oracle = import_module(f"tests.oracles.models.{name}")
    assert set(violations(connection, drawn, drawn.table)) >= oracle.violating(drawn.table, **drawn.arguments)
