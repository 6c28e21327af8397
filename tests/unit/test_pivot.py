"""Policies over long tables: what is refused, and what becomes of the items."""

from __future__ import annotations

import pytest

from sqlanon.clients.session import Connection
from sqlanon.errors import DataError, PolicyError, SqlanonError, StatementError
from sqlanon.methods.slicing.options import sizes
from sqlanon.sources.column_types import sizes as input_sizes
from tests.support.ratings import RATINGS, films, rated

SLICING = "METHOD slicing(l => 2, variant => 'distinct', grouping => 'random', bucket_size => 2"


@pytest.fixture
def con() -> Connection:
    return rated(RATINGS)


def policy(source: str = "ratings", pivot: str = "PIVOT item VALUES rating", attributes: str | None = None) -> str:
    columns = 'respondent IDENTIFIER, "D" SENSITIVE' if attributes is None else attributes
    return f"CREATE POLICY films ON {source} {pivot} ({columns}) REQUIRE k_anonymity(k => 2)"


def under_caret(error: SqlanonError) -> str:
    """What of the statement's line stands at the caret, up to a blank."""
    assert error.excerpt is not None
    line, caret = error.excerpt.splitlines()[:2]
    return line[caret.index("^") :].split()[0]


@pytest.mark.parametrize(
    ("statement", "kind", "message", "at"),
    [
        (policy(pivot="PIVOT itm VALUES rating"), PolicyError, "has no column itm", "itm"),
        (policy(pivot="PIVOT item VALUES stars"), PolicyError, "has no column stars", "stars"),
        (policy(pivot="PIVOT item VALUES item"), StatementError, "item is named twice", "item"),
        (policy(pivot="PIVOT item"), StatementError, "expected VALUES", "(respondent"),
        (policy(attributes='"D" SENSITIVE'), PolicyError, "needs a column that names the respondent", "item"),
        (policy(attributes='who IDENTIFIER, "D" SENSITIVE'), PolicyError, "has no column who", "who"),
        (policy(attributes='respondent IDENTIFIER, "E" SENSITIVE'), PolicyError, "has no item E", '"E"'),
        (policy("(FROM ratings UNION ALL FROM ratings)"), DataError, "20 items .* are rated more than once", "item"),
        (policy("(FROM ratings UNION ALL SELECT 'u1', NULL, 1)"), DataError, "item is NULL in 1 row", "item"),
        (policy("(FROM ratings UNION ALL SELECT NULL, 'A', 1)"), DataError, "respondent is NULL in 1 row", "item"),
        (policy("(FROM ratings UNION ALL SELECT 'u1', 'a', 1)"), PolicyError, "A and a would be two", "item"),
        (policy("(FROM ratings UNION ALL SELECT 'u1', 'Respondent', 1)"), PolicyError, "two columns of one", "item"),
        (policy("(FROM ratings UNION ALL SELECT 'u1', '', 1)"), PolicyError, "an empty name", "item"),
        (policy(attributes='respondent IDENTIFIER PSEUDONYM, "D" SENSITIVE'), PolicyError, "is a PSEUDONYM", "CREATE"),
        (policy(attributes='respondent IDENTIFIER, "D" ENTITY'), PolicyError, "D is an ENTITY", "CREATE"),
    ],
)
def test_what_is_refused(con: Connection, statement: str, kind: type[SqlanonError], message: str, at: str) -> None:
    with pytest.raises(kind, match=message) as refused:
        con.execute(statement)
    assert under_caret(refused.value) == at
    assert con.execute("SHOW POLICIES").fetchall() == []


def test_too_many_items(con: Connection) -> None:
    with input_sizes.replaced(max_items=3), pytest.raises(PolicyError, match="at most 3 items are pivoted"):
        con.execute(policy())
    with input_sizes.replaced(max_items=4):
        con.execute(policy())


def test_an_item_that_is_new_is_not_published(con: Connection) -> None:
    films(con, "D")
    con.execute("INSERT INTO ratings VALUES ('u1', 'E', 3), ('u7', 'E', 3)")
    con.execute("DELETE FROM ratings WHERE item = 'B'")
    con.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films {SLICING})")
    names = con.duckdb.execute("SELECT DISTINCT column_name FROM duckdb_columns() WHERE table_name LIKE 'sliced_%'")
    assert {name for (name,) in names.fetchall()} == {"bucket", "A", "B", "C", "D"}
    assert con.duckdb.execute("SELECT sum(n) FROM (SELECT count(*) AS n FROM sliced_1)").fetchall() == [(7,)]
    films(con, "D")
    described = con.execute("DESCRIBE POLICY films").fetchall()
    assert [name for part, name, _ in described if part == "column"] == ["respondent", "A", "C", "D", "E"]


def test_ratings_change_after_the_policy_was_made(con: Connection) -> None:
    films(con, "D")
    con.execute("INSERT INTO ratings VALUES ('u1', 'A', 3)")
    with pytest.raises(DataError, match="1 item of ratings is rated more than once"):
        con.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films {SLICING})")


def test_a_statement_makes_the_same_policy(con: Connection) -> None:
    films(con, "D")
    described = con.execute("DESCRIBE POLICY films").fetchall()
    con.execute("DROP POLICY films")
    con.execute(described[-1][2])
    assert con.execute("DESCRIBE POLICY films").fetchall() == described
    con.execute('ALTER POLICY films ALTER COLUMN "A" SENSITIVE')
    assert ("column", "A", "SENSITIVE") in con.execute("DESCRIBE POLICY films").fetchall()


def test_rows_of_the_catalog_that_cannot_be_read(con: Connection) -> None:
    films(con, "D")
    con.duckdb.execute("UPDATE anon.policy SET pivoted = 'item'")
    with pytest.raises(PolicyError, match="its column pivoted in"):
        con.execute("DESCRIBE POLICY films")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("VIEW sliced AS POLICY films METHOD generalization", "a live view cannot pivot ratings"),
        (
            f"TABLE sliced AS POLICY films {SLICING}, similarity => 'equal_ratings', intervals => 3)",
            "intervals is about",
        ),
        (
            f"TABLE sliced AS POLICY films {SLICING}, similarity => 'equal_ratings') COLUMNS EACH",
            "similarity is about columns that are found",
        ),
        ("TABLE sliced AS POLICY flat METHOD slicing(l => 2, similarity => 'equal_ratings')", "flat has no PIVOT"),
    ],
)
def test_releases_that_are_refused(con: Connection, release: str, message: str) -> None:
    films(con, "D")
    con.execute("CREATE POLICY flat ON ratings (item QUASI IDENTIFIER, rating SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match=message):
        con.execute(f"CREATE ANONYMIZED {release}")


def test_more_attributes_than_are_compared(con: Connection) -> None:
    films(con, "D")
    with sizes.replaced(max_phi2_attributes=3), pytest.raises(PolicyError, match="at most 3 attributes") as refused:
        con.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films {SLICING})")
    assert refused.value.hint == "write similarity => 'equal_ratings'"
    with sizes.replaced(max_coded_attributes=2), pytest.raises(PolicyError, match="cuts at most 2 quasi-identifiers"):
        con.execute("CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD slicing(l => 2)")


@pytest.mark.long
def test_queries_ask_the_wide_table(con: Connection) -> None:
    """A workload is asked of what the policy pivots, and so are figures of membership."""
    films(con, "D")
    con.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films {SLICING}) COLUMNS EACH")
    con.execute("CREATE WORKLOAD asked ON POLICY films (queries => 5, dimensions => 1)")
    figures = {row[2]: row[3] for row in con.execute("MEASURE sliced WITH WORKLOAD asked").fetchall()}
    assert (figures["queries"], figures["not_estimated"], figures["bounds_hit_rate"]) == (5, 0, 1)
    tuples = {row[1]: row[3] for row in con.execute("MEASURE sliced WITH FIGURES (membership)").fetchall()}
    assert tuples["original"] == 6
