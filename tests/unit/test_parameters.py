"""Values that are handed in with a statement: ?, $1, $name and getvariable('name')."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon import Connection, PolicyError, StatementError, UserError
from tests.support.database import template


@pytest.fixture
def con() -> Connection:
    return template("""
        CREATE TABLE t AS SELECT i % 5 AS a, i % 3 AS b, i % 4 AS s FROM range(120) AS r(i);
        CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 3);
    """)


CHECKED = "CHECK t (a) REQUIRE k_anonymity(k => {})"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("written", "parameters"),
    [
        ("?", [7]),
        ("$1", [7]),
        ("$k", {"k": 7}),
        ("$K", {"k": 7}),
        ("?", (np.int64(7),)),
        ("?", [7.0]),
        ("?", [Decimal("7")]),
        ("getvariable('k')", None),
        ("GetVariable('k')", None),
    ],
)
def test_every_way_to_say_seven(con: Connection, written: str, parameters: Any) -> None:
    con.execute("SET VARIABLE k = 7")
    expected = con.execute(CHECKED.format(7)).fetchall()
    assert con.execute(CHECKED.format(written), parameters).fetchall() == expected
    assert con.sql(CHECKED.format(written), params=parameters).fetchall() == expected


def test_each_question_mark_has_its_own_value(con: Connection) -> None:
    con.execute(
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => ?, loss => ?)", [0.25, "height"]
    )
    (stated,) = con.execute("SELECT method_arguments FROM anon.release").fetchone() or ()
    assert stated == '{"suppression":0.25,"loss":"height"}'


def test_names_paths_and_literals_of_queries(con: Connection, tmp_path: Path) -> None:
    """A job names its release after the day, without pasting text."""
    hostile = 'r "2026-11-23"; DROP TABLE t'
    con.execute("CREATE ANONYMIZED TABLE $name AS POLICY $policy", {"name": hostile, "policy": "p"})
    assert con.execute("SELECT object_name FROM anon.release").fetchall() == [(hostile,)]
    con.execute("EXPORT $name TO $path", {"name": hostile, "path": f"{tmp_path}/out/"})
    assert (tmp_path / "out/certificate.json").is_file()
    estimated = con.execute(
        "ESTIMATE SELECT count(*) AS n FROM t WHERE a = $a FROM RELEASE $name", {"a": 2, "name": hostile}
    ).fetchall()
    assert estimated[0][0] == 24
    rows = con.execute("CHECK (SELECT * FROM t WHERE a <> $a) (a) REQUIRE k_anonymity(k => 24)", {"a": 0}).fetchall()
    assert rows[0][-1] is True
    assert con.execute("SELECT count(*) FROM t").fetchall() == [(120,)]


def test_a_text_in_a_query_stays_a_text(con: Connection) -> None:
    con.execute("CREATE TABLE names AS SELECT 'it''s' AS name, i % 2 AS a FROM range(10) AS r(i)")
    rows = con.execute("CHECK (SELECT a FROM names WHERE name = ?) (a) REQUIRE k_anonymity(5)", ["it's"]).fetchall()
    assert rows[0][3:] == (5.0, 5.0, True) or rows[0][-1] is True
    assert rows[0][4] == 5.0


def test_the_values_belong_to_the_last_statement(con: Connection) -> None:
    con.execute("SELECT 1; " + CHECKED.format("?"), [3])
    assert len(con.fetchall()) == 1


@pytest.mark.parametrize(
    ("statement", "parameters", "said"),
    [
        (CHECKED.format("?"), None, "$1 has no value"),
        (CHECKED.format("$k"), {"j": 3}, "$k has no value"),
        (CHECKED.format("?"), [None], "$1 has no value"),
        (CHECKED.format("getvariable('nothing')"), None, "getvariable('nothing') has no value"),
        (CHECKED.format("?"), [object()], "$1 is of type object"),
        (CHECKED.format("?"), [float("nan")], "$1 is of type float"),
        (CHECKED.format("3"), [3], "the statement has no parameter $1"),
        (CHECKED.format("$k"), {"k": 3, "l": 4}, "the statement has no parameter $l"),
        ("CHECK t (?) REQUIRE k_anonymity(3)", [3], "expected a column, found $1 = 3"),
        ("CHECK t (?) REQUIRE k_anonymity(3)", [""], "expected a column"),
        ("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => ?)", ["much"], "not 'much'"),
        (CHECKED.format("?"), 3, "parameters are a list or a dict"),
    ],
)
def test_what_cannot_stand_there(con: Connection, statement: str, parameters: Any, said: str) -> None:
    with pytest.raises(UserError) as caught:
        con.execute(statement, parameters)
    assert said in str(caught.value)


def test_without_values_a_script_is_still_read_first(con: Connection) -> None:
    """A misspelt statement stops a script before its first one runs, whatever its parameters are."""
    with pytest.raises(StatementError, match="expected"):
        con.execute("CREATE TABLE u AS SELECT 1; CHECK t (a) REQIRE k_anonymity(k => ?)", [3])
    assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'u'").fetchall() == [(0,)]


@pytest.mark.long
def test_an_error_in_a_query_with_parameters_points_at_the_query(con: Connection) -> None:
    """A literal is longer or shorter than the parameter that it replaces."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    query = "ESTIMATE SELECT count(*) FROM t WHERE a = {} AND nix = 3 FROM RELEASE r"
    for written, parameters, at in (("10000", None, "nix"), ("$a", {"a": 10000}, "SELECT"), ("?", [1], "SELECT")):
        statement = query.format(written)
        with pytest.raises(PolicyError, match="nix") as caught:
            con.execute(statement, parameters)
        assert caught.value.position is not None
        assert statement[caught.value.position.column - 1 :].startswith(at)


@pytest.mark.parametrize(
    ("condition", "parameters", "expected"),
    [
        ("a > 3-? OR b = 2", [-1], "a > 3-(-1) OR b = 2"),
        ("a > 3-?\nOR b = 2", [-1], "a > 3-(-1) OR b = 2"),
        ("a BETWEEN?AND?", [1, 2], "a BETWEEN 1 AND 2"),
        ("a<-?", [-3], "a < 3"),
        ("list_contains(?, a)", [[1, 2]], "list_contains([1, 2], a)"),
        ("a IN ?", [[1, 2]], "a IN (1, 2)"),
    ],
)
def test_a_literal_in_a_query_is_what_the_parameter_is(
    con: Connection, condition: str, parameters: list[Any], expected: str
) -> None:
    """Nothing behind a negative number becomes a comment, and nothing before it a longer word."""
    checked = con.execute(f"CHECK (SELECT a, b FROM t WHERE {condition}) (b)", parameters).fetchall()
    rows = {question: figure for _, question, _, _, figure, _ in checked}["rows"]
    assert rows == con.duckdb.execute(f"SELECT count(*) FROM t WHERE {expected}").fetchall()[0][0]


def test_numbers_of_numpy_are_numbers(con: Connection) -> None:
    statement = "CHECK t (a) SENSITIVE s REQUIRE t_closeness(t => {})"
    expected = con.execute(statement.format(0.5)).fetchall()
    for value in (np.float64(0.5), np.float32(0.5)):
        assert con.execute(statement.format("?"), [value]).fetchall() == expected


def test_where_a_name_or_a_path_may_stand_a_parameter_is_a_name(con: Connection, tmp_path: Path) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute("EXPORT r TO ?", [f"{tmp_path}/out/"])
    assert con.execute(f"CHECK '{tmp_path}/out/'").fetchall()
    for statement in ("CHECK ?", "ESTIMATE SELECT count(*) FROM t FROM RELEASE ?"):
        with pytest.raises(UserError, match="there is no release"):
            con.execute(statement, [f"{tmp_path}/out/"])
        assert con.execute(statement, ["r"]).fetchall()
    policy = "CREATE POLICY q ON {} (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3)"
    with pytest.raises(PolicyError, match="there is no table or view"):
        con.execute(policy.format("?"), [f"{tmp_path}/out/r.parquet"])
    assert con.execute(policy.format("read_parquet(?)"), [f"{tmp_path}/out/r.parquet"]).fetchall()
