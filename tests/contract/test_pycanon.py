"""The macros against pyCANON, an independent implementation: equal where it is right, and where it is not.

pyCANON computes what a table achieves, over rows of pandas. The tests below the line
"Where pyCANON is wrong" show its answer and ours on tables small enough to work out by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import e, exp, floor, inf, log
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycanon import anonymity

from sqlanon.sql.questions.macros import macro_definitions
from tests.support.database import one_thread

QUASI = ["age", "zip"]
ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xy"), st.integers(0, 3)), min_size=1, max_size=12)
# Classes that hold two different values at least.
DIVERSE = st.lists(st.text("abcd", max_size=5).map(lambda letters: "ab" + letters), min_size=1, max_size=4)
quick = settings(deadline=None, max_examples=20)


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        opened.execute("CREATE SCHEMA anon")
        for definition in macro_definitions():
            opened.execute(definition)
        yield opened


def frame(rows: Sequence[tuple[Any, Any, Any]]) -> pd.DataFrame:
    """A table; its sensitive values are categories if they are text and numbers if they are numbers."""
    return pd.DataFrame(rows, columns=[*QUASI, "s"])


def of_classes(*classes: str) -> pd.DataFrame:
    """A table with a class for each text, whose letters are the sensitive values."""
    return frame([(place, "x", letter) for place, letters in enumerate(classes) for letter in letters])


def ours(connection: Any, model: str, table: pd.DataFrame, **given: str) -> Any:
    """What our macro says is achieved."""
    connection.register("patients", table)
    sensitive = "" if model == "k_anonymity" else ", 's'"
    arguments = "".join(f", {name} => {value}" for name, value in given.items())
    (row,) = connection.execute(f"FROM anon.{model}('patients', ['age', 'zip']{sensitive}{arguments})").fetchall()
    return row[0]


def theirs(function: Callable[..., Any], table: pd.DataFrame) -> Any:
    return function(table, QUASI, ["s"])


@pytest.mark.long
@quick
@given(rows=ROWS, text=st.booleans())
def test_where_it_is_right_we_agree(connection: Any, rows: list[tuple[int, str, int]], text: bool) -> None:
    table = frame([(age, zip_code, "abcd"[s] if text else s) for age, zip_code, s in rows])
    assert ours(connection, "k_anonymity", table) == anonymity.k_anonymity(table, QUASI)
    alpha, k = theirs(anonymity.alpha_k_anonymity, table)
    assert ours(connection, "alpha_k_anonymity", table) == pytest.approx(alpha)
    assert ours(connection, "k_anonymity", table) == k
    assert ours(connection, "l_diversity", table) == theirs(anonymity.l_diversity, table)
    beta = theirs(anonymity.basic_beta_likeness, table)
    assert ours(connection, "beta_likeness", table) == pytest.approx(beta, abs=1e-12)
    delta = theirs(anonymity.delta_disclosure, table)
    assert ours(connection, "delta_disclosure", table, absent="'ignored'") == pytest.approx(delta, abs=1e-12)
    if text or table["s"].nunique() > 1:
        distance = "'equal'" if text else "'ordered'"
        found = ours(connection, "t_closeness", table, distance=distance)
        assert found == pytest.approx(theirs(anonymity.t_closeness, table), abs=1e-12)


@pytest.mark.long
@quick
@given(classes=DIVERSE)
def test_its_entropy_l_is_ours_rounded_down(connection: Any, classes: list[str]) -> None:
    table = of_classes(*classes)
    found = ours(connection, "l_diversity", table, variant="'entropy'")
    # What a whole number comes to is another test.
    assert theirs(anonymity.entropy_l_diversity, table) in {floor(found - 1e-9), floor(found + 1e-9)}
    assume(abs(found - round(found)) > 1e-9)
    assert theirs(anonymity.entropy_l_diversity, table) == floor(found)


@pytest.mark.long
@quick
@given(rows=ROWS)
def test_its_enhanced_beta_is_ours_where_some_beta_is_enough(connection: Any, rows: list[tuple[int, str, int]]) -> None:
    table = frame(rows)
    found = ours(connection, "beta_likeness", table, variant="'enhanced'")
    assume(found < inf)
    assert theirs(anonymity.enhanced_beta_likeness, table) == pytest.approx(found, abs=1e-12)


@pytest.mark.long
@quick
@given(classes=st.lists(st.tuples(st.integers(2, 4), st.integers(1, 3)), min_size=1, max_size=4))
def test_its_recursive_c_is_ours_where_values_are_equally_frequent(
    connection: Any, classes: list[tuple[int, int]]
) -> None:
    """It gives the least whole c above the ratio, for the l that the table achieves."""
    table = of_classes(*("abcd"[:values] * times for values, times in classes))
    c, reached = theirs(anonymity.recursive_c_l_diversity, table)
    found = ours(connection, "l_diversity", table, variant="'recursive'", l=str(reached))
    assert c == floor(found + 1e-9) + 1


# Where pyCANON is wrong.


def test_recursive_diversity_compares_the_most_frequent_value_not_the_rarest(connection: Any) -> None:
    """With 3, 1, 1 and 3, 1 rows (c,2)-diversity needs c > 3: 3 < c * 1 in the second class. It says 1."""
    table = of_classes("aaabc", "aaab")
    assert tuple(theirs(anonymity.recursive_c_l_diversity, table)) == (1, 2)
    assert ours(connection, "l_diversity", table, variant="'recursive'", l="2") == 3


@quick
@given(classes=DIVERSE)
def test_its_recursive_c_never_promises_less_than_ours(connection: Any, classes: list[str]) -> None:
    table = of_classes(*classes)
    c, reached = theirs(anonymity.recursive_c_l_diversity, table)
    assert reached > 1
    assert c <= floor(ours(connection, "l_diversity", table, variant="'recursive'", l=str(reached)) + 1e-9) + 1


@pytest.mark.parametrize("values", [2, 3, 4, 6, 7, 8])
def test_equally_frequent_values_have_the_entropy_of_their_number(connection: Any, values: int) -> None:
    """It rounds e to the power of H down, which falls short of a whole number by less than 1e-15."""
    table = of_classes("abcdefgh"[:values])
    assert theirs(anonymity.entropy_l_diversity, table) == values - 1
    assert ours(connection, "l_diversity", table, variant="'entropy'") == pytest.approx(values)
    found = ours_verdict(connection, table, f"variant => 'entropy', l => {values}")
    assert found == (True, 0)


def ours_verdict(connection: Any, table: pd.DataFrame, arguments: str) -> tuple[bool, int]:
    connection.register("patients", table)
    query = f"SELECT satisfied, violations FROM anon.l_diversity('patients', ['age', 'zip'], 's', {arguments})"
    (row,) = connection.execute(query).fetchall()
    return row[0], row[1]


def test_entropy_l_is_not_a_whole_number(connection: Any) -> None:
    table = of_classes("aaab")
    assert theirs(anonymity.entropy_l_diversity, table) == 1
    entropy = -(3 * log(3 / 4) + log(1 / 4)) / 4
    assert ours(connection, "l_diversity", table, variant="'entropy'") == pytest.approx(exp(entropy)) == e**entropy


def test_a_value_that_a_class_lacks_discloses_without_bound(connection: Any) -> None:
    """Whoever is in the second class does not have b: |ln(0)| is below no delta. It leaves such values out."""
    table = of_classes("aab", "aaa")
    assert theirs(anonymity.delta_disclosure, table) == pytest.approx(log(2))
    assert ours(connection, "delta_disclosure", table) == inf


def test_a_gain_beyond_the_logarithm_satisfies_no_enhanced_beta(connection: Any) -> None:
    """A value with a share of 1/2 gains 1, and -ln(1/2) is the most that it may. It clamps the gain instead."""
    table = of_classes("aa", "bb")
    assert theirs(anonymity.enhanced_beta_likeness, table) == pytest.approx(log(2))
    assert ours(connection, "beta_likeness", table, variant="'enhanced'") == inf
    assert ours(connection, "beta_likeness", table) == 1


def test_a_row_with_null_for_a_quasi_identifier_is_a_class(connection: Any) -> None:
    """NULL is one of the values that a row can be found by. pandas leaves the row out."""
    table = frame([("40", "x", s) for s in "abc"] + [(None, "x", "a")])
    assert anonymity.k_anonymity(table, QUASI) == 3
    assert theirs(anonymity.l_diversity, table) == 3
    assert ours(connection, "k_anonymity", table) == 1
    assert ours(connection, "l_diversity", table) == 1


def test_null_is_a_sensitive_value(connection: Any) -> None:
    table = frame([("40", "x", "a"), ("40", "x", None)])
    with pytest.raises(TypeError):
        theirs(anonymity.l_diversity, table)
    assert ours(connection, "l_diversity", table) == 2
    assert ours(connection, "alpha_k_anonymity", table) == 0.5


def test_the_order_of_the_rows_does_not_matter(connection: Any) -> None:
    """It takes the labels of the index for places."""
    table = of_classes("aaab", "bbbc")
    shuffled = table.iloc[[0, 4, 1, 5, 2, 6, 3, 7]]
    assert theirs(anonymity.t_closeness, table) == 0.375
    assert theirs(anonymity.t_closeness, shuffled) == 0.125
    assert ours(connection, "t_closeness", table) == ours(connection, "t_closeness", shuffled) == 0.375
    half = table[table["age"] == 1]
    with pytest.raises(IndexError):
        theirs(anonymity.l_diversity, half)
    assert ours(connection, "l_diversity", half) == 2


def test_a_single_number_is_as_close_as_can_be(connection: Any) -> None:
    table = frame([(1, "x", 7), (1, "x", 7), (2, "x", 7)])
    with pytest.raises(ZeroDivisionError):
        theirs(anonymity.t_closeness, table)
    assert ours(connection, "t_closeness", table, distance="'ordered'") == 0
