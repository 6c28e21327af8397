"""What a requirement promises of an attack: a release that satisfies it is never above the bound, a raw table is.

Every line `-- bound:` of the files under `sql/attacks/` is tried, on random tables and with random arguments.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, PrivacyViolation
from sqlanon.sql.questions.load import load_question
from sqlanon.sql.questions.statistics import attack_names, load_statistic, statistic_names

# By the name of a question, how it is required, and of an attack, how it is run; drawn anew for each table.
REQUIRED = {
    "probabilistic_l_diversity": lambda draw: (
        f"l_diversity(l => {draw.choice(['2', '2.5', '3'])}, variant => 'probabilistic')"
    ),
    "alpha_k_anonymity": lambda draw: f"alpha_k_anonymity(alpha => {draw.choice([0.34, 0.4, 0.6])}, k => 2)",
    "recursive_l_diversity": lambda draw: (
        f"l_diversity(l => {draw.choice([2, 3])}, c => {draw.choice([1.5, 3])}, variant => 'recursive')"
    ),
    "ck_safety": lambda draw: f"ck_safety(c => {draw.choice([0.8, 0.9])}, k => 1)",
    "privacy_skyline": lambda draw: f"privacy_skyline(c => {draw.choice([0.8, 0.9])}, l => 1)",
    "basic_beta_likeness": lambda draw: f"beta_likeness(beta => {draw.choice([0.5, 1.2])})",
    "enhanced_beta_likeness": lambda draw: f"beta_likeness(beta => {draw.choice([0.5, 1.2])}, variant => 'enhanced')",
    "delta_disclosure": lambda draw: f"delta_disclosure(delta => {draw.choice([0.9, 1.6])}, absent => 'ignored')",
    "k_anonymity": lambda draw: f"k_anonymity(k => {draw.choice([2, 5])})",
    "k_map": lambda draw: f"k_map(k => {draw.choice([3, 6])})",
    "delta_presence": lambda draw: f"delta_presence(min => 0, max => {draw.choice([0.6, 0.8])})",
    "equal_t_closeness": lambda draw: f"t_closeness(t => {draw.choice([0.15, 0.3])})",
}
RUN = {
    "definetti": "definetti(rounds => 0)",
    "linkage": "linkage(against => everybody)",
    "linkage_journalist": "linkage(against => everybody)",
    "linkage_presence": "linkage(against => everybody)",
    "linkage_prosecutor": "linkage(against => everybody)",
    "homogeneity": "homogeneity",
    "background": "background(values => 1)",
    "skewness": "skewness(ratio => 2)",
    "skewness_difference": "skewness(difference => 0.1)",
}
BOUNDS = [
    (file, question) for file in statistic_names("attacks") for question, _ in load_statistic("attacks", file).bounds
]
# Models that speak of a public table.
AGAINST = {"k_map": "AGAINST everybody", "delta_presence": "AGAINST everybody"}
# Models of all classes of a release together.
WHOLE = ("ck_safety", "privacy_skyline")
TABLES = 2


def _table(con: Connection, draw: random.Random) -> None:
    rows = [
        [draw.randrange(40), draw.choice("uvw"), draw.choices("abcde", weights=[5, 4, 3, 3, 2])[0]] for _ in range(120)
    ]
    con.execute("CREATE OR REPLACE TABLE people (age INTEGER, ward VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    others = [[draw.randrange(40), draw.choice("uvw")] for _ in range(40)]
    con.execute("CREATE OR REPLACE TABLE everybody AS SELECT age, ward FROM people")
    con.duckdb.executemany("INSERT INTO everybody VALUES (?, ?)", others)


def _row(con: Connection, target: str, file: str) -> tuple[Any, ...]:
    rows = con.execute(f"ATTACK {target} WITH {RUN[file]}").fetchall()
    return next(tuple(row) for row in rows if row[0] == file)


def test_every_bound_is_of_a_model_and_is_tried() -> None:
    assert BOUNDS
    for file, question in BOUNDS:
        assert load_question(question).name == question
        assert question in REQUIRED
        assert file in RUN
    assert {load_statistic("attacks", file).model for file in RUN} <= set(attack_names())


@pytest.mark.one_in(18)
@pytest.mark.parametrize(("file", "question"), BOUNDS)
def test_a_release_is_never_above_what_its_requirement_promises(file: str, question: str) -> None:
    draw = random.Random(f"{file} {question}")
    reached, bounds = [], []
    with sqlanon.connect(config={"threads": "1"}) as con:
        con.execute("CREATE HIERARCHY ages AS INTERVALS (2, 4, 8, 16)")
        for _ in range(TABLES):
            _table(con, draw)
            con.execute(
                "CREATE OR REPLACE POLICY p ON people (age QUASI IDENTIFIER USING ages, ward QUASI IDENTIFIER, "
                f"disease SENSITIVE) {AGAINST.get(question, '')} REQUIRE {REQUIRED[question](draw)}"
            )
            for method in ("mondrian", "generalization(suppression => 0.3)", "anatomy(l => 2)"):
                if file == "definetti" and not method.startswith("anatomy"):
                    # There are no buckets to learn from.
                    continue
                if question in WHOLE and method == "mondrian":
                    # It makes classes one by one.
                    continue
                if (question in AGAINST or file.startswith("linkage")) and not method.startswith("generalization"):
                    # Where ranges overlap, a person fits several classes; buckets show values apart.
                    continue
                try:
                    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
                except PrivacyViolation:
                    # This table cannot satisfy it this way.
                    continue
                *_, highest, _, bound, _ = _row(con, "r", file)
                if bound is not None:
                    assert highest <= bound + 1e-12
                    reached.append(highest)
                    bounds.append(bound)
            if file == "definetti":
                continue
            raw = _row(con, "people (age, ward) SENSITIVE disease", file)
            assert raw[6] is None
            # Who publishes the rows as they are falls to the attack.
            assert raw[4] > max(bounds, default=0.999) - 1e-9 or raw[3] > 0
    assert reached
    # A bound that nothing comes near would be met by anything.
    assert max(value / bound for value, bound in zip(reached, bounds, strict=True)) > 0.3


def test_requirements_that_promise_nothing_have_no_bound() -> None:
    with sqlanon.connect() as con:
        _table(con, random.Random(1))
        con.execute(
            "CREATE POLICY p ON people (age QUASI IDENTIFIER, disease SENSITIVE, ward SENSITIVE) "
            "REQUIRE k_anonymity(k => 5), l_diversity(l => 2, variant => 'probabilistic', attribute => disease), "
            "l_diversity(l => 2, variant => 'probabilistic', jointly => true)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
        rows = con.execute("ATTACK r WITH homogeneity").fetchall()
        # A value of one attribute may be frequent where no pair is.
        assert [(row[1], row[6]) for row in rows] == [("disease", 0.5), ("ward", None)]
        assert [row[1] for row in con.execute("ATTACK r SENSITIVE WARD WITH homogeneity").fetchall()] == ["ward"]
