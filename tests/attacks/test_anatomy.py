"""Attacks on buckets: by order, by row numbers, by what bucket numbers say, and by buckets of one value.

Each is first shown to work on tables that are made naively. The adversary knows the source's quasi-identifiers and its
order; `person` stands for them, and the diseases serve to count the hits.
"""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon import Connection

ROWS = 2400
L = 3
# Chance alone is right about each row with 1 in l; so far above it nothing comes by chance.
DEVIATIONS = 6
CHANCE = ROWS / L + DEVIATIONS * (ROWS * (1 / L) * (1 - 1 / L)) ** 0.5
# Of a correlation of so many pairs that have nothing to do with each other.
UNRELATED = DEVIATIONS / (ROWS / L) ** 0.5

# Diseases of very different frequency, in the order of a register where the same disease comes in clusters.
SOURCE = f"""
CREATE TABLE register AS
SELECT i AS person, 20 + i * 7 % 50 AS age, 'z' || i * 5 % 40 AS zip,
    CASE WHEN hash(i) % 100 < 30 THEN 'flu' WHEN hash(i) % 100 < 55 THEN 'cold' WHEN hash(i) % 100 < 75 THEN 'ulcer'
         WHEN hash(i) % 100 < 90 THEN 'gout' ELSE 'd' || hash(i) % 7 END AS disease
FROM range({ROWS}) AS t(i) ORDER BY i;
CREATE POLICY p ON register (
    person INSENSITIVE, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE
) REQUIRE k_anonymity(k => {L});
"""
# The same closed form by hand: rows that are equal in their disease as they stand, buckets as they come.
NUMBERED = f"""
CREATE TABLE numbered AS
SELECT *, (row_number() OVER (ORDER BY disease, person) - 1) % {ROWS // L} AS bucket FROM register ORDER BY person;
CREATE TABLE naive_qi AS SELECT person, age, zip, bucket FROM numbered ORDER BY person;
CREATE TABLE naive_sensitive AS SELECT bucket, disease AS value, 1 AS count FROM numbered ORDER BY person;
"""


@pytest.fixture(params=["random", "near"], scope="module")
def con(request: pytest.FixtureRequest) -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SOURCE + NUMBERED)
    connection.execute(
        f"CREATE ANONYMIZED TABLE released AS POLICY p METHOD anatomy(l => {L}, grouping => '{request.param}')"
    )
    return connection


def number(con: Connection, query: str) -> float:
    return float(con.duckdb.execute(query).fetchall()[0][0])


def by_order(con: Connection, name: str) -> float:
    """The n-th row of a bucket is said to have its n-th value, as both tables stand."""
    return number(
        con,
        f"""
        WITH who AS (
            SELECT person, bucket, row_number() OVER (PARTITION BY bucket ORDER BY rowid) AS n FROM {name}_qi
        ), what AS (
            SELECT bucket, value, row_number() OVER (PARTITION BY bucket ORDER BY rowid) AS n FROM {name}_sensitive
        )
        SELECT count(*) FROM who JOIN what USING (bucket, n) JOIN register USING (person) WHERE value = disease
        """,
    )


def test_the_orders_of_the_two_tables_do_not_match(con: Connection) -> None:
    assert by_order(con, "naive") == ROWS
    assert by_order(con, "released") < CHANCE


def by_row_number(con: Connection, table: str) -> float:
    """The n-th row is said to be the n-th of the register."""
    return number(
        con, f"SELECT count(*) FROM {table} AS a JOIN register AS b ON a.rowid = b.rowid AND a.person = b.person"
    )


def test_row_numbers_do_not_lead_back_to_the_source(con: Connection) -> None:
    assert by_row_number(con, "naive_qi") == ROWS
    assert by_row_number(con, "released_qi") < 30


def by_bucket_number(con: Connection, name: str, what: str) -> float:
    """How bucket numbers go with what the buckets hold."""
    return abs(
        number(
            con,
            f"""
            SELECT corr(bucket, held) FROM (
                SELECT bucket, avg({what}) AS held
                FROM {name}_qi AS q JOIN register USING (person) JOIN (
                    SELECT disease, row_number() OVER (ORDER BY disease) AS code
                    FROM (SELECT DISTINCT disease FROM register)
                ) USING (disease) GROUP BY bucket
            )
            """,
        )
    )


def test_bucket_numbers_say_nothing_of_the_place_in_the_source(con: Connection) -> None:
    con.execute(f"CREATE TABLE placed_qi AS SELECT person, age, zip, rowid // {L} AS bucket FROM register")
    assert by_bucket_number(con, "placed", "person") > 0.99
    assert by_bucket_number(con, "released", "person") < UNRELATED


def test_bucket_numbers_say_nothing_of_the_values(con: Connection) -> None:
    con.execute(
        "CREATE TABLE valued_qi AS SELECT person, age, zip, "
        f"(row_number() OVER (ORDER BY disease) - 1) // {L} AS bucket FROM register"
    )
    assert by_bucket_number(con, "valued", "code") > 0.9
    assert by_bucket_number(con, "released", "code") < UNRELATED


def by_rank(con: Connection, name: str) -> float:
    """Who knows the register's order and the method dates every value: its n-th bucket has its n-th row.

    The values of a bucket are put in the order in which their rows should come in the register, and so are its rows.
    """
    return number(
        con,
        f"""
        WITH expected AS (
            SELECT bucket, value, row_number() OVER (PARTITION BY value ORDER BY bucket)
                / count(*) OVER (PARTITION BY value) AS place FROM {name}_sensitive
        ), what AS (
            SELECT bucket, value, row_number() OVER (PARTITION BY bucket ORDER BY place) AS n FROM expected
        ), who AS (
            SELECT person, bucket, row_number() OVER (PARTITION BY bucket ORDER BY person) AS n FROM {name}_qi
        )
        SELECT count(*) FROM who JOIN what USING (bucket, n) JOIN register USING (person) WHERE value = disease
        """,
    )


def test_the_source_s_order_does_not_tell_which_row_of_a_value_is_where(con: Connection) -> None:
    # Here every value begins with the first bucket, so that its n-th row is in its n-th bucket.
    con.execute("""
        CREATE TABLE ranked AS
        SELECT *, row_number() OVER (PARTITION BY disease ORDER BY person) AS bucket FROM register;
        CREATE TABLE ranked_qi AS SELECT person, age, zip, bucket FROM ranked ORDER BY random();
        CREATE TABLE ranked_sensitive AS SELECT bucket, disease AS value, 1 AS count FROM ranked ORDER BY random();
    """)
    assert by_rank(con, "ranked") > 1.5 * CHANCE
    assert by_rank(con, "released") < CHANCE


def test_no_bucket_has_one_value_only(con: Connection) -> None:
    con.execute(f"""
        CREATE TABLE sorted AS SELECT *, (row_number() OVER (ORDER BY disease) - 1) // {L} AS bucket FROM register;
        CREATE TABLE sorted_sensitive AS SELECT bucket, disease AS value, count(*) AS count FROM sorted GROUP BY ALL;
    """)
    known = (
        "SELECT coalesce(sum(count), 0) FROM (SELECT *, sum(count) OVER (PARTITION BY bucket) AS n FROM {}) WHERE {}"
    )
    assert number(con, known.format("sorted_sensitive", "count = n")) > 0.9 * ROWS
    assert number(con, known.format("released_sensitive", f"{L} * count > n")) == 0


def test_values_of_a_row_are_not_told_together(con: Connection) -> None:
    """Who knows one of a row's sensitive values learns no more of the other than its bucket says."""
    con.execute(f"""
        CREATE TABLE two AS SELECT *, 'drug for ' || disease AS drug FROM register;
        CREATE POLICY pairs ON two (person INSENSITIVE, age QUASI IDENTIFIER, disease SENSITIVE, drug SENSITIVE)
        REQUIRE k_anonymity(k => {L});
        CREATE ANONYMIZED TABLE pair AS POLICY pairs METHOD anatomy(l => {L});
        CREATE TABLE naive_pair AS SELECT q.bucket, t.disease, t.drug FROM pair_qi AS q JOIN two AS t USING (person);
    """)
    matched = "SELECT count(*) FROM {} WHERE drug = 'drug for ' || disease"
    assert number(con, matched.format("naive_pair")) == ROWS
    placed = "SELECT *, row_number() OVER (PARTITION BY bucket ORDER BY rowid) AS n FROM"
    both = f"""(
        SELECT a.value AS disease, b.value AS drug
        FROM ({placed} pair_disease) AS a JOIN ({placed} pair_drug) AS b USING (bucket, n)
    )"""
    assert number(con, matched.format(both)) < CHANCE


@pytest.mark.long
def test_a_seed_of_the_session_does_not_decide_the_buckets(con: Connection) -> None:
    shown = []
    for name in ("first", "second"):
        con.duckdb.execute("SELECT setseed(0.42)").fetchall()
        con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD anatomy(l => {L})")
        shown.append(con.duckdb.execute(f"SELECT bucket FROM {name}_qi ORDER BY person").fetchall())
    assert sum(one == other for one, other in zip(*shown, strict=True)) < 30


@pytest.mark.long
def test_rows_with_long_texts_are_mixed_over_the_whole_table() -> None:
    """Texts are sorted as words and spelled out again; with several threads and groups of rows nothing of the source's
    order is left, and the rows of a bucket stand in no order of their values, in which they were dealt out.
    """
    connection = sqlanon.connect(config={"threads": "4"})
    connection.execute("""
        CREATE TABLE long AS
        SELECT i AS person, 'a long text of few ' || i // 30000 AS place, 'd' || hash(i) % 9 AS disease
        FROM range(300000) AS t(i);
        CREATE POLICY l ON long (person INSENSITIVE, place QUASI IDENTIFIER, disease SENSITIVE)
        REQUIRE k_anonymity(k => 3);
        CREATE ANONYMIZED TABLE mixed AS POLICY l METHOD anatomy(l => 3);
        CREATE TABLE unmixed_qi AS FROM mixed_qi ORDER BY person;
    """)
    unrelated = DEVIATIONS / 300_000**0.5
    for name, related in (("unmixed", True), ("mixed", False)):
        for what in ("corr(rowid, person)", "corr(person, next)"):
            query = (
                f"SELECT {what} FROM (SELECT rowid, person, lead(person) OVER (ORDER BY rowid) AS next FROM {name}_qi)"
            )
            assert (abs(number(connection, query)) > unrelated) == related
    assert abs(number(connection, "SELECT corr(bucket, person) FROM mixed_qi")) < unrelated
    assert number(connection, "SELECT count(*) FROM mixed_qi WHERE bucket <> 1 + rowid // 3") == 0
    connection.execute("""
        CREATE TABLE told_qi AS SELECT m.* FROM mixed_qi AS m JOIN long USING (person) ORDER BY m.bucket, disease
    """)
    for name, what, related in (("told", "disease", True), ("mixed", "disease", False), ("mixed", "person", False)):
        query = f"""
            SELECT avg((next > own)::INT) FROM (
                SELECT {what} AS own, lead({what}) OVER (PARTITION BY q.bucket ORDER BY q.rowid) AS next
                FROM {name}_qi AS q JOIN long USING (person)
            )
        """
        assert (abs(number(connection, query) - 0.5) > unrelated) == related


@pytest.mark.long
@pytest.mark.one_in(2)
@pytest.mark.parametrize("grouping", ["random", "near"])
def test_which_values_make_a_bucket_larger_is_drawn(grouping: str) -> None:
    """Of 11 rows two are over: dealt out in the order of the values, they have the last two, beside the same others."""
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(
        "CREATE TABLE few AS SELECT 1 AS age, ['a', 'b', 'c', 'd', 'e'][1 + i % 5] AS disease FROM range(11) AS t(i);"
        "CREATE POLICY few ON few (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE l_diversity(l => 3)"
    )
    by_value = sorted("abcdeabcdea")
    always = {tuple(by_value[place::3]) for place in range(2)}
    assert always == {("a", "b", "c", "e"), ("a", "b", "d", "e")}
    larger = set()
    for _ in range(20):
        connection.execute(
            f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY few METHOD anatomy(l => 3, grouping => '{grouping}')"
        )
        held = "SELECT list(value ORDER BY value) FROM r_sensitive GROUP BY bucket HAVING count(*) = 4"
        larger |= {tuple(values) for (values,) in connection.duckdb.execute(held).fetchall()}
    assert larger > always
