"""k-butterfly (Pei, Tao, Li and Xiao 2009), as De Capitani di Vimercati et al. (2010) sketch it, and LKC-privacy."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.domain.policy import Requirement
from sqlanon.sql.questions.ask import bind_requirement
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


# Mohammed, Fung, Hung and Lee, Anonymizing healthcare data (2009): the patients of its first table.
SURGERIES = [
    ("Janitor", "M", 34, "Transgender"), ("Doctor", "M", 58, "Plastic"), ("Mover", "M", 34, "Transgender"),
    ("Lawyer", "M", 24, "Vascular"), ("Mover", "M", 58, "Urology"), ("Janitor", "M", 44, "Plastic"),
    ("Doctor", "M", 24, "Urology"), ("Lawyer", "F", 58, "Plastic"), ("Doctor", "F", 44, "Vascular"),
    ("Carpenter", "F", 63, "Vascular"), ("Technician", "F", 63, "Plastic"),
]  # fmt: skip
KINDS = {
    **dict.fromkeys(("Janitor", "Mover"), "Non-Technical"),
    **dict.fromkeys(("Doctor", "Lawyer"), "Professional"),
    **dict.fromkeys(("Carpenter", "Technician"), "Technical"),
}


def surgeries(rows: list[tuple[str, str, str, str]]) -> sqlanon.Connection:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE surgeries (job VARCHAR, sex VARCHAR, age VARCHAR, surgery VARCHAR)")
    for row in rows:
        con.duckdb.execute("INSERT INTO surgeries VALUES (?, ?, ?, ?)", list(row))
    return con


def least_class(rows: list[tuple[str, str, str, str]], most: int) -> int:
    """The least number of rows that agree on any one to `most` columns."""
    sets = [places for size in range(1, most + 1) for places in combinations(range(3), size)]
    return min(min(Counter(tuple(row[place] for place in places) for row in rows).values()) for places in sets)


def test_each_set_of_a_size_is_asked_about() -> None:
    as_they_are = [(job, sex, str(age), surgery) for job, sex, age, surgery in SURGERIES]
    coarse = [(KINDS[job], sex, "[1,60)" if age < 60 else "[60,99)", surgery) for job, sex, age, surgery in SURGERIES]
    for rows, k in ((as_they_are, 1), (coarse, 2)):
        con = surgeries(rows)
        for size in (1, 2, 3):
            answer = con.execute(
                f"CHECK surgeries (job, sex, age) SENSITIVE surgery REQUIRE k_anonymity(k => 2, on => EACH {size})"
            ).fetchall()
            names = [f"({', '.join(names)})" for names in combinations(("job", "sex", "age"), size)]
            wanted = [f"k_anonymity on {name}" for name in names] if 1 < size < 3 else None
            assert wanted is None or [row[1] for row in answer] == wanted
            assert len(answer) == comb(3, size)
            assert min(row[4] for row in answer) == least_class(rows, size)
        assert min(row[4] for row in answer) == k


def test_each_set_is_kept_by_a_policy_and_asked_of_live_views() -> None:
    con = surgeries([(job, sex, str(age), surgery) for job, sex, age, surgery in SURGERIES])
    listed = ", ".join(f"('{job}', '{kind}')" for job, kind in KINDS.items())
    con.execute(f"CREATE HIERARCHY kinds AS LEVELS (FROM (VALUES {listed}) AS t)")
    con.execute(
        "CREATE POLICY p ON surgeries (job QUASI IDENTIFIER USING kinds, sex QUASI IDENTIFIER, age QUASI IDENTIFIER, "
        "surgery SENSITIVE) REQUIRE k_anonymity(k => 2, on => EACH 2)"
    )
    for kind in ("TABLE", "VIEW"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED {kind} r AS POLICY p METHOD generalization(suppression => 0.5)")
        rows = con.duckdb.execute("SELECT job, sex, age, surgery FROM r").fetchall()
        assert rows
        assert least_class(rows, 2) >= 2
        assert [row[-1] for row in con.execute("CHECK r").fetchall()] == [True] * 3


@pytest.mark.parametrize(("on", "message"), [("EACH 4", "no set has 4"), ("EACH 0", "no set has 0")])
def test_a_size_that_no_set_has_is_refused(on: str, message: str) -> None:
    con = surgeries([])
    with pytest.raises(sqlanon.PolicyError, match=message):
        con.execute(f"CHECK surgeries (job, sex, age) REQUIRE k_anonymity(k => 2, on => {on})")


def test_too_many_sets_are_refused_and_python_says_each_too() -> None:
    columns = [f"q{number}" for number in range(20)]
    with pytest.raises(sqlanon.PolicyError, match="184756 sets of 10"):
        bind_requirement(Requirement("k_anonymity", (("k", 2), ("on", "each 10"))), quasi=columns)
    assert len(bind_requirement(Requirement("k_anonymity", (("k", 2), ("on", "each 2"))), quasi=columns)) == 190
    # A column of that name is meant where there is one.
    (bound,) = bind_requirement(Requirement("k_anonymity", (("k", 2), ("on", "each 2"))), quasi=["each 2", "q"])
    assert bound.on == ("each 2",)
    con = surgeries([])
    columns = ["job", "sex", "age"]
    asked = sqlanon.KAnonymity(k=2, on="each 2")
    policy = sqlanon.Policy("typed", source="surgeries", quasi_identifiers=columns, require=[asked])
    con.execute(policy.sql())
    [(written,)] = con.execute("DESCRIBE POLICY typed AS SQL").fetchall()
    con.execute(written.replace("CREATE POLICY", "CREATE OR REPLACE POLICY"))
