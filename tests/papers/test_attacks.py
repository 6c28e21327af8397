"""Attacks on the hospital table, on the salaries of the t-closeness paper and on its skewed classes, to the digit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection
from tests.support.hospital import HOSPITAL, OTHERS
from tests.support.survey_releases import DISEASES, LATER, MEMBERS

FAMILIES = {
    "stomach-related": ("Gastritis", "Dyspepsia", "Peptic Ulcer", "Stomach Cancer"),
    "respiratory": ("H1N1", "Pneumonia", "Flu", "Short Breath"),
    "injury": ("Broken Leg",),
}
AREA = "zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 2 MAX LEVEL 2"
RELEASES = {
    # A: month of birth; B: year and sex.
    "a": f"dob QUASI IDENTIFIER USING birth MIN LEVEL 1 MAX LEVEL 1, sex QUASI IDENTIFIER MIN LEVEL 1, {AREA}",
    "b": f"dob QUASI IDENTIFIER USING birth MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MAX LEVEL 0, {AREA}",
}
# targets, succeeded, highest, mean.
ATTACKED = {
    ("a", "homogeneity"): (16, 4, 1, 1 / 2),
    ("b", "homogeneity"): (16, 0, 1 / 2, 1 / 2),
    ("a", "homogeneity(confidence => 0.5)"): (16, 8, 1, 1 / 2),
    ("b", "homogeneity(0.5)"): (16, 16, 1 / 2, 1 / 2),
    ("a", "background(values => 1)"): (16, 4, 1, (1 / 3 + 1 + 2 / 3 + 1 / 3) / 4),
    ("b", "background(1)"): (16, 0, 2 / 3, 2 / 3),
    ("a", "background(2)"): (16, 8, 1, 3 / 4),
    ("b", "background(2)"): (16, 16, 1, 1),
    ("a", "skewness(ratio => 4)"): (16, 16, 4, 4),
    ("b", "skewness(4)"): (16, 12, 4, 7 / 2),
    ("b", "skewness(difference => 0.375)"): (16, 8, 3 / 8, 5 / 16),
    ("a", "similarity(level => 1)"): (16, 4, 1, 5 / 8),
    ("b", "similarity(1)"): (16, 8, 1, 13 / 16),
}
# The classes in which an attack is surest, in the order of the answer.
WORST = {
    ("a", "homogeneity"): ["dob 1940-04, sex *, zip 941**", "dob 1940-06, sex *, zip 941**"],
    ("a", "background(2)"): ["dob 1940-04, sex *, zip 941**", "dob 1940-06, sex *, zip 941**"],
    ("b", "similarity(1)"): ["dob 1950, sex F, zip 941**", "dob 1950, sex M, zip 941**"],
}


@pytest.fixture(scope="module")
def hospital() -> Iterator[Connection]:
    with sqlanon.connect() as con:
        con.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
        con.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in OTHERS])
        con.execute("CREATE TABLE family (value VARCHAR, level_1 VARCHAR)")
        con.duckdb.executemany("INSERT INTO family VALUES (?, ?)", [[v, f] for f, of in FAMILIES.items() for v in of])
        con.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE)")
        con.execute("CREATE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2)")
        con.execute("CREATE HIERARCHY families AS LEVELS (FROM family)")
        for name, attributes in RELEASES.items():
            con.execute(
                f"CREATE POLICY {name} ON patients ({attributes}, disease SENSITIVE USING families) "
                "REQUIRE k_anonymity(k => 4)"
            )
            con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {name} METHOD generalization")
            con.execute(f"CREATE ANONYMIZED VIEW live_{name} AS POLICY {name} METHOD generalization")
        yield con


def figures(con: Connection, target: str, attack: str) -> tuple[Any, ...]:
    [row] = con.execute(f"ATTACK {target} WITH {attack}").fetchall()
    assert row[1] == "disease"
    return tuple(row[2:])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("release", "attack"), ATTACKED)
def test_attacks_on_the_hospital_table(hospital: Connection, release: str, attack: str) -> None:
    """A is 4-anonymous, B 3-diverse as well; B loses more to similarity."""
    *numbers, bound, worst = figures(hospital, release, attack)
    assert numbers == pytest.approx(ATTACKED[release, attack])
    assert bound is None
    expected = WORST.get((release, attack), [])
    assert worst.split("; ")[: len(expected)] == expected
    assert figures(hospital, f"live_{release}", attack)[2:] == pytest.approx([*numbers[2:], bound, worst])
    plain = f"{release} (dob, sex, zip) SENSITIVE disease USING families"
    assert figures(hospital, plain, attack)[:4] == pytest.approx(numbers)


# The voters: those of the table, the patient of 1958, and five more.
VOTERS = [row[:3] for row in HOSPITAL] + [
    ("1940-04-15", "F", "94133"),
    ("1940-06-09", "M", "94139"),
    ("1950-06-02", "F", "94141"),
    ("1971-01-01", "M", "94110"),
    ("1958-12-11", "F", "94150"),
]
# targets, succeeded, highest, mean of: identifying a row as journalist, as prosecutor, presence, disclosure.
LINKED = {
    "patients (dob, sex, zip) SENSITIVE disease": (
        (17, 16, 1, 33 / 34),
        (17, 17, 1, 1),
        (18, 16, 1, 17 / 18),
        (18, 16, 1, 17 / 18),
    ),
    "a": ((16, 0, 1 / 4, 17 / 80), (16, 0, 1 / 4, 1 / 4), (19, 4, 1, 16 / 19), (19, 0, 4 / 5, 8 / 19)),
    "b": ((16, 0, 1 / 4, 17 / 80), (16, 0, 1 / 4, 1 / 4), (19, 4, 1, 16 / 19), (19, 0, 1 / 2, 8 / 19)),
}


@pytest.mark.long
@pytest.mark.parametrize("target", [*LINKED, "live_a", "live_b"])
def test_linkage_with_the_voters(hospital: Connection, target: str) -> None:
    hospital.execute("CREATE OR REPLACE TABLE voters (dob DATE, sex VARCHAR, zip VARCHAR, name VARCHAR)")
    hospital.duckdb.executemany("INSERT INTO voters VALUES (?, ?, ?, 'somebody')", [list(row) for row in VOTERS])
    source = target
    if target.startswith("patients"):
        rows = "SELECT * FROM patients UNION ALL SELECT DATE '1958-12-11', 'F', '94142', 'Pneumonia'"
        source = target.replace("patients", f"({rows})", 1)
    answers = hospital.execute(f"ATTACK {source} WITH linkage(against => voters)").fetchall()
    by_part = {row[0]: row for row in answers}
    assert [(name, row[1]) for name, row in by_part.items()] == [
        ("linkage", "disease"),
        ("linkage_journalist", None),
        ("linkage_presence", None),
        ("linkage_prosecutor", None),
    ]
    parts = ("linkage_journalist", "linkage_prosecutor", "linkage_presence", "linkage")
    for name, expected in zip(parts, LINKED[target.removeprefix("live_")], strict=True):
        assert by_part[name][2:6] == pytest.approx(expected), name
    # Four patients or more are what k-anonymity promises; the voters are nobody's promise.
    bounds = {name: row[6] for name, row in by_part.items() if row[6] is not None}
    assert bounds == ({} if target.startswith("patients") else {"linkage_prosecutor": 1 / 4})


# Nine rows after the ICDE version of the t-closeness paper: salary in thousands, disease, and the classes by row.
SALARIES = (
    (3, "gastric ulcer"),
    (4, "gastritis"),
    (5, "stomach cancer"),
    (6, "gastritis"),
    (11, "flu"),
    (8, "bronchitis"),
    (7, "bronchitis"),
    (9, "pneumonia"),
    (10, "stomach cancer"),
)
TREE = {
    "respiratory infection": ("flu", "pneumonia", "bronchitis"),
    "vascular lung": ("pulmonary edema", "pulmonary embolism"),
    "stomach": ("gastric ulcer", "stomach cancer", "gastritis"),
    "colon": ("colitis", "colon cancer"),
}
UPPER = {
    "respiratory infection": "respiratory",
    "vascular lung": "respiratory",
    "stomach": "digestive",
    "colon": "digestive",
}
CLASSES = {"diverse": ((1, 2, 3), (4, 5, 6), (7, 8, 9)), "close": ((1, 3, 8), (4, 5, 6), (2, 7, 9))}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("release", "attack", "confidences"),
    [
        ("diverse", "similarity(level => 1)", (1, 2 / 3, 2 / 3)),
        ("close", "similarity(level => 1)", (2 / 3, 2 / 3, 2 / 3)),
        ("diverse", "similarity(within => 2)", (1, 2 / 3, 2 / 3)),
        ("close", "similarity(within => 2)", (2 / 3, 2 / 3, 1 / 3)),
        ("close", "similarity(within => 6)", (1, 1, 1)),
    ],
)
def test_similar_salaries_and_diseases(release: str, attack: str, confidences: tuple[float, ...]) -> None:
    with sqlanon.connect() as con:
        con.execute("CREATE TABLE rows_of (class INTEGER, salary INTEGER, disease VARCHAR)")
        rows = [[c, *SALARIES[row - 1]] for c, of in enumerate(CLASSES[release]) for row in of]
        con.duckdb.executemany("INSERT INTO rows_of VALUES (?, ?, ?)", rows)
        con.execute("CREATE TABLE tree (value VARCHAR, level_1 VARCHAR, level_2 VARCHAR)")
        tree = [[value, node, UPPER[node]] for node, of in TREE.items() for value in of]
        con.duckdb.executemany("INSERT INTO tree VALUES (?, ?, ?)", tree)
        con.execute("CREATE HIERARCHY tree AS LEVELS (FROM tree)")
        column = "salary" if "within" in attack else "disease USING tree"
        for number, confidence in enumerate(confidences):
            source = f"(SELECT * FROM rows_of WHERE class = {number})"
            [row] = con.execute(f"ATTACK {source} (class) SENSITIVE {column} WITH {attack}").fetchall()
            assert row[4] == pytest.approx(confidence)


@pytest.mark.parametrize(("positive", "times"), [(25, 50), (49, 98), (1, 2)])
def test_skewed_classes(positive: int, times: float) -> None:
    """Of 10,000 people 1 % are positive, of the 50 in one class `positive`."""
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE tests AS SELECT CASE WHEN i < 50 THEN 1 ELSE 2 END AS class, "
            f"i < {positive} OR i >= {10_000 - 100 + positive} AS is_positive FROM range(10000) AS t(i)"
        )
        source = "tests (class) SENSITIVE is_positive"
        [row] = con.execute(f"ATTACK {source} WITH skewness(ratio => {times})").fetchall()
        assert row[3:5] == (50, pytest.approx(times))
        assert row[7].split("; ")[0] == "class 1"


# Eight buckets of a smoker and a non-smoker, or of two non-smokers, with the diagnoses that were dealt to them.
SMOKERS = [
    *[("yn", ("cancer", "flu"))] * 3,
    ("yn", ("cancer", "cold")),
    *[("nn", ("flu", "cold"))] * 3,
    ("yn", ("flu", "cold")),
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("rounds", "beliefs"),
    [
        (0, (0.5, 0.5, 0.5)),
        (1, (0.666667, 0.714286, 0.555556)),
        (2, (0.803838, 0.831920, 0.547070)),
        (5, (0.938816, 0.921946, 1 - 0.434959)),
        (200, (0.949213, 0.925041, 1 - 0.397690)),
    ],
)
def test_buckets_of_smokers(rounds: int, beliefs: tuple[float, ...]) -> None:
    """The adversary's sureness of the smoker of buckets 1 to 3, 4 and 8; of non-smokers alone nothing is learnt."""
    with sqlanon.connect(config={"threads": "1"}) as con:
        con.execute("CREATE TABLE smokers (smokes VARCHAR, diagnosis VARCHAR)")
        pairs = [[smokes, value] for both, values in SMOKERS for smokes, value in zip(both, values, strict=True)]
        con.duckdb.executemany("INSERT INTO smokers VALUES (?, ?)", pairs)
        con.execute(
            "CREATE POLICY p ON smokers (smokes QUASI IDENTIFIER, diagnosis SENSITIVE) REQUIRE k_anonymity(k => 2)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
        # Other buckets than were dealt: those of the example.
        con.duckdb.execute("DELETE FROM r_qi; DELETE FROM r_sensitive")
        for number, (both, values) in enumerate(SMOKERS):
            for smokes, value in zip(both, values, strict=True):
                con.duckdb.execute("INSERT INTO r_qi BY NAME SELECT ? AS smokes, ? AS bucket", [smokes, number])
                con.duckdb.execute(
                    "INSERT INTO r_sensitive BY NAME SELECT ? AS bucket, ? AS value, 1 AS count", [number, value]
                )
        [row] = con.execute(f"ATTACK r WITH definetti(rounds => {rounds})").fetchall()
        first, fourth, eighth = beliefs
        assert row[:3] == ("definetti", "diagnosis", 16)
        assert row[4] == pytest.approx(max(beliefs), abs=1e-6)
        assert row[5] == pytest.approx((6 * first + 2 * fourth + 6 * 0.5 + 2 * eighth) / 16, abs=1e-6)
        # Nobody checked these buckets.
        assert row[6] is None
        if rounds > 2:
            assert row[7].split("; ")[:5] == ["bucket 0", "bucket 1", "bucket 2", "bucket 3", "bucket 7"]


def published_twice() -> Connection:
    con = sqlanon.connect(config={"threads": "1"})
    for table, members in (("first", MEMBERS), ("second", LATER)):
        con.execute(f"CREATE TABLE {table} (name VARCHAR, year INTEGER, other VARCHAR, disease VARCHAR)")
        rows = [[n, *label.split(), DISEASES[n]] for label, names in members.items() for n in names.split()]
        con.duckdb.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", rows)
        con.execute(
            f"CREATE POLICY {table} ON {table} (name ENTITY, year QUASI IDENTIFIER, other QUASI IDENTIFIER, "
            "disease SENSITIVE) REQUIRE k_anonymity(k => 4)"
        )
        con.execute(f"CREATE ANONYMIZED TABLE {table}_release AS POLICY {table} METHOD generalization")
    return con


@pytest.mark.long
def test_two_releases_about_the_same_people() -> None:
    with published_twice() as con:
        [row] = con.execute(
            "ATTACK second_release WITH composition(with => first_release, variant => 'intersection')"
        ).fetchall()
        # Of the ten who are in both: one value for six, 2/3 for Matt, Diana and Liz, 4/5 for Carol.
        assert row[:4] == ("composition", "disease", 10, 6)
        assert row[4:6] == pytest.approx((1, (6 + 3 * 2 / 3 + 4 / 5) / 10))
        for first, second in (("first", "second"), ("second", "first")):
            [row] = con.execute(f"ATTACK {second}_release WITH composition(with => {first}_release)").fetchall()
            # Twelve of all 22 are certain, also who left and who came; the other ten have two values each.
            assert row[2:6] == (22, 12, 1, pytest.approx((12 + 10 / 2) / 22))
            assert row[6] is None
        assert "year 1940, other 9414" in row[7] or "year 1940, other M" in row[7]
        con.execute("UPDATE first SET year = 1950 WHERE name = 'John'")
        with pytest.raises(sqlanon.PolicyError, match="does not have one row"):
            con.execute("ATTACK second_release WITH composition(with => first_release)")


# The sizes of q1, q2, ..., the rows with HIV, and with minimality the probability of a member of each to have it.
WITH_MINIMALITY = [
    ((2, 5), 2, (1, 0)),
    ((2, 5), 3, (1 / 3, 7 / 15)),
    ((3, 4, 5), 3, (19 / 42, 1 / 7, 3 / 14)),
    ((4, 4, 4), 4, (1 / 3, 1 / 3, 1 / 3)),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("class_sizes", "ill", "probabilities"), WITH_MINIMALITY)
def test_minimality(class_sizes: tuple[int, ...], ill: int, probabilities: tuple[float, ...]) -> None:
    """HIV at most half of a class, and q is published or not: that it is not says that some class has more."""
    with sqlanon.connect(config={"threads": "1"}) as con:
        con.execute("CREATE TABLE people (q VARCHAR, s VARCHAR)")
        rows = [f"q{i}" for i, size in enumerate(class_sizes, start=1) for _ in range(size)]
        values = ["HIV"] * ill + ["other"] * (len(rows) - ill)
        con.executemany("INSERT INTO people VALUES (?, ?)", [list(row) for row in zip(rows, values, strict=True)])
        con.execute("CREATE TABLE bounds AS SELECT 'HIV' AS value, CAST(NULL AS DOUBLE) AS low, 0.5 AS high")
        con.execute(
            "CREATE POLICY p ON people (q QUASI IDENTIFIER, s SENSITIVE) REQUIRE value_ranges(ranges => bounds)"
        )
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
        assert {q for (q,) in con.execute("SELECT q FROM r").fetchall()} == {"*"}
        sure = [max(p, 1 - p) for p in probabilities]
        mean = sum(n * p for n, p in zip(class_sizes, sure, strict=True)) / len(rows)
        for row in con.execute("ATTACK r WITH minimality").fetchall():
            assert row[1:3] == ("s", len(rows))
            assert row[4:6] == (pytest.approx(max(sure)), pytest.approx(mean))
