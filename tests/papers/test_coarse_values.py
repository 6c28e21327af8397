"""The two releases of the t-closeness paper (Li, Li and Venkatasubramanian 2007) with labels in place of diseases.

The 3-diverse release, which similar values of a class give away, has one label in that class: what was an attack by
similarity is one by homogeneity then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from sqlanon import PrivacyViolation
from tests.oracles import coarse_values as oracle
from tests.oracles.models import equal_t_closeness
from tests.oracles.models.support import Table
from tests.support.database import template

DISEASES = (
    ("flu", "respiratory infection", "respiratory"),
    ("pneumonia", "respiratory infection", "respiratory"),
    ("bronchitis", "respiratory infection", "respiratory"),
    ("pulmonary edema", "vascular lung", "respiratory"),
    ("pulmonary embolism", "vascular lung", "respiratory"),
    ("gastric ulcer", "stomach", "digestive"),
    ("stomach cancer", "stomach", "digestive"),
    ("gastritis", "stomach", "digestive"),
    ("colitis", "colon", "digestive"),
    ("colon cancer", "colon", "digestive"),
)
TREE = {value: labels for value, *labels in DISEASES}
# The diseases of the nine rows, in the order of the paper's table.
ROWS = (
    *("gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia"),
    "stomach cancer",
)
DIVERSE, CLOSE = ((1, 2, 3), (4, 5, 6), (7, 8, 9)), ((1, 3, 8), (4, 5, 6), (2, 7, 9))
F = Fraction
Figures = tuple[int, Fraction, Fraction, Fraction]
THIRD = F(1, 3)

# By class: labels, the highest share, the equal distance, the highest belief in one value.
EXPECTED: dict[tuple[Sequence[Sequence[int]], int], list[Figures]] = {
    (DIVERSE, 0): [(3, THIRD, F(4, 9), THIRD)] * 3,
    (DIVERSE, 1): [(1, F(1), F(4, 9), F(2, 5)), *[(2, F(2, 3), F(2, 9), THIRD)] * 2],
    (CLOSE, 0): [(3, THIRD, F(5, 9), THIRD), (3, THIRD, F(4, 9), THIRD), (3, THIRD, THIRD, THIRD)],
    (CLOSE, 1): [(2, F(2, 3), F(1, 9), F(4, 15)), (2, F(2, 3), F(2, 9), THIRD), (2, F(2, 3), F(1, 9), F(4, 15))],
}
EXPECTED |= {(classes, 2): figures for (classes, level), figures in EXPECTED.items() if level == 1}


def script(classes: Sequence[Sequence[int]], level: int, required: str) -> str:
    of_row = {number: index for index, of in enumerate(classes) for number in of}
    rows = ", ".join(f"({of_row[number]}, '{disease}')" for number, disease in enumerate(ROWS, start=1))
    listed = ", ".join(str(row) for row in DISEASES)
    return f"""
        CREATE TABLE patients AS FROM (VALUES {rows}) AS t(area, disease);
        CREATE HIERARCHY diseases AS LEVELS (SELECT * FROM (VALUES {listed}) AS t(value, family, organ));
        CREATE POLICY p ON patients (
            area QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE USING diseases MIN LEVEL {level}
        ) REQUIRE {required}"""


@pytest.mark.parametrize(("classes", "level"), EXPECTED)
def test_figures_of_the_classes_by_level(classes: Sequence[Sequence[int]], level: int) -> None:
    expected = EXPECTED[classes, level]
    labels = oracle.at_level(TREE, level) if level else {value: value for value in TREE}
    with template(script(classes, level, "k_anonymity(k => 3), t_closeness(t => 1)")) as con:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
        rows = con.sql("SELECT area, disease FROM r ORDER BY area").fetchall()
        checked = {question: achieved for _, question, _, _, achieved, _ in con.execute("CHECK r").fetchall()}
    areas = sorted({area for area, _ in rows})
    table = Table(
        {area: [place for place, row in enumerate(rows) if row[0] == area] for area in areas},
        [disease for _, disease in rows],
    )
    figures = [
        (
            len(table.counts(area)),
            F(max(table.counts(area).values()), len(table.classes[area])),
            equal_t_closeness.distance(table, area),
            max(oracle.belief(labels, [table.values[i] for i in table.classes[area]], ROWS, value) for value in ROWS),
        )
        for area in areas
    ]
    assert figures == expected
    assert checked["equal_t_closeness"] == pytest.approx(float(max(distance for _, _, distance, _ in expected)))
    assert Counter(disease for _, disease in rows) == Counter(oracle.recoded(labels, ROWS))


def test_a_class_of_similar_values_is_one_label_and_not_diverse() -> None:
    with template(script(DIVERSE, 1, "l_diversity(l => 2)")) as con, pytest.raises(PrivacyViolation):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
    with template(script(DIVERSE, 0, "l_diversity(l => 3)")) as con:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
