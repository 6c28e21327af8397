"""The aggregate query of Xiao and Tao, Anatomy: simple and effective privacy preservation (VLDB 2006), section 1.1.

Two patients with pneumonia are in the first group of the microdata, one of them at most 30
years old with a zip code from 10001 to 20000. From the generalized table the answer is
estimated as 2 * 0.05 = 0.1, since 10 of 40 ages and 10,000 of 50,000 zip codes are asked
for; from the table with exact quasi-identifiers, in which the first group has pneumonia in
two of four rows, as 2 * 0.5 = 1.
"""

from __future__ import annotations

import pytest

from sqlanon import Connection, connect

QUERY = """
ESTIMATE SELECT count(*) AS n FROM microdata
WHERE disease = 'pneumonia' AND age <= 30 AND zipcode BETWEEN 10001 AND 20000 FROM RELEASE {}
"""


@pytest.fixture(scope="module")
def microdata() -> Connection:
    con = connect(config={"threads": "1"})
    con.execute(
        """
        CREATE TABLE microdata AS SELECT * FROM (VALUES
            (23, 'M', 11000, 'pneumonia'), (27, 'M', 13000, 'dyspepsia'), (35, 'M', 59000, 'dyspepsia'),
            (59, 'M', 12000, 'pneumonia'), (61, 'F', 54000, 'flu'), (65, 'F', 25000, 'gastritis'),
            (65, 'F', 25000, 'flu'), (70, 'F', 30000, 'bronchitis')
        ) AS t(age, sex, zipcode, disease);
        CREATE HIERARCHY ages AS INTERVALS (40, low => 21);
        CREATE HIERARCHY zipcodes AS INTERVALS (50000, low => 10001);
        CREATE POLICY generalized ON microdata (
            age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, zipcode QUASI IDENTIFIER USING zipcodes MIN LEVEL 1,
            disease SENSITIVE
        ) REQUIRE k_anonymity(k => 4), l_diversity(l => 2);
        CREATE POLICY bucketized ON microdata (
            age QUASI IDENTIFIER, sex QUASI IDENTIFIER, zipcode QUASI IDENTIFIER, disease SENSITIVE
        ) REQUIRE k_anonymity(k => 4), l_diversity(l => 2);
        CREATE ANONYMIZED TABLE table_2 AS POLICY generalized METHOD generalization;
        CREATE ANONYMIZED TABLE table_3 AS POLICY bucketized METHOD mondrian(publish => 'none');
        """
    )
    return con


def test_the_generalized_table(microdata: Connection) -> None:
    labels = microdata.duckdb.execute("SELECT DISTINCT age, sex, zipcode FROM table_2 ORDER BY age").fetchall()
    assert labels == [("[21,61)", "M", "[10001,60001)"), ("[61,101)", "F", "[10001,60001)")]
    ((value, _, low, high, uniform),) = microdata.sql(QUERY.format("table_2")).fetchall()
    assert value == pytest.approx(2 * 0.05)
    assert (low, high, uniform) == (0, 2, "age, zipcode")


def test_the_table_with_exact_quasi_identifiers(microdata: Connection) -> None:
    groups = microdata.duckdb.execute("SELECT list(age ORDER BY age) FROM table_3 GROUP BY bucket ORDER BY min(age)")
    assert groups.fetchall() == [([23, 27, 35, 59],), ([61, 65, 65, 70],)]
    ((value, _, low, high, uniform),) = microdata.sql(QUERY.format("table_3")).fetchall()
    assert value == pytest.approx(1.0)
    assert (low, high, uniform) == (0, 2, None)
    truth = microdata.duckdb.execute(
        "SELECT count(*) FROM microdata WHERE disease = 'pneumonia' AND age <= 30 AND zipcode BETWEEN 10001 AND 20000"
    ).fetchone()
    assert truth == (1,)
