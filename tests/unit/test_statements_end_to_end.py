"""Statements from text to result: atomicity, IF EXISTS and OR REPLACE, errors, sources of every kind."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, SqlanonError, UserError, connect

POLICY = "POLICY p ON source (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)"
HIERARCHY = "HIERARCHY h AS INTERVALS (2, 4)"
UNNAMED = "ANONYMIZED TABLE t AS POLICY p"
TABLE = f"{UNNAMED} METHOD generalization"
VIEW = "ANONYMIZED VIEW v AS POLICY p"
DONE = ("created",)


@pytest.fixture
def con() -> Connection:
    """A source of five classes of four rows."""
    connection = connect()
    connection.execute("CREATE TABLE source AS SELECT i // 4 AS a, i AS s FROM range(20) r(i)")
    return connection


def _objects(con: Connection) -> set[str]:
    """All relations there are, and the catalog's rows."""
    relations = con.duckdb.execute(
        "SELECT schema_name || '.' || table_name FROM duckdb_tables() UNION ALL "
        "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    found = {name for (name,) in relations}
    if "anon.release" in found:
        for table in ("hierarchy", "hierarchy_value", "policy", "policy_attribute", "release", "release_object"):
            rows = con.duckdb.execute(f"SELECT count(*) FROM anon.{table}").fetchall()[0][0]
            found.add(f"{rows} rows of {table}")
    return found


def _outcome(con: Connection, statement: str) -> str:
    return str(con.execute(statement).fetchall()[0][2])


class TestObjects:
    def test_hierarchies(self, con: Connection) -> None:
        assert _outcome(con, f"CREATE {HIERARCHY}") == "created"
        with pytest.raises(PolicyError, match="exists already"):
            con.execute(f"CREATE {HIERARCHY}")
        assert _outcome(con, "CREATE HIERARCHY IF NOT EXISTS h AS INTERVALS (7)") == "exists"
        assert con.execute("SELECT arguments FROM anon.hierarchy").fetchall() == [("[2,4]",)]
        assert _outcome(con, "CREATE OR REPLACE HIERARCHY H AS INTERVALS (7)") == "created"
        assert con.execute("SELECT hierarchy, arguments FROM anon.hierarchy").fetchall() == [("H", "[7]")]
        assert _outcome(con, "DROP HIERARCHY h") == "dropped"
        assert _outcome(con, "DROP HIERARCHY IF EXISTS h") == "absent"
        with pytest.raises(PolicyError, match="there is no hierarchy h"):
            con.execute("DROP HIERARCHY h")

    def test_replaced_levels_leave_no_old_value(self, con: Connection) -> None:
        con.execute("CREATE HIERARCHY h AS LEVELS (SELECT 'old', 'label')")
        con.execute("CREATE OR REPLACE HIERARCHY h AS LEVELS (SELECT 'new', 'label')")
        assert con.execute("SELECT DISTINCT value FROM anon.hierarchy_value").fetchall() == [("new",)]
        con.execute("DROP HIERARCHY h")
        assert con.execute("SELECT count(*) FROM anon.hierarchy_value").fetchall() == [(0,)]

    def test_a_hierarchy_in_use_stays(self, con: Connection) -> None:
        con.execute(f"CREATE {HIERARCHY}; CREATE {POLICY.replace('IDENTIFIER,', 'IDENTIFIER USING h,')}")
        with pytest.raises(PolicyError, match="used by the policy p"):
            con.execute("DROP HIERARCHY h")
        con.execute("DROP POLICY p; DROP HIERARCHY h")

    def test_policies(self, con: Connection) -> None:
        assert _outcome(con, f"CREATE {POLICY}") == "created"
        with pytest.raises(PolicyError, match="exists already"):
            con.execute(f"CREATE {POLICY}")
        other = POLICY.replace("POLICY p", "POLICY P").replace("k => 4", "k => 2")
        assert _outcome(con, f"CREATE {other.replace('POLICY', 'POLICY IF NOT EXISTS', 1)}") == "exists"
        assert con.execute("SELECT arguments FROM anon.policy_requirement").fetchall() == [('{"k":4}',)]
        assert _outcome(con, f"CREATE OR REPLACE {other}") == "created"
        assert con.execute("SELECT policy, arguments FROM anon.policy_requirement").fetchall() == [("P", '{"k":2}')]
        assert _outcome(con, "DROP POLICY p") == "dropped"
        assert _outcome(con, "DROP POLICY IF EXISTS p") == "absent"
        with pytest.raises(PolicyError, match="there is no policy p"):
            con.execute("DROP POLICY p")

    @pytest.mark.one_in(4)
    @pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
    def test_releases(self, con: Connection, kind: str) -> None:
        con.execute(f"CREATE {POLICY}")
        release = f"ANONYMIZED {kind} r AS POLICY p"
        assert con.execute(f"CREATE {release}").fetchall()[0][0] == "main.r"
        before = con.execute("SELECT release_id FROM anon.release").fetchall()
        with pytest.raises(UserError, match=r"main\.r exists already"):
            con.execute(f"CREATE {release}")
        con.execute(f"CREATE ANONYMIZED {kind} IF NOT EXISTS r AS POLICY p")
        assert con.execute("SELECT release_id FROM anon.release").fetchall() == before
        con.execute(f"CREATE OR REPLACE {release}")
        assert con.execute("SELECT count(*) FROM anon.release").fetchall() == [(1,)]
        assert con.execute("SELECT release_id FROM anon.release").fetchall() != before
        other = "VIEW" if kind == "TABLE" else "TABLE"
        with pytest.raises(UserError, match=f"write DROP ANONYMIZED {kind}"):
            con.execute(f"DROP ANONYMIZED {other} r")
        con.execute(f"CREATE OR REPLACE ANONYMIZED {other} r AS POLICY p")
        con.execute(f"DROP ANONYMIZED {other} R")
        assert _outcome(con, f"DROP ANONYMIZED {kind} IF EXISTS r") == "absent"
        with pytest.raises(UserError, match="there is no release"):
            con.execute(f"DROP ANONYMIZED {kind} r")

    @pytest.mark.long
    def test_all_is_gone_after_the_drops(self, con: Connection) -> None:
        con.execute(f"CREATE {HIERARCHY}; DROP HIERARCHY h")
        empty = _objects(con)
        con.execute("CREATE HIERARCHY h AS LEVELS (SELECT DISTINCT a::VARCHAR, 'x' FROM source)")
        con.execute("ALTER TABLE source ADD COLUMN who INTEGER; UPDATE source SET who = s")
        con.execute(
            "CREATE POLICY p ON (SELECT * FROM source) "
            "(a QUASI IDENTIFIER USING h, s SENSITIVE, who ENTITY) REQUIRE k_anonymity(k => 4)"
        )
        con.execute(f"CREATE {TABLE}; CREATE {VIEW}; EXPLAIN {TABLE.replace(' t ', ' w ')}")
        assert con.execute("SELECT count(*) FROM anon.release_recoding").fetchall() != [(0,)]
        con.execute("DROP ANONYMIZED TABLE t; DROP ANONYMIZED VIEW v; DROP POLICY p; DROP HIERARCHY h")
        assert _objects(con) == empty
        assert con.execute("SELECT count(*) FROM anon.release_recoding").fetchall() == [(0,)]

    def test_a_release_whose_table_is_gone(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}; CREATE {TABLE}; DROP TABLE t")
        with pytest.raises(UserError, match="is gone"):
            con.execute("CHECK t")
        con.execute(f"CREATE OR REPLACE {TABLE}; DROP TABLE t; DROP ANONYMIZED TABLE t; CREATE {TABLE}")
        assert con.execute("SELECT count(*) FROM anon.release").fetchall() == [(1,)]

    @pytest.mark.one_in(3)
    @pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
    @pytest.mark.parametrize("mine", ["TABLE", "VIEW"])
    @pytest.mark.parametrize("words", ["CREATE {}", "CREATE OR REPLACE {}", "CREATE {} IF NOT EXISTS"])
    def test_a_users_own_relation_is_never_replaced(self, con: Connection, kind: str, mine: str, words: str) -> None:
        con.execute(f"CREATE {POLICY}; CREATE {mine} mine AS SELECT 42 AS answer")
        with pytest.raises(UserError, match=r"(?i)main\.mine is a (table|view) that is not a release"):
            con.execute(words.format(f"ANONYMIZED {kind}") + " MINE AS POLICY p")
        with pytest.raises(UserError, match="there is no release"):
            con.execute(f"DROP ANONYMIZED {kind} mine")
        assert con.execute("FROM mine").fetchall() == [(42,)]

    def test_a_temporary_table_of_the_same_name_is_left_alone(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}; CREATE {TABLE}; CREATE TEMP TABLE t AS SELECT 42 AS answer")
        assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 4.0, 4.0, True)]
        con.execute(f"CREATE OR REPLACE {TABLE}; DROP ANONYMIZED TABLE t")
        assert con.execute("FROM temp.t").fetchall() == [(42,)]
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 't'").fetchall() == [(1,)]


class TestTransactions:
    def test_a_rollback_takes_everything_back(self, con: Connection) -> None:
        before = _objects(con)
        con.execute(f"BEGIN; CREATE {HIERARCHY}; CREATE {POLICY}; CREATE {TABLE}; CREATE {VIEW}")
        assert len(con.execute("FROM t").fetchall()) == len(con.execute("FROM v").fetchall()) == 20
        con.execute("ROLLBACK")
        assert _objects(con) == before

    def test_a_commit_keeps_everything(self, con: Connection) -> None:
        con.execute(f"BEGIN; CREATE {POLICY}; CREATE {TABLE}; INSERT INTO source VALUES (9, 99); COMMIT")
        assert con.execute("CHECK t").fetchall()[0][-1] is True
        assert len(con.execute("FROM source").fetchall()) == 21

    @pytest.mark.long
    def test_replace_and_rollback_brings_the_old_release_back(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}; CREATE {TABLE}; CREATE {VIEW}")
        before = _objects(con), con.execute("SELECT * FROM anon.release").fetchall()
        con.execute("INSERT INTO source SELECT 0, 100 + i FROM range(4) r(i)")
        con.execute(f"BEGIN; CREATE OR REPLACE {TABLE}; CREATE OR REPLACE {VIEW}; DROP ANONYMIZED VIEW v; ROLLBACK")
        assert (_objects(con), con.execute("SELECT * FROM anon.release").fetchall()) == before
        assert len(con.execute("FROM t").fetchall()) == 20
        assert con.execute("CHECK t; CHECK v").fetchall()[0][-1] is True

    def test_another_connection_sees_nothing_before_the_commit(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}; BEGIN; CREATE {TABLE}")
        with con.cursor() as other:
            with pytest.raises(UserError, match="there is no release"):
                other.execute("CHECK t")
            con.execute("COMMIT")
            assert other.execute("CHECK t").fetchall()[0][-1] is True

    @pytest.mark.one_in(5)
    @pytest.mark.parametrize(
        "wrong",
        [
            "CREATE OR REPLACE HIERARCHY h AS LEVELS (SELECT no_such_column FROM source)",
            "CREATE OR REPLACE POLICY p ON source (nope QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
            "CREATE OR REPLACE ANONYMIZED TABLE t AS POLICY strict METHOD generalization",
            "CREATE OR REPLACE ANONYMIZED VIEW v AS POLICY strict METHOD generalization",
            "CREATE OR REPLACE ANONYMIZED TABLE t AS POLICY p METHOD generalization(suppression => 2)",
        ],
    )
    def test_a_statement_that_fails_changes_nothing(self, con: Connection, wrong: str) -> None:
        con.execute(f"CREATE {HIERARCHY}; CREATE {POLICY}; CREATE {TABLE}; CREATE {VIEW}")
        con.execute(f"CREATE {POLICY.replace('POLICY p', 'POLICY strict').replace('k => 4', 'k => 21')}")
        before = _objects(con), con.execute("SELECT * FROM anon.release").fetchall()
        with pytest.raises(SqlanonError):
            con.execute(wrong)
        assert (_objects(con), con.execute("SELECT * FROM anon.release").fetchall()) == before
        assert con.execute("CHECK t; CHECK v").fetchall()[0][-1] is True

    def test_a_failure_inside_the_users_transaction_undoes_all_of_it(self, con: Connection) -> None:
        before = _objects(con)
        con.execute("BEGIN; CREATE TABLE mine AS SELECT 1 AS x")
        with pytest.raises(PolicyError, match="there is no table or view nowhere"):
            con.execute(f"CREATE {POLICY.replace('source', 'nowhere')}")
        with pytest.raises(duckdb.Error):
            # As after any failure in a transaction of DuckDB's, nothing runs before its end.
            con.execute("CREATE TABLE later AS SELECT 1 AS x")
        con.execute("ROLLBACK")
        assert _objects(con) == before


class TestErrors:
    def test_each_has_its_line_and_column(self, con: Connection) -> None:
        script = f"SELECT 1;\n-- a comment; with a semicolon\n   CREATE {POLICY.replace('a QUASI', 'nope QUASI')}"
        with pytest.raises(PolicyError, match="the source source has no column nope") as raised:
            con.execute(script)
        assert str(raised.value.position) == "line 3, column 31"
        assert "it has a, s" in str(raised.value)

    def test_what_ran_before_an_error_stays(self, con: Connection) -> None:
        with pytest.raises(UserError):
            con.execute("CREATE TABLE kept AS SELECT 1 AS x; CHECK nope")
        assert con.execute("FROM kept").fetchall() == [(1,)]

    @pytest.mark.one_in(4)
    @pytest.mark.parametrize(("missing", "shown"), [(1, 1), (10, 10), (11, 10), (37, 10)])
    def test_values_that_a_hierarchy_lacks_are_listed(self, con: Connection, missing: int, shown: int) -> None:
        con.execute("CREATE TABLE words AS SELECT 'w' || i AS word, i AS s FROM range(100, 140) r(i)")
        con.execute(f"CREATE HIERARCHY h AS LEVELS (SELECT word, 'x' FROM words WHERE s >= {100 + missing})")
        con.execute("INSERT INTO words VALUES (NULL, 0), (NULL, 1)")
        con.execute("CREATE POLICY p ON words (word QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
        for kind in ("TABLE", "VIEW"):
            with pytest.raises(DataError, match="the hierarchy h lacks values of the column word") as raised:
                con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p")
            text = raised.value.message
            assert [f"w{i}" in text for i in range(100, 140)] == [i < 100 + shown for i in range(100, 140)]
            assert (f"{missing} in all" in text) == (missing > shown)
        assert con.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]

    def test_an_infeasible_policy_says_why(self, con: Connection) -> None:
        con.execute(
            "CREATE POLICY p ON source (a QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE) REQUIRE k_anonymity(k => 5)"
        )
        with pytest.raises(PrivacyViolation, match=r"k_anonymity\(k => 5\) cannot be met") as raised:
            con.execute(f"CREATE {TABLE}")
        assert "MAX LEVEL of a" in str(raised.value)
        assert "5" in raised.value.message
        assert raised.value.exit_code == 1

    @pytest.mark.parametrize(
        ("wrong", "what"),
        [
            ("METHOD generalization(suppression => 1.01)", "suppression must be a fraction between 0 and 1"),
            ("METHOD generalization(suppression => -0.1)", "suppression must be a fraction between 0 and 1"),
            ("METHOD generalization(suppression => true)", "suppression must be a fraction between 0 and 1"),
            ("METHOD generalization(budget => 0.1)", "no argument 'budget'"),
            ("METHOD nonsense", "nonsense"),
        ],
    )
    def test_a_wrong_method_is_told_before_anything_is_read(self, con: Connection, wrong: str, what: str) -> None:
        con.execute("CREATE HIERARCHY lacks AS LEVELS (SELECT 'nothing', 'that occurs')")
        con.execute(f"CREATE {POLICY.replace('IDENTIFIER,', 'IDENTIFIER USING lacks,')}")
        with pytest.raises(UserError, match=what):
            con.execute(f"CREATE {UNNAMED} {wrong}")

    @pytest.mark.parametrize("k", ["0", "-1", "2.5", "true", "'4'", "9223372036854775808"])
    def test_a_k_that_is_none(self, con: Connection, k: str) -> None:
        with pytest.raises(UserError):
            con.execute(f"CHECK source (a) REQUIRE k_anonymity(k => {k})")

    def test_the_largest_k(self, con: Connection) -> None:
        found = con.execute(f"CHECK source (a) REQUIRE k_anonymity(k => {2**63 - 1})").fetchall()
        assert found == [("source", "k_anonymity", None, float(2**63 - 1), 4.0, False)]

    def test_no_error_prints_a_row_of_the_source(self, con: Connection) -> None:
        con.execute("CREATE TABLE persons AS SELECT 'secret' || i AS name, 's3cr3t' || i AS s FROM range(9) r(i)")
        con.execute(
            "CREATE POLICY p ON (SELECT name::INTEGER AS a, s FROM persons) "
            "(a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)"
        )
        for statement in (f"CREATE {TABLE}", f"CREATE {VIEW}", f"EXPLAIN {TABLE}"):
            with pytest.raises(SqlanonError) as raised:
                con.execute(statement)
            assert "secret" not in str(raised.value)
            assert "s3cr3t" not in str(raised.value)


class TestSources:
    @pytest.mark.one_in(12)
    @pytest.mark.parametrize(
        "source",
        [
            "source",
            "main.source",
            "memory.source",
            "memory.main.source",
            "seen",
            "(SELECT * FROM source)",
            "(FROM source)",
            "(WITH w AS (FROM source) SELECT s, a FROM w -- the end\n)",
            "(SELECT a, s FROM seen ORDER BY s LIMIT 20)",
            "(VALUES (0, 0), (0, 1), (0, 2), (0, 3)) ",
        ],
    )
    def test_of_every_kind_for_snapshot_and_view(self, con: Connection, source: str) -> None:
        con.execute("CREATE VIEW seen AS SELECT s, a FROM source")
        if source.startswith("(VALUES"):
            source = "(SELECT * FROM (VALUES (0, 0), (0, 1), (0, 2), (0, 3)) t(a, s))"
        con.execute(f"CREATE POLICY p ON {source} (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)")
        con.execute(f"CREATE {TABLE}; CREATE {VIEW}")
        wanted = 4 if "VALUES" in source else 20
        rows = Counter((i // 4, i) for i in range(wanted))
        assert Counter(con.execute("FROM t").fetchall()) == rows
        assert Counter(con.execute("FROM v").fetchall()) == rows

    def test_a_frame_makes_a_snapshot_and_no_view(self, con: Connection) -> None:
        con.register("frame", pd.DataFrame({"a": [1, 1, 1, 1, None], "s": ["x", None, "y", "z", "w"]}))
        con.execute("CREATE POLICY p ON frame (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4)")
        con.execute(f"CREATE {UNNAMED} METHOD generalization(suppression => 0.2)")
        rows = con.execute("FROM t").fetchall()
        assert {a for a, _ in rows} == {1.0}
        assert Counter(s for _, s in rows) == Counter(["x", "y", "z", None])
        with pytest.raises(PolicyError, match="a live view cannot read frame"):
            con.execute(f"CREATE {VIEW}")

    def test_another_database(self, con: Connection, tmp_path: Path) -> None:
        con.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS other; CREATE TABLE other.far AS FROM source")
        for name in ("other.far", "other.main.far"):
            con.execute(f"CREATE OR REPLACE {POLICY.replace('source', name)}")
            con.execute(f"CREATE OR REPLACE {TABLE}")
            assert len(con.execute("FROM t").fetchall()) == 20
            with pytest.raises(PolicyError, match="a live view cannot read"):
                con.execute(f"CREATE {VIEW}")
        for name in ("other.t", "other.main.t"):
            with pytest.raises(UserError, match="another database"):
                con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD generalization")
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'other'").fetchall() == [(1,)]

    @pytest.mark.one_in(5)
    @pytest.mark.parametrize("name", ["t", "main.t", "memory.t", "memory.main.t", "T"])
    def test_a_release_has_one_name_however_it_is_written(self, con: Connection, name: str) -> None:
        con.execute(f"CREATE {POLICY}; CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD generalization")
        for other in ("t", "main.t", "memory.t", "memory.main.t", "Main.T"):
            assert con.execute(f"CHECK {other}").fetchall()[0][-1] is True
        con.execute("CREATE SCHEMA elsewhere; USE elsewhere")
        assert con.execute("CHECK main.t").fetchall()[0][-1] is True
        con.execute("USE memory.main; DROP ANONYMIZED TABLE t")
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name ILIKE 't'").fetchall() == [(0,)]

    @pytest.mark.long
    def test_names_that_differ_in_an_accented_capital_are_two_tables(self, con: Connection) -> None:
        for name, value in (("Ü", 1), ("ü", 2)):
            con.execute(f'CREATE TABLE "{name}" AS SELECT {value} AS a, {value} AS "É", {-value} AS "é" FROM range(4)')
        for name, value in (("Ü", 1), ("ü", 2)):
            con.execute(
                f'CREATE OR REPLACE POLICY p ON "{name}" (a QUASI IDENTIFIER, "é" SENSITIVE) '
                "REQUIRE k_anonymity(k => 4)"
            )
            con.execute(f"CREATE OR REPLACE {TABLE}; CREATE OR REPLACE {VIEW}")
            assert set(con.execute("FROM t").fetchall()) == {(value, -value)} == set(con.execute("FROM v").fetchall())

    @pytest.mark.long
    @pytest.mark.one_in(2)
    @pytest.mark.parametrize("sampled", ["(SELECT * FROM source WHERE random() < 0.7)", "sampled"])
    def test_a_volatile_source_never_shows_a_small_class(self, con: Connection, sampled: str) -> None:
        """Guard and rows come from one reading: of two samples one would vouch for what the other shows."""
        con.execute("SELECT setseed(0.5); CREATE VIEW sampled AS SELECT * FROM source WHERE random() < 0.7")
        con.execute("ALTER TABLE source ADD COLUMN who INTEGER; UPDATE source SET who = s")
        for entity in ("", "who ENTITY, "):
            con.execute(
                f"CREATE OR REPLACE POLICY p ON {sampled} (a QUASI IDENTIFIER MAX LEVEL 0, {entity}s SENSITIVE) "
                "REQUIRE k_anonymity(k => 3)"
            )
            for kind in ("TABLE", "VIEW"):
                sizes = set()
                for _ in range(3):
                    con.execute(
                        f"CREATE OR REPLACE ANONYMIZED {kind} r AS POLICY p METHOD generalization(suppression => 1)"
                    )
                    for _ in range(12):
                        read = con.execute("SELECT a, count(*), count(DISTINCT s) FROM r GROUP BY a").fetchall()
                        assert all(rows == distinct >= 3 for _, rows, distinct in read)
                        sizes.add(tuple(sorted(read)))
                    if not (entity and kind == "VIEW"):
                        assert con.execute("CHECK r").fetchall()[0][-1] is True
                assert len(sizes) > 1


class TestConnection:
    def test_results_and_parameters_are_duckdbs(self, con: Connection) -> None:
        assert con.execute("SELECT ?::INTEGER + 1", [41]).fetchall() == [(42,)]
        assert con.execute("SELECT 1; SELECT $x", {"x": 7}).fetchall() == [(7,)]
        assert con.sql("SELECT $1 AS x", params=[3]).fetchall() == [(3,)]
        con.sql("CREATE TABLE nothing (a INTEGER)")
        con.executemany("INSERT INTO nothing VALUES (?)", [[1], [2]])
        assert con.table("nothing").fetchall() == [(1,), (2,)]

    def test_every_statement_of_a_script_runs_though_nobody_reads_it(self, con: Connection) -> None:
        con.sql("CREATE SEQUENCE q; SELECT nextval('q'); SELECT 1")
        con.sql("SELECT nextval('q'); CHECK source (a) REQUIRE k_anonymity(k => 1)")
        assert con.execute("SELECT currval('q')").fetchall() == [(2,)]
        with pytest.raises(duckdb.Error, match="stop"):
            con.sql(f"SELECT error('stop'); CREATE {POLICY}")
        assert _objects(con) == {"main.source"}

    def test_answers_are_relations(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}; CREATE {TABLE}")
        relation = con.sql("CHECK t")
        assert relation.columns == ["release", "question", "attribute", "required", "achieved", "satisfied"]
        assert relation.filter("satisfied").fetchall() == [("main.t", "k_anonymity", None, 4.0, 4.0, True)]
        frame = con.sql("CHECK t").df()
        assert list(frame["achieved"]) == [4.0]
        assert con.execute("CHECK t").df().equals(frame)

    def test_explain_changes_nothing(self, con: Connection) -> None:
        con.execute(f"CREATE {POLICY}")
        before = _objects(con)
        for release in (TABLE, f"{VIEW} METHOD generalization"):
            rows = con.execute(f"EXPLAIN VERBOSE {release}").fetchall()
            assert ("solve", "a", "level 0 of 1: kept") in rows
            assert _objects(con) == before

    @pytest.mark.long
    def test_a_file_that_is_only_read(self, tmp_path: Path) -> None:
        path = tmp_path / "d.duckdb"
        with connect(path) as con:
            con.execute("CREATE TABLE source AS SELECT i // 4 AS a, i AS s FROM range(20) r(i)")
            con.execute(f"CREATE {POLICY}; CREATE {TABLE}; CREATE {VIEW}")
        with connect(path, read_only=True) as con:
            assert con.execute("CHECK t; CHECK v").fetchall()[0][-1] is True
            assert con.execute("CHECK source (a) REQUIRE k_anonymity(k => 5)").fetchall()[0][-1] is False
            assert len(con.execute(f"EXPLAIN {TABLE}").fetchall()) > 5
            for statement in (f"CREATE OR REPLACE {TABLE}", "DROP ANONYMIZED TABLE t", f"CREATE {HIERARCHY}"):
                with pytest.raises(UserError, match="reading only"):
                    con.execute(statement)
        with duckdb.connect(str(path)) as bare:
            assert len(bare.execute("FROM v").fetchall()) == len(bare.execute("FROM t").fetchall()) == 20

    def test_the_exact_budget_of_suppressed_rows(self) -> None:
        """A fraction close to 1 is not rounded up to it."""
        con = connect()
        con.execute("CREATE TABLE source AS SELECT i AS a, i AS s FROM range(3) r(i)")
        con.execute(
            "CREATE POLICY p ON source (a QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
        )
        for share in (Decimal("0." + "9" * 38), Decimal("0.7")):
            with pytest.raises(PrivacyViolation, match="at most 2 of 3 rows"):
                con.execute(f"CREATE {UNNAMED} METHOD generalization(suppression => {share})")


def test_the_respondent_is_never_published_whatever_the_columns_are_called() -> None:
    """The candidate holds the respondents while it is checked: under a name that no column has."""
    con = connect()
    con.execute('CREATE TABLE source (a INTEGER, "__sqlanon_entity" VARCHAR, "__SQLANON_entity_" INTEGER, who VARCHAR)')
    con.execute("INSERT INTO source SELECT 1, 'd' || i, i, 'person' || i FROM range(5) r(i)")
    con.execute(
        'CREATE POLICY p ON source (a QUASI IDENTIFIER, "__sqlanon_entity" SENSITIVE, "__sqlanon_entity_" INSENSITIVE, '
        "who ENTITY) REQUIRE k_anonymity(k => 5)"
    )
    con.execute(f"CREATE {TABLE}; CREATE {VIEW}")
    wanted: Counter[tuple[Any, ...]] = Counter((1, f"d{i}", i) for i in range(5))
    for name in "tv":
        assert Counter(con.execute(f"FROM {name}").fetchall()) == wanted
        assert con.execute(f"CHECK {name}").fetchall()[0][-1] is True


def test_a_changed_snapshot_of_respondents_is_found_out_whatever_its_columns_are_called() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 AS a, 1 AS snapshot, 1 AS digest, i AS s, i AS who FROM range(6) r(i)")
    con.execute(
        "CREATE POLICY p ON source (a QUASI IDENTIFIER, snapshot INSENSITIVE, digest INSENSITIVE, s SENSITIVE, "
        "who ENTITY) REQUIRE k_anonymity(k => 3)"
    )
    con.execute(f"CREATE {TABLE}")
    assert con.execute("CHECK t").fetchall()[0][-1] is True
    con.execute("UPDATE t SET a = 2 WHERE s = 1")
    with pytest.raises(PrivacyViolation, match="not as it was"):
        con.execute("CHECK t")
