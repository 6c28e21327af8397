"""Figures that differ by rounding alone."""

from __future__ import annotations

import pytest

from sqlanon.domain.numbers import levelled, without_noise


@pytest.mark.parametrize("value", [5e-17, -1.1e-16, 0.0, 4.7e-14])
def test_what_is_0_but_for_rounding_is_0(value: float) -> None:
    assert without_noise(value) == 0
    assert str(without_noise(value)) == "0.0"


@pytest.mark.parametrize("value", [None, 1e-11, -1e-9, 1.0, 1e300])
def test_other_values_stay(value: float | None) -> None:
    assert without_noise(value) == value


def test_values_next_to_each_other_are_one() -> None:
    values = [2.3419779126541624, 2.3419779126541633, 0.0, 5e-17, 1e12, 1e12 + 1, 1e12 + 1000]
    levels = levelled(values)
    assert levels[values[1]] == levels[values[0]] == values[0]
    assert levels[5e-17] == 0
    assert levels[1e12 + 1] == 1e12
    assert levels[1e12 + 1000] == 1e12 + 1000
    assert set(levels) == set(values)
    assert levelled([]) == {}
