"""What an error says of a file that is not UTF-8, and of values that a hierarchy spells otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon
from sqlanon import Connection
from sqlanon.errors import SqlanonError


@pytest.fixture
def con() -> Iterator[Connection]:
    with sqlanon.connect() as opened:
        yield opened


def refused(con: Connection, statement: str) -> SqlanonError:
    with pytest.raises(SqlanonError) as caught:
        con.execute(statement)
    return caught.value


READS_ROWS = ("PROFILE {}", "CHECK {} (name)", "CREATE HIERARCHY h AS LEVELS (FROM {})")
READS_COLUMNS = (
    "CREATE POLICY p ON {} (name QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
    "CREATE POLICY p ON (SELECT 1 AS name) (name QUASI IDENTIFIER) AGAINST {} REQUIRE k_map(k => 2)",
)
# With many rows the byte that is not UTF-8 comes after those by which DuckDB finds the columns.
CASES = [(s, 3) for s in (*READS_ROWS, *READS_COLUMNS)] + [(s, 60_000) for s in READS_ROWS]


@pytest.mark.parametrize(("statement", "rows"), CASES)
def test_a_file_that_is_not_utf8_is_said_to_be(con: Connection, tmp_path: Path, statement: str, rows: int) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes(b"name;place\n" + b"Muster;Ulm\n" * rows + "Müller;Köln\n".encode("latin-1"))
    error = refused(con, statement.format(f"'{file}'"))
    assert "a file is not UTF-8" in error.message
    assert "encoding = 'latin-1'" in str(error.hint)
    assert "Köln" not in str(error)
    assert "ller" not in str(error)


def test_a_file_is_read_with_its_encoding(con: Connection, tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("name;place\nMüller;Köln\n".encode("latin-1"))
    con.execute(f"PROFILE read_csv('{file}', encoding = 'latin-1')")


def test_json_that_is_not_utf8(con: Connection, tmp_path: Path) -> None:
    file = tmp_path / "latin.json"
    file.write_bytes('[{"name": "Müller"}]'.encode("latin-1"))
    assert "a file is not UTF-8" in refused(con, f"PROFILE '{file}'").message


def test_another_encoding_than_the_one_that_is_named(con: Connection, tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("Nr;Name\r\n1;Müller\r\n".encode("latin-1"))
    error = refused(con, f"PROFILE read_csv('{file}', encoding = 'utf-16')")
    assert "a file is not in the encoding that is named" in error.message


HIERARCHY = "CREATE HIERARCHY w AS LEVELS (FROM (VALUES ('Private', 'p'), ('State', 's'), ('Local', 's')) AS t(v, l))"
RELEASES = (
    "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization",
    "CREATE ANONYMIZED VIEW r AS POLICY p",
    "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian",
)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("values", "differ", "spelled"),
    [
        ((" Private", "State ", "Local"), "2 of 2 values differ from listed ones by blanks at the ends only", "trim("),
        (("private", "State", "Local"), "1 of 1 value differ from listed ones by case or", "lower(trim("),
        ((" private", "State", "Federal"), "1 of 2 values differ", "lower(trim("),
        (("Federal", "State", "Local"), None, "add them to its query"),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_a_value_that_is_spelled_otherwise(
    con: Connection, values: tuple[str, ...], differ: str | None, spelled: str, release: str
) -> None:
    con.execute("CREATE TABLE jobs AS SELECT ?[1 + i % 3] AS work FROM range(30) AS t(i)", [list(values)])
    con.execute(HIERARCHY)
    con.execute("CREATE POLICY p ON jobs (work QUASI IDENTIFIER USING w) REQUIRE k_anonymity(k => 5)")
    hint = str(refused(con, release).hint)
    assert (differ or "") in hint
    assert spelled in hint
    assert (differ is None) != ("differ" in hint)


def test_a_sensitive_value_that_is_spelled_otherwise(con: Connection) -> None:
    con.script(f"""
        CREATE TABLE jobs AS SELECT i % 2 AS ward, ['Private ', 'State'][1 + i % 2] AS work FROM range(30) AS t(i);
        {HIERARCHY};
        CREATE POLICY p ON jobs (ward QUASI IDENTIFIER, work SENSITIVE USING w)
        REQUIRE t_closeness(t => 0.5, distance => 'hierarchical')
    """)
    assert "trim(" in str(refused(con, RELEASES[0]).hint)


def test_an_item_of_a_list_that_is_spelled_otherwise_is_not_named(con: Connection) -> None:
    con.script(f"""
        CREATE TABLE baskets AS SELECT ['Private', 'LOCAL'] AS items FROM range(9);
        {HIERARCHY};
        CREATE POLICY p ON baskets (items QUASI IDENTIFIER USING w) REQUIRE km_anonymity(k => 2, m => 1)
    """)
    error = refused(con, "CREATE ANONYMIZED TABLE r AS POLICY p METHOD itemsets")
    assert "differ from listed ones" in str(error.hint)
    assert "LOCAL" not in str(error)
