"""What DuckDB's SQL takes, sqlanon's statements take too."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from sqlanon import Connection, PolicyError, StatementError, connect
from sqlanon.domain.values import UNNAMED, QualifiedName, Source
from sqlanon.statements.checks.check_relation import CheckRelation
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease


@pytest.fixture
def con() -> Connection:
    made = connect()
    made.execute("CREATE TABLE t AS SELECT i % 5 AS a, i % 3 AS b, i % 4 AS s FROM range(120) AS r(i)")
    return made


@pytest.mark.parametrize(
    ("loose", "strict"),
    [
        ("CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE,) REQUIRE k_anonymity(k => 3,),",
         "CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 3)"),
        ("CHECK t (a, b,) SENSITIVE s REQUIRE k_anonymity(k := 3)",
         "CHECK t (a, b) SENSITIVE s REQUIRE k_anonymity(k => 3)"),
        ("CREATE HIERARCHY h AS INTERVALS (5, 10,)", "CREATE HIERARCHY h AS INTERVALS (5, 10)"),
        ("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 5 %)",
         "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.05)"),
        ("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression := 100%)",
         "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 1)"),
        ("CHECK TABLE r", "CHECK r"),
        ("CHECK VIEW r", "CHECK r"),
        ("CHECK 'a.parquet' (a) REQUIRE k_anonymity(k => 3)",
         "CHECK (FROM 'a.parquet') (a) REQUIRE k_anonymity(k => 3)"),
        ("CREATE POLICY p ON read_csv('a.csv', header = true) (a QUASI IDENTIFIER) AGAINST read_csv('b.csv') REQUIRE k",
         "CREATE POLICY p ON (FROM read_csv('a.csv', header = true)) (a QUASI IDENTIFIER) "
         "AGAINST (FROM read_csv('b.csv')) REQUIRE k"),
        ("EXPORT r TO 'x' (FORMAT csv, REPLACE,)", "EXPORT r TO 'x' (FORMAT csv, REPLACE true)"),
    ],
)  # fmt: skip
def test_two_ways_to_write_one_statement(loose: str, strict: str) -> None:
    assert parse_script(loose) == parse_script(strict)


def test_a_table_may_be_called_view() -> None:
    assert parse_script("CHECK view") == [CheckRelease(QualifiedName(("view",)))]
    (statement,) = parse_script("CHECK view (a) REQUIRE k_anonymity(k => 3)")
    assert isinstance(statement, CheckRelation)
    assert statement.source == Source(QualifiedName(("view",)))


def test_percent_is_exact() -> None:
    (statement,) = parse_script("CREATE ANONYMIZED TABLE r AS POLICY p METHOD m(a => 0.1%, b => 12.5 %)")
    assert isinstance(statement, CreateRelease)
    assert dict(statement.method.arguments) == {"a": Decimal("0.001"), "b": Decimal("0.125")}


def test_the_one_argument_needs_no_name(con: Connection) -> None:
    con.execute(
        "CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) "
        "REQUIRE k_anonymity(3), l_diversity(2), t_closeness(0.9, distance => 'ordered')"
    )
    required = con.execute("SELECT model, arguments FROM anon.policy_requirement ORDER BY position").fetchall()
    assert [(model, arguments) for model, arguments in required] == [
        ("k_anonymity", '{"k":3}'),
        ("l_diversity", '{"l":2}'),
        ("t_closeness", '{"t":0.9,"distance":"ordered"}'),
    ]
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(3)")
    stated = con.execute("SELECT method_arguments FROM anon.release").fetchall()
    assert stated == [('{"l":3}',)]
    checked = con.execute("CHECK t (a, b) REQUIRE k_anonymity(3)").fetchall()
    assert checked == con.execute("CHECK t (a, b) REQUIRE k_anonymity(k => 3)").fetchall()


@pytest.mark.parametrize("call", ["alpha_k_anonymity(0.5)", "l_diversity(2, variant => 'recursive')"])
def test_of_several_arguments_none_is_guessed(con: Connection, call: str) -> None:
    with pytest.raises(PolicyError, match="it is not clear which argument"):
        con.execute(f"CHECK t (a) SENSITIVE s REQUIRE {call}")


def test_a_method_without_a_needed_argument_says_what_it_has(con: Connection) -> None:
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(3)")
    with pytest.raises(PolicyError, match="it is not clear which argument") as caught:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(0.05)")
    assert "suppression" in str(caught.value.hint)


def test_only_the_first_argument_may_lack_a_name() -> None:
    (statement,) = parse_script("CREATE POLICY p ON t (a ENTITY) REQUIRE m(4, b => 5)")
    assert isinstance(statement, CreatePolicy)
    assert statement.policy.requirements[0].arguments == ((UNNAMED, 4), ("b", 5))
    with pytest.raises(StatementError, match="name => value"):
        parse_script("CREATE POLICY p ON t (a ENTITY) REQUIRE m(b => 5, 4)")


def test_a_file_is_a_source(con: Connection, tmp_path: Path) -> None:
    con.execute(f"COPY t TO '{tmp_path}/t.csv'; COPY t TO '{tmp_path}/t.parquet'")
    for source in (f"'{tmp_path}/t.csv'", f"read_parquet('{tmp_path}/t.parquet')"):
        con.execute(f"CREATE OR REPLACE POLICY p ON {source} (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(3)")
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p")
        assert con.execute("SELECT count(*) FROM r").fetchall() == [(120,)]
        assert con.execute(f"CHECK {source} (a) REQUIRE k_anonymity(24)").fetchall()[0][-1] is True


def test_a_forgotten_semicolon_is_named() -> None:
    with pytest.raises(StatementError) as caught:
        parse_script("CREATE HIERARCHY h AS INTERVALS (10)\nCREATE POLICY p ON t (a ENTITY) REQUIRE k")
    assert caught.value.hint == "if CREATE begins another statement, put a semicolon before it"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("path", "kind"),
    [("x.csv", "csv"), ("x.CSV", "csv"), ("x.parquet", "parquet"), ("x.db", "duckdb"), ("x/", "parquet"),
     ("x", "parquet"), ("release.2026", "parquet"), ("x.json/", "parquet")],
)  # fmt: skip
def test_the_suffix_decides_the_format(con: Connection, tmp_path: Path, path: str, kind: str) -> None:
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(3)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p")
    assert parse_script("EXPORT r TO 'x'") == [ExportRelease(QualifiedName(("r",)), "x")]
    done = con.execute(f"EXPORT r TO '{tmp_path}/{path}'").fetchall()
    assert done[0][1] == kind
    assert Path(done[0][2]).is_file()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", ["x.json", "x.tsv", "x.csv.gz", "x.xlsx"])
def test_a_path_like_another_format_is_refused(con: Connection, tmp_path: Path, path: str) -> None:
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(3)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p")
    with pytest.raises(Exception, match="looks like a file") as caught:
        con.execute(f"EXPORT r TO '{tmp_path}/{path}'")
    assert "slash at its end" in str(caught.value)
    assert not (tmp_path / path).exists()


def test_a_release_is_checked_by_the_words_that_made_it(con: Connection) -> None:
    con.execute("CREATE TABLE people AS SELECT i % 3 AS age FROM range(30) AS r(i)")
    con.execute("CREATE POLICY made ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(2)")
    con.execute("CREATE ANONYMIZED TABLE released AS POLICY made")
    plain = con.execute("CHECK released").fetchall()
    assert con.execute("CHECK ANONYMIZED TABLE released").fetchall() == plain
    assert con.execute("CHECK ANONYMIZED VIEW released").fetchall() == plain
