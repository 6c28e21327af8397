"""Rows are published, and not values: a series and an attack compare all columns beside the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, PrivacyViolation

TRUTH = {
    "Ann": ("flu", "poor"),
    "Ben": ("cold", "rich"),
    "Cem": ("gout", "mid"),
    "Dan": ("cold", "mid"),
    "Eva": ("gout", "rich"),
    "Fay": ("flu", "poor"),
}
# Ann and Fay are the only ones whose row is in both of their classes; each class has three diseases, each time.
FIRST = {"Ann": 30, "Ben": 30, "Cem": 30, "Dan": 40, "Eva": 40, "Fay": 40}
SECOND = {"Ann": 30, "Dan": 30, "Eva": 30, "Fay": 40, "Ben": 40, "Cem": 40}
TOGETHER = ["composition(max => 0.34)", "m_invariance(m => 3)"]
METHODS = ["generalization(suppression => 0)", "mondrian"]


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    for name in ("SERIES_KEY", "TOKEN_KEY"):
        monkeypatch.setenv(name, f"a {name} that nobody knows")
    with sqlanon.connect(config={"threads": "1"}) as connection:
        connection.execute("CREATE TABLE people (name VARCHAR, age INTEGER, disease VARCHAR, status VARCHAR)")
        yield connection


def fill(con: Connection, ages: dict[str, int], table: str = "people") -> None:
    con.execute(f"DELETE FROM {table}")
    rows = [(who, age, *TRUTH[who]) for who, age in ages.items()]
    con.duckdb.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", rows)


def begin(con: Connection, columns: str, required: str = "", method: str = METHODS[0]) -> str:
    """Makes a policy, a series and its first release; returns the statement that makes the second."""
    fill(con, FIRST)
    con.execute(f"CREATE OR REPLACE POLICY p ON people (name {columns}) REQUIRE k_anonymity(k => 3)")
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' {f'REQUIRE {required}' if required else ''}")
    con.execute(f"CREATE ANONYMIZED TABLE r0 AS POLICY p METHOD {method} IN SERIES s")
    fill(con, SECOND)
    return f"CREATE ANONYMIZED TABLE r1 AS POLICY p METHOD {method} IN SERIES s"


def checked(con: Connection, release: str = "r1") -> dict[tuple[str, str], tuple[object, ...]]:
    rows = con.execute(f"CHECK {release} IN SERIES s").fetchall()
    return {(row[1], row[2]): row[4:] for row in rows}


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("required", TOGETHER)
@pytest.mark.parametrize("role", ["SENSITIVE", "INSENSITIVE"])
def test_a_second_column_links_rows(con: Connection, role: str, required: str, method: str) -> None:
    create = begin(con, f"ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status {role}", required, method)
    with pytest.raises(PrivacyViolation, match=r"reaches 1\.0 where"):
        con.execute(create)
    # Releases that show the same rows again are made.
    fill(con, FIRST)
    con.execute(create)
    # Sets of rows stay the same, and each of three is one third.
    assert all(satisfied is not False for _, satisfied in checked(con).values())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("required", TOGETHER)
def test_one_column_does_not(con: Connection, required: str) -> None:
    con.execute(begin(con, "ENTITY, age QUASI IDENTIFIER, disease SENSITIVE", required))
    assert checked(con)["composition", "disease"][0] == pytest.approx(1 / 3)
    assert checked(con)["m_invariance", "disease"][0] == 3


@pytest.mark.long
def test_what_a_series_has_come_to_is_told_by_rows(con: Connection) -> None:
    con.execute(begin(con, "ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status INSENSITIVE"))
    assert checked(con) == {("composition", "disease"): (1.0, None), ("m_invariance", "disease"): (1.0, None)}
    # One release shows other columns: what is left are the values.
    con.execute("ALTER POLICY p ALTER COLUMN status IDENTIFIER")
    con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p METHOD generalization(suppression => 0) IN SERIES s")
    assert checked(con, "r2")["composition", "disease"] == (pytest.approx(1 / 3), None)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("required", TOGETHER)
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("ENTITY PSEUDONYM KEY 'TOKEN_KEY'", "name is PSEUDONYM KEY"),
        ("ENTITY, status IDENTIFIER PSEUDONYM KEY 'TOKEN_KEY'", "status is PSEUDONYM KEY"),
        ("ENTITY, status INSENSITIVE", r"status is published beside .* equal values of VARCHAR\[\]"),
        ("ENTITY, status INSENSITIVE", "equal values of INTERVAL"),
    ],
)
def test_rows_that_cannot_be_compared_are_refused(con: Connection, columns: str, words: str, required: str) -> None:
    if "values of" in words:
        kind, value = ("INTERVAL", "INTERVAL 1 DAY") if "INTERVAL" in words else ("VARCHAR[]", "[status]")
        con.duckdb.execute(f"ALTER TABLE people ALTER status TYPE {kind} USING {value}")
        con.duckdb.execute("INSERT INTO people SELECT 'p' || i, 1, 'd' || i, NULL FROM range(3) t(i)")
    else:
        fill(con, FIRST)
    con.execute(
        f"CREATE POLICY p ON people (name {columns}, age QUASI IDENTIFIER, disease SENSITIVE) "
        f"REQUIRE k_anonymity(k => 3)"
    )
    create = "ANONYMIZED TABLE r AS POLICY p METHOD {} IN SERIES {}"
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE {required}")
    con.execute("CREATE SERIES free ON POLICY p KEY 'SERIES_KEY'")
    for statement in (f"{verb} {create.format(method, 's')}" for verb in ("CREATE", "EXPLAIN") for method in METHODS):
        with pytest.raises(PolicyError, match=words):
            con.execute(statement)
    con.execute(f"CREATE {create.format(METHODS[0], 'free')}")


@pytest.mark.long
def test_tokens_that_are_drawn_anew_link_nothing(con: Connection) -> None:
    columns = "ENTITY PSEUDONYM, status IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE"
    con.execute(begin(con, columns, TOGETHER[0]))
    assert checked(con)["composition", "disease"] == (pytest.approx(1 / 3), True)


@pytest.mark.long
def test_buckets_may_have_tokens_and_other_columns(con: Connection) -> None:
    """The values of a bucket stand apart from its rows."""
    fill(con, FIRST)
    con.execute(
        "CREATE POLICY p ON people (name ENTITY PSEUDONYM KEY 'TOKEN_KEY', age QUASI IDENTIFIER, disease SENSITIVE, "
        "status INSENSITIVE) REQUIRE k_anonymity(k => 3)"
    )
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3), composition(max => 0.34)")
    for name in ("r0", "r1"):
        con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD m_invariance(m => 3) IN SERIES s")
    assert checked(con)["m_invariance", "disease"] == (3, True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", ["ALTER COLUMN status IDENTIFIER", "ALTER COLUMN status INSENSITIVE"])
def test_releases_show_the_same_columns(con: Connection, change: str) -> None:
    role = "INSENSITIVE" if change.endswith(" IDENTIFIER") else "IDENTIFIER"
    columns = f"ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status {role}"
    create = begin(con, columns, "composition(max => 1)")
    con.execute(f"ALTER POLICY p {change}")
    fill(con, FIRST)
    with pytest.raises(PolicyError, match="do not all show the same columns"):
        con.execute(create)
    assert con.execute("SHOW SERIES").fetchall() == [("s", "p", 1, 6)]


@pytest.mark.long
def test_columns_of_which_some_may_change(con: Connection) -> None:
    """Who knows which of three columns stay the same compares these alone."""
    con.execute("ALTER TABLE people ADD COLUMN visited INTEGER")
    con.duckdb.execute("INSERT INTO people SELECT 'p' || i, 1, 'd' || i, 's' || i, i FROM range(3) t(i)")
    con.execute(
        "CREATE POLICY p ON people (name ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status INSENSITIVE, "
        "visited INSENSITIVE) REQUIRE k_anonymity(k => 3)"
    )
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.5, changed => 'ignored')")
    create = "CREATE ANONYMIZED TABLE {} AS POLICY p METHOD generalization(suppression => 0) IN SERIES s"
    with pytest.raises(PolicyError, match="rows show disease, status, visited beside the quasi-identifiers"):
        con.execute(create.format("r0"))
    con.execute("ALTER POLICY p ALTER COLUMN visited IDENTIFIER")
    con.execute(create.format("r0"))
    # The status of all has changed: their diseases by themselves are still compared.
    con.duckdb.execute("UPDATE people SET status = status || '!'")
    con.execute(create.format("r1"))
    assert checked(con)["composition", "disease"] == (pytest.approx(1 / 3), True)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("variant", ["counting", "intersection"])
@pytest.mark.parametrize(
    ("columns", "certain"),
    [
        ("ENTITY, age QUASI IDENTIFIER, disease SENSITIVE", 0),
        ("ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status SENSITIVE", 2),
        ("ENTITY, age QUASI IDENTIFIER, disease SENSITIVE, status INSENSITIVE", 2),
        ("ENTITY PSEUDONYM KEY 'TOKEN_KEY', age QUASI IDENTIFIER, disease SENSITIVE", 2),
        ("ENTITY PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE, status INSENSITIVE", 2),
    ],
)
def test_an_attack_compares_rows(con: Connection, columns: str, certain: int, variant: str) -> None:
    con.execute("CREATE TABLE later AS FROM people")
    for table, ages in (("people", FIRST), ("later", SECOND)):
        fill(con, ages, table)
        con.execute(f"CREATE POLICY {table} ON {table} (name {columns}) REQUIRE k_anonymity(k => 3)")
        con.execute(
            f"CREATE ANONYMIZED TABLE {table}_release AS POLICY {table} METHOD generalization(suppression => 0)"
        )
    attack = f"ATTACK later_release WITH composition(with => people_release, variant => '{variant}')"
    [row, *_] = con.execute(attack).fetchall()
    assert row[:4] == ("composition", "disease", 6, certain)
    assert row[4] == pytest.approx(1 if certain else 1 / 3)
