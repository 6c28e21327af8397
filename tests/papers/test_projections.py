"""k-butterfly (Pei, Tao, Li and Xiao 2009), as De Capitani di Vimercati et al. (2010) sketch it: two sets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from tests.oracles.butterfly import is_butterfly
from tests.support.draws import draws
from tests.support.policies import BUDGET

BY_BORN, BY_SEX, TOGETHER = (0, 1), (0, 2), (0, 1, 2)
ROWS = [
    *[(941, born, sex) for born in (1940, 1950) for sex in "FM"],
    *[(942, 1940, "F")] * 2,
    *[(942, 1960, "M")] * 2,
]
LAST_ROW_F = [*ROWS[:-1], (942, 1960, "F")]
REQUIRED = "k_anonymity(k => 2, on => (zip, born)), k_anonymity(k => 2, on => (zip, sex))"


def with_rows(rows: list[tuple[object, ...]]) -> sqlanon.Connection:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE people (zip INTEGER, born INTEGER, sex VARCHAR)")
    for row in rows:
        con.duckdb.execute("INSERT INTO people VALUES (?, ?, ?)", list(row))
    return con


@pytest.mark.parametrize(("rows", "by_sex", "butterfly"), [(ROWS, 2, True), (LAST_ROW_F, 1, False)])
def test_k_of_two_sets_and_of_both_together(rows: list[tuple[object, ...]], by_sex: int, butterfly: bool) -> None:
    with with_rows(rows) as con:
        checked = con.execute(f"CHECK people (zip, born, sex) REQUIRE {REQUIRED}, k_anonymity(k => 2)").fetchall()
    assert [row[1:] for row in checked] == [
        ("k_anonymity on (zip, born)", None, 2.0, 2.0, True),
        ("k_anonymity on (zip, sex)", None, 2.0, float(by_sex), by_sex == 2),
        ("k_anonymity", None, 2.0, 1.0, False),
    ]
    assert is_butterfly(rows, BY_BORN, BY_SEX, 2) == butterfly


def test_it_is_published_as_it_is_and_explained() -> None:
    columns = "zip QUASI IDENTIFIER, born QUASI IDENTIFIER, sex QUASI IDENTIFIER"
    with with_rows(ROWS) as con:
        con.execute(f"CREATE POLICY sets ON people ({columns}) REQUIRE {REQUIRED}")
        con.execute(f"CREATE POLICY together ON people ({columns}) REQUIRE k_anonymity(k => 2)")
        explained = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE made AS POLICY sets METHOD generalization").fetchall()
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY sets METHOD generalization")
        con.execute("CREATE ANONYMIZED TABLE coarse AS POLICY together METHOD generalization")
        made, coarse = (con.duckdb.execute(f"FROM {name}").fetchall() for name in ("made", "coarse"))
    assert ("solve", "all columns together", "k is 1 for readers who know all quasi-identifiers") in explained
    assert Counter(made) == Counter(ROWS)
    # What is required of both together makes a column coarser.
    assert Counter(coarse) != Counter(ROWS)


@pytest.mark.drawn
@given(
    st.lists(
        st.tuples(st.sampled_from((1, None)), st.sampled_from((1, 2, None)), st.sampled_from(("F", "M", None))),
        max_size=9,
    ),
    st.integers(1, 3),
    st.sampled_from([(BY_BORN, BY_SEX), (TOGETHER, BY_SEX), ((1,), (2,)), (BY_BORN, (2,)), (BY_BORN, BY_BORN)]),
)
@settings(BUDGET, max_examples=draws(9, long=60))
def test_a_butterfly_is_k_anonymous_on_both_sets(
    rows: list[tuple[object, ...]], k: int, sets: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    names = ("zip", "born", "sex")
    required = dict.fromkeys(f"k_anonymity(k => {k}, on => ({', '.join(names[i] for i in of)}))" for of in sets)
    quasi = ", ".join(names[i] for i in sorted({*sets[0], *sets[1]}))
    with with_rows(rows) as con:
        checked = con.execute(f"CHECK people ({quasi}) REQUIRE {', '.join(required)}").fetchall()
    assert len(checked) == len(required)
    assert all(row[-1] for row in checked) == is_butterfly(rows, *sets, k)
