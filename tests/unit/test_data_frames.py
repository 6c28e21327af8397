"""Data frames that variables hold are found by their names, and a policy stays on the one that it was created on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pytest

from sqlanon import Connection, PolicyError, UserError, connect

AT_MODULE = pandas.DataFrame({"a": [1, 2, 3]})
COLUMNS = "(age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"


def people(copies: int = 1) -> pandas.DataFrame:
    return pandas.DataFrame({"age": [31, 31, 32, 32] * copies, "disease": ["Flu", "Cold", "Flu", "Cold"] * copies})


@pytest.fixture
def con() -> Connection:
    return connect()


def released(con: Connection, name: str = "r") -> int:
    [(count,)] = con.sql(f"SELECT count(*) FROM {name}").fetchall()
    return int(count)


@pytest.mark.parametrize("method", ["sql", "query", "execute"])
def test_a_variable_in_duckdbs_own_statements(con: Connection, method: str) -> None:
    """As `duckdb.sql` finds it: local ones, those of the module, in any statement of a script."""
    frame = people()
    run = getattr(con, method)
    assert run("SELECT count(*) FROM frame").fetchall() == [(4,)]
    assert run("SELECT sum(a) FROM AT_MODULE").fetchall() == [(6,)]
    con.script("CREATE TABLE made AS FROM frame; CHECK made (age) REQUIRE k_anonymity(k => 2)")
    assert run("CREATE TABLE twice AS FROM frame UNION ALL FROM frame; SELECT count(*) FROM twice").fetchall() == [(8,)]
    con.executemany("INSERT INTO made SELECT age + ?, disease FROM frame", [[1], [2]])
    assert con.cursor().sql("SELECT count(*) FROM made").fetchall() == [(12,)]
    del frame
    with pytest.raises(duckdb.CatalogException):
        run("FROM frame")


def test_a_relation_outlives_the_function_that_made_it(con: Connection) -> None:
    def made() -> Any:
        local = people()
        return con.sql("SELECT age FROM local WHERE age = 31")

    assert made().fetchall() == [(31,), (31,)]


@pytest.mark.parametrize("name", ["statement", "query", "self", "variables", "frames", "engine"])
def test_no_variable_of_sqlanons_is_found(con: Connection, name: str) -> None:
    with pytest.raises(duckdb.CatalogException):
        con.sql(f"FROM {name}")
    with pytest.raises(PolicyError, match="there is no table or view"):
        con.sql(f"CHECK {name} (a) REQUIRE k_anonymity(k => 2)")


@pytest.mark.parametrize("kind", [pandas.DataFrame, lambda columns: pyarrow.table(columns.to_dict("list"))])
def test_check(con: Connection, kind: Any) -> None:
    frame = kind(people())
    assert con.sql("CHECK frame (age) REQUIRE k_anonymity(k => 2)").fetchall() == [
        ("frame", "k_anonymity", None, 2.0, 2.0, True)
    ]
    [(*_, satisfied)] = con.sql("CHECK (FROM frame WHERE age > 31) (age) REQUIRE k_anonymity(k => 3)").fetchall()
    assert satisfied is False
    assert con.sql("SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal").fetchall() == [(0,)]


@pytest.mark.long
def test_a_hierarchy_from_a_data_frame(con: Connection) -> None:
    levels = pandas.DataFrame({"value": ["Flu", "Cold"], "group": ["lung", "lung"]})
    con.sql("CREATE HIERARCHY h AS LEVELS (FROM levels)")
    frame = people()
    con.sql("CREATE POLICY p ON frame (disease QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 3)")
    assert con.sql("CREATE ANONYMIZED TABLE r AS POLICY p").select("released_rows").fetchall() == [(4,)]
    assert con.sql("SELECT DISTINCT disease FROM r").fetchall() == [("lung",)]


@pytest.mark.long
def test_what_is_made_of_a_policy_on_a_data_frame(con: Connection) -> None:
    frame = people(5)
    con.sql(f"CREATE POLICY p ON frame {COLUMNS}")
    explained = con.sql("EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
    [source] = [detail for _, item, detail in explained if item == "source"]
    assert source == "data frame frame, 20 rows"
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert released(con) == len(frame)
    assert con.sql("CHECK r").fetchall()[0][-1] is True
    [(answer, *_)] = con.sql("ESTIMATE SELECT count(*) FROM frame WHERE age = 31 FROM RELEASE r").fetchall()
    assert answer == 10
    con.sql("CREATE WORKLOAD w ON POLICY p (queries => 5, dimensions => 1)")
    assert con.sql("MEASURE r WITH WORKLOAD w").fetchall()
    with pytest.raises(PolicyError, match="it is temporary"):
        con.sql("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "source",
    [
        "(SELECT frame.age, other.disease FROM frame JOIN frame AS other USING (age, disease))",
        "(WITH old AS (FROM frame) FROM old WHERE age > 30 AND age NOT IN (SELECT age FROM frame WHERE age > 40))",
        "(SELECT age, disease FROM \"frame\" /* frame */ WHERE disease <> 'FROM frame')",
    ],
)
def test_a_policy_on_a_query_over_a_data_frame(con: Connection, source: str) -> None:
    frame = people(3)
    expected = len(con.sql(source[1:-1]).fetchall())
    con.sql(f"CREATE POLICY p ON {source} {COLUMNS}")
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert released(con) == expected
    frame = people(2)
    with pytest.raises(PolicyError, match=r"data frame frame .* another one"):
        con.sql("CREATE ANONYMIZED TABLE s AS POLICY p METHOD generalization")


def test_a_with_query_of_the_name_is_no_data_frame(con: Connection) -> None:
    frame = people(3)
    con.sql(
        "CREATE POLICY p ON (WITH frame AS (SELECT 1 AS age, 'Flu' AS disease FROM range(3)) FROM frame) " + COLUMNS
    )
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert released(con) == 3


@pytest.mark.long
def test_a_policy_is_on_the_data_frame_that_it_was_created_on(con: Connection) -> None:
    frame = people()
    con.sql(f"CREATE POLICY p ON frame {COLUMNS}")
    frame = people(2)
    with pytest.raises(PolicyError, match=r"data frame frame .* another one") as refused:
        con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert "create the policy again" in str(refused.value.hint)
    # A second policy on the variable, as it is now, leaves the first where it was.
    con.sql(f"CREATE POLICY q ON frame {COLUMNS}")
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY q METHOD generalization")
    assert released(con) == 8
    with pytest.raises(PolicyError, match="another one"):
        con.sql("EXPLAIN VERBOSE ANONYMIZED TABLE s AS POLICY p METHOD generalization")
    con.sql(f"CREATE OR REPLACE POLICY p ON frame {COLUMNS}")
    con.cursor().sql("CREATE ANONYMIZED TABLE s AS POLICY p METHOD generalization")
    assert released(con, "s") == 8


def test_the_same_data_frame_out_of_sight(con: Connection) -> None:
    """It is found as long as it exists, and the variable is no other data frame."""

    def create(frame: pandas.DataFrame) -> None:
        con.sql(f"CREATE POLICY p ON frame {COLUMNS}")

    def release(name: str) -> None:
        con.sql(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD generalization")

    original = people()
    create(original)
    release("r")
    assert released(con) == 4
    del original
    with pytest.raises(PolicyError, match="gone"):
        release("s")


@pytest.mark.long
def test_a_later_session_has_no_data_frame(tmp_path: Path) -> None:
    """Whatever has its name by then: a data frame, a table, a registered one."""
    frame = people()
    with connect(tmp_path / "x.duckdb") as con:
        con.sql(f"CREATE POLICY p ON frame {COLUMNS}; CREATE POLICY q ON (FROM frame) {COLUMNS}")
        con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    for preparation in ("SELECT 1", "CREATE TABLE frame AS SELECT 1 AS age, 'Flu' AS disease FROM range(4)"):
        with connect(tmp_path / "x.duckdb") as con:
            con.sql(preparation)
            for policy in ("p", "q"):
                with pytest.raises(PolicyError, match=r"data frame frame .* gone"):
                    con.sql(f"CREATE ANONYMIZED TABLE s AS POLICY {policy} METHOD generalization")
            assert con.sql("CHECK r").fetchall()[0][-1] is True


@pytest.mark.parametrize(
    "made",
    ["CREATE TABLE frame", "CREATE TEMP TABLE frame", "CREATE SCHEMA ward; CREATE TABLE ward.frame"],
)
def test_a_table_of_the_database_comes_first(con: Connection, made: str) -> None:
    """One in another schema, too: a view there could otherwise read the data frame instead."""
    frame = people()
    con.sql(f"{made} AS SELECT 1 AS age, 'Flu' AS disease FROM range(7)")
    if "ward" in made:
        with pytest.raises(PolicyError, match="no table or view frame"):
            con.sql("CHECK frame (age) REQUIRE k_anonymity(k => 2)")
        with pytest.raises(PolicyError, match="no table or view frame"):
            con.sql(f"CREATE POLICY p ON frame {COLUMNS}")
        return
    assert con.sql("SELECT count(*) FROM frame").fetchall() == [(7,)]
    [(*_, achieved, _)] = con.sql("CHECK frame (age) REQUIRE k_anonymity(k => 2)").fetchall()
    con.sql(f"CREATE POLICY p ON frame {COLUMNS}")
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert achieved == released(con) == 7


def test_inside_a_transaction(con: Connection) -> None:
    frame = people()
    con.begin()
    con.sql(
        f"CREATE POLICY p ON frame {COLUMNS}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    ).fetchall()
    con.commit()
    con.begin()
    with pytest.raises(PolicyError):
        con.sql("CREATE POLICY q ON frame (nothing QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.rollback()
    assert released(con) == len(frame)
    assert con.sql("SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal").fetchall() == [(0,)]


def test_where_duckdb_is_told_not_to_look(con: Connection) -> None:
    frame = people()
    con.sql("SET python_enable_replacements = false")
    with pytest.raises(PolicyError, match="no table or view frame"):
        con.sql("CHECK frame (age) REQUIRE k_anonymity(k => 2)")


def test_what_is_no_data_frame(con: Connection) -> None:
    text, numbers = "age", [1, 2]
    for name in ("text", "numbers"):
        with pytest.raises(UserError, match=f"no table or view {name}"):
            con.sql(f"CHECK {name} (age) REQUIRE k_anonymity(k => 2)")


def test_all_callers_where_duckdb_is_told_to_look_at_them() -> None:
    """A notebook's magic runs a cell's statement from functions of its own."""

    def magic(con: Connection, statement: str) -> None:
        con.execute(statement)

    frame = people()
    statements = ("SELECT count(*) FROM frame", "CHECK frame (age) REQUIRE k_anonymity(k => 2)")
    for statement in statements:
        with pytest.raises((duckdb.CatalogException, PolicyError)):
            magic(connect(), statement)
    con = connect(config={"python_scan_all_frames": True})
    for statement in (
        *statements,
        f"CREATE POLICY p ON frame {COLUMNS}",
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization",
    ):
        magic(con, statement)
    assert released(con) == 4
    frame = people(2)
    with pytest.raises(PolicyError, match="another one"):
        magic(con, "CREATE ANONYMIZED TABLE s AS POLICY p METHOD generalization")
