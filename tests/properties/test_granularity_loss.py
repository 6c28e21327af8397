"""The granularity loss of each attribute of random releases, against counting the values below each published label."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sqlanon import PrivacyViolation, SqlanonError
from tests.support.database import new_database, template
from tests.support.draws import draws
from tests.support.mondrian import Case, cases
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

AGE, SEX, JOB, DISEASE = 'a "ge"', "it's", "select", "é 中"
COLUMNS = tuple(map(quoted, (AGE, SEX, JOB, DISEASE)))
# Of the values that are listed no row has the last.
JOBS = {"baker": "food", "cook": "food", "nurse": "health", "vet": "health", "monk": "other"}
Row = tuple[Hashable, ...]

rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-12, 30)),
        st.sampled_from(("F", "M", "", None)),
        st.sampled_from(("baker", "cook", "nurse", "vet")),
        st.sampled_from(("flu", "cold", None)),
    ),
    min_size=1,
    max_size=20,
)


def below_age(label: object, ages: Sequence[Hashable]) -> int:
    """How many of the ages are below a label: a value, [low,high), [low, high] or `*`."""
    if label == "*":
        return len(ages)
    if label is None or "," not in str(label):
        return 1
    low, high = (int(end) for end in str(label)[1:-1].split(","))
    return sum(isinstance(age, int) and low <= age < high + str(label).endswith("]") for age in ages)


def below_job(label: object) -> int:
    return len(JOBS) if label == "*" else max(sum(group == label for group in JOBS.values()), 1)


@settings(max_examples=draws(2, long=20), deadline=None)
@given(
    rows,
    st.sampled_from(
        (
            "generalization(suppression => 0)",
            "generalization(suppression => 0.5)",
            "generalization(suppression => 0.5, recoding => 'local')",
            "anatomy(l => 1)",
        )
    ),
)
def test_every_cell_costs_what_is_below_its_label(table: list[Row], method: str) -> None:
    listed = ", ".join(f"('{job}', '{group}')" for job, group in JOBS.items())
    con = template(
        "CREATE HIERARCHY fives AS INTERVALS (5, 10)",
        f"CREATE HIERARCHY jobs AS LEVELS (SELECT * FROM (VALUES {listed}) AS t (v, l))",
    )
    age, sex, job, disease = COLUMNS
    con.execute(f"CREATE TABLE people ({age} INTEGER, {sex} VARCHAR, {job} VARCHAR, {disease} VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [list(row) for row in table])
    con.execute(
        f"CREATE POLICY p ON people ({age} QUASI IDENTIFIER USING fives WEIGHT 3, {sex} QUASI IDENTIFIER, "
        f"{job} QUASI IDENTIFIER USING jobs, {disease} SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    try:
        (made, *_) = con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}").fetchall()
    except SqlanonError:
        assume(False)
    figures = {row[2]: row[3] for row in con.execute("MEASURE r WITH FIGURES (granularity_loss)").fetchall()}
    assert list(figures) == [AGE, SEX, JOB, None]
    assert figures[None] == pytest.approx(made[5])
    if method.startswith("anatomy"):
        assert figures[AGE] == made[4] / len(table)
        return
    ages, sexes = list({row[0] for row in table}), {row[1] for row in table}
    released = con.execute(f"SELECT {age}, {sex}, {job} FROM r").fetchall()
    lost = len(table) - len(released)
    costs = {
        AGE: [(below_age(label, ages) - 1) / max(len(ages) - 1, 1) for label, _, _ in released],
        SEX: [(len(sexes) - 1 if label == "*" else 0) / max(len(sexes) - 1, 1) for _, label, _ in released],
        JOB: [(below_job(label) - 1) / (len(JOBS) - 1) for _, _, label in released],
    }
    for name, cells in costs.items():
        assert figures[name] == pytest.approx((sum(cells) + lost) / len(table))


@pytest.mark.long
@settings(max_examples=draws(2, long=12), deadline=None)
@given(rows)
def test_ranges_of_numbers_count_the_values_in_them(table: list[Row]) -> None:
    con = new_database()
    con.execute("CREATE TABLE people (age INTEGER, sex VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?)", [list(row[:2]) for row in table])
    con.execute("CREATE POLICY p ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    try:
        (made, *_) = con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian").fetchall()
    except SqlanonError:
        assume(False)
    figures = {row[2]: row[3] for row in con.execute("MEASURE r WITH FIGURES (granularity_loss)").fetchall()}
    assert figures[None] == pytest.approx(made[5])
    ages = list({row[0] for row in table})
    labels = [label for (label,) in con.execute("SELECT age FROM r").fetchall()]
    # A region may have NULL beside numbers.
    assume(all(label is None or "NULL" not in str(label) for label in labels))
    costs = [(below_age(label, ages) - 1) / max(len(ages) - 1, 1) for label in labels]
    assert figures["age"] == pytest.approx(sum(costs) / len(table))


@pytest.mark.long
@settings(max_examples=draws(2, long=40), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    cases("k_anonymity", ("strict", "relaxed"), size=12),
    st.sampled_from(("range", "ancestor", "centroid", "none")),
    st.booleans(),
)
def test_what_a_release_by_regions_states_is_what_is_measured(case: Case, publish: str, bounds: bool) -> None:
    """Of columns of every type and order, with gaps between values: one number, or none where no reader has it."""
    # Texts that look like ranges can be read in several ways.
    assume(not any(isinstance(row[name], str) and "[" in row[name] for row in case.rows for name in case.names))
    assume(publish != "none" or not (bounds or case.entity))
    con = case.install()
    statement = replace(case, publish=publish).statement.replace("bounds => true", f"bounds => {bounds}")
    try:
        (made, *_) = con.execute(statement).fetchall()
    except PrivacyViolation:
        assume(False)
    figures = {row[2]: row[3] for row in con.execute("MEASURE r WITH FIGURES (granularity_loss)").fetchall()}
    assert con.duckdb.execute("SELECT loss, loss_name FROM anon.release").fetchall() == [(made[5], "granularity_loss")]
    if publish == "centroid" or figures[None] is None:
        assert None in figures.values()
        hidden = [q for name, q in zip(case.names, case.quasi, strict=True) if figures[name] is None]
        # Prefixes are computed from the values, so that nobody has their order.
        assert publish == "centroid" or all((q.hierarchy or "").startswith("PREFIXES") for q in hidden)
    else:
        assert figures[None] == pytest.approx(made[5], rel=1e-9, abs=1e-12)
    con.close()
