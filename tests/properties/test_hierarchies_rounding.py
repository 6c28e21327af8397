"""ROUNDING: a label is the nearest multiple of its base, whatever the type, and levels nest."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import PolicyError
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.hierarchies import rounding
from tests.oracles import hierarchies as oracle
from tests.support.draws import draws
from tests.support.hierarchies import assert_levels_nest, assert_null_stays_null, labelled, quick

pytestmark = pytest.mark.drawn

LIMITS = {"TINYINT": 2**7, "INTEGER": 2**31, "BIGINT": 2**63, "HUGEINT": 2**127}
# Up to here every type has labels without open ends, in the units of the finest base's halves.
COMPUTED = 10**13


@st.composite
def bases(draw: st.DrawFn, places: int = 4) -> HierarchyDefinition:
    """Bases with up to so many decimals, each an odd multiple of the one before."""
    scale = draw(st.integers(0, places))
    first = draw(st.integers(1, 1000))
    factors = draw(st.lists(st.sampled_from([3, 5, 7, 9]), max_size=3))
    numbers = tuple(Decimal(base).scaleb(-scale) for base in accumulate([first, *factors], mul))
    return HierarchyDefinition("bases", "rounding", numbers)


def assert_rounded(definition: HierarchyDefinition, value: Fraction, labels: tuple[str | None, ...]) -> None:
    for base, label in zip(definition.arguments, labels, strict=True):
        assert isinstance(base, Decimal)
        assert label is not None
        if "," in label:
            assert oracle.in_interval(value, label)
            assert abs(value) >= COMPUTED * Fraction(1, 10**4)
        else:
            assert Fraction(label) == oracle.rounded(value, base)


@pytest.mark.parametrize("kind", LIMITS)
@settings(quick, max_examples=draws(4, long=30))
@given(data=st.data(), definition=bases())
def test_an_integer_is_rounded(data: st.DataObject, definition: HierarchyDefinition, kind: str) -> None:
    most = LIMITS[kind] - 1
    small = st.integers(max(-3000, -most), min(3000, most))
    values = data.draw(st.lists(st.integers(-most - 1, most) | small, max_size=20))
    rows = labelled(definition, kind, [str(value) for value in [*values, -most - 1, most, 0]])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            assert_rounded(definition, Fraction(shown), labels)


@pytest.mark.parametrize("kind", ["DECIMAL(9,3)", "DOUBLE"])
@settings(quick, max_examples=draws(4, long=30))
@given(values=st.lists(st.integers(-(10**8), 10**8), max_size=20), definition=bases())
def test_a_number_with_a_fraction_is_rounded(kind: str, values: list[int], definition: HierarchyDefinition) -> None:
    rows = labelled(definition, kind, [str(Decimal(value).scaleb(-3)) for value in values])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            assert_rounded(definition, Fraction(shown), labels)


def test_the_worked_example_holds() -> None:
    # E37 of the definitions.
    definition = HierarchyDefinition("e37", "rounding", (10, 30, 90))
    numbers = ["45", "44", "50", "149", "-5", "-6"]
    rows = {shown: labels for shown, labels in labelled(definition, "INTEGER", numbers) if shown is not None}
    assert [rows[number][0] for number in numbers] == ["50", "40", "50", "150", "0", "-10"]


@pytest.mark.parametrize("numbers", [(10, 100), (5, 10), (), (0,), (-1,), (10, 10), (30, 10), ("a",), (10**15,)])
def test_bases_that_do_not_nest_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(PolicyError):
        rounding.validate(HierarchyDefinition("wrong", "rounding", numbers))


def test_a_center_is_no_bound_of_its_interval() -> None:
    # Why (10, 100) does not nest: 45 is 50 to base 10, and 50 is 100 to base 100, but 45 is 0.
    assert oracle.rounded(oracle.rounded(45, 10), 100) != oracle.rounded(45, 100)
