"""Figures of random classes against what the papers write, summed naively."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from sqlanon.sql.questions.statistics import load_statistic, statistic_names
from tests.oracles import disclosure as oracle
from tests.support.draws import draws
from tests.support.figures import FRACTION, OF_MORE, SUPPRESSED, classes_of, measured, tables

pytestmark = pytest.mark.drawn


@settings(max_examples=draws(9, long=50), deadline=None)
@given(tables, st.booleans())
def test_figures_are_what_the_papers_write(table: list[tuple[Any, ...]], labelled: bool) -> None:
    classes = classes_of(table)
    sizes = [len(rows_of_class) for rows_of_class in classes]
    expected = {
        **oracle.disclosure(classes, above=0.2),
        **oracle.class_sizes(sizes, SUPPRESSED),
        **oracle.linkage(sizes),
        **oracle.population_uniqueness(sizes, Fraction(FRACTION)),
    }
    figures = measured(table, labelled=labelled)
    assert figures.keys() == expected.keys()
    for name, value in expected.items():
        assert figures[name] == (None if value is None else pytest.approx(value, abs=1e-9, rel=1e-9)), name


@settings(max_examples=draws(5, long=15), deadline=None)
@given(tables.filter(bool))
def test_the_divergence_is_scipy_s(table: list[tuple[Any, ...]]) -> None:
    """SciPy gives the square root of the divergence, which turns a rounding error of 1e-16 into one of 1e-8."""
    values = sorted({str(row[-1]) for row in table})
    classes = [[str(value) for value in rows_of_class] for rows_of_class in classes_of(table)]
    whole = [sum(rows_of_class.count(value) for rows_of_class in classes) for value in values]
    worst = max(jensenshannon(whole, [rows_of_class.count(value) for value in values]) for rows_of_class in classes)
    assert measured(table)["p_loss"] == pytest.approx(worst**2, abs=1e-8)


@settings(max_examples=draws(4, long=50), deadline=None)
@given(tables.filter(bool))
def test_what_is_said_to_fall_falls_where_classes_are_merged(table: list[tuple[Any, ...]]) -> None:
    first, *others = {row[:2] for row in table}
    merged = [(*(first if row[:2] in others[:1] else row[:2]), row[2]) for row in table]
    before, after = measured(table), measured(merged)
    for name in statistic_names("figures"):
        statistic = load_statistic("figures", name)
        if not statistic.falls or name in OF_MORE:
            continue
        for figure in statistic.columns:
            assert (after[figure] or 0) <= (before[figure] or 0) + 1e-9, figure
    for figure in ("p_loss", "p_loss_mean"):
        assert after[figure] <= before[figure] + 1e-9, figure
