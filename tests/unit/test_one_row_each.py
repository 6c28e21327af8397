"""Methods whose buckets count rows take an ENTITY if each respondent has one row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlanon import Connection, PolicyError
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.warehouses.compiled import compiled
from tests.support.database import rows, template

CALLS = (
    "anatomy(l => 2)",
    "anatomy(l => 2, grouping => 'near')",
    "slicing(l => 2)",
    "mondrian(publish => 'none')",
    "mondrian(mode => 'relaxed', publish => 'none')",
    "trivial",
)
SETUP = """
CREATE TABLE visits AS SELECT 'v' || i AS visit, i % 6 AS age, 'z' || (i % 4) AS zip, 'd' || (i * 7 % 5) AS disease
FROM range(40) AS t(i);
CREATE POLICY p ON visits (visit ENTITY, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 2), l_diversity(l => 2);
"""


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP) as connection:
        yield connection


@pytest.mark.one_in(3)
@pytest.mark.parametrize("call", CALLS)
def test_a_release_of_one_row_each_does_not_show_the_respondents(con: Connection, call: str) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {call}")
    assert all(row[-1] for row in con.sql("CHECK made").fetchall())
    published = rows(con, "SELECT column_name FROM information_schema.columns WHERE table_name LIKE 'made%'")
    assert {name for (name,) in published} >= {"age", "zip"}
    assert "visit" not in {name for (name,) in published}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("call", CALLS)
def test_several_rows_of_a_respondent_are_refused(con: Connection, call: str) -> None:
    con.execute("INSERT INTO visits VALUES ('v1', 1, 'z1', 'd1'), ('v1', 1, 'z1', 'd2'), ('v2', 1, 'z1', 'd1')")
    for what in ("EXPLAIN", "CREATE"):
        with pytest.raises(PolicyError, match=r"policy p: 2 respondents have several rows, and .* takes one") as raised:
            con.execute(f"{what} ANONYMIZED TABLE made AS POLICY p METHOD {call}")
        assert "v1" not in str(raised.value)
    assert rows(con, "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'made%'") == [(0,)]
    # A policy that counts rows is another matter.
    con.execute("ALTER POLICY p ALTER COLUMN visit IDENTIFIER")
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {call}")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("call", CALLS)
def test_a_row_of_nobody_may_be_anybody_s(con: Connection, call: str) -> None:
    con.execute("INSERT INTO visits VALUES (NULL, 1, 'z1', 'd1')")
    with pytest.raises(PolicyError, match=r"1 row has no visit, and .* takes one row of each"):
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {call}")


def test_a_script_cannot_say_that_each_has_one_row_there(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY p METHOD anatomy(l => 2)")
    there = {"source": QualifiedName(("clinic", "visits")), "target": QualifiedName(("published", "made"))}
    with pytest.raises(PolicyError, match="its policy has an ENTITY, and a script does not check"):
        compiled(DuckDBEngine(con.duckdb), QualifiedName(("made",)), "postgres", **there)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "release",
    ["REFRESH ANONYMIZED TABLE made", "CREATE OR REPLACE ANONYMIZED TABLE made AS POLICY p METHOD anatomy(l => 2)"],
)
def test_a_release_is_not_made_anew_from_several_rows(con: Connection, release: str) -> None:
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY p METHOD anatomy(l => 2)")
    con.execute("INSERT INTO visits VALUES ('v1', 1, 'z1', 'd1')")
    with pytest.raises(PolicyError, match="1 respondent has several rows"):
        con.execute(release)
    assert rows(con, "SELECT count(*) FROM made_qi") == [(40,)]
