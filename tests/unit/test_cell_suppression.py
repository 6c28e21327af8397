"""Suppression of single cells: the seven rows that are worked out by hand, what is refused, and what is said of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, UserError
from tests.oracles.cell_suppression import agrees, cost, greedy, least_cost, matches, own, published
from tests.support.database import new_database

SEVEN = [
    ("20s", "F", "N"),
    ("20s", "F", "N"),
    ("20s", "M", "N"),
    ("30s", "F", "N"),
    ("30s", "M", "S"),
    ("30s", "M", "S"),
    ("40s", "M", "S"),
]
CELLS = "METHOD generalization(cells => 'suppress', suppression => {})"


@pytest.fixture
def con() -> Iterator[Connection]:
    with new_database() as connection:
        yield connection


def fill(con: Connection, rows: list[tuple[Any, ...]], names: str = "a, b, c, id") -> None:
    con.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {', '.join(map(sql, rows))}) AS v({names})")


def sql(row: tuple[Any, ...]) -> str:
    return f"({', '.join('NULL' if v is None else repr(v) for v in row)})"


def seven(con: Connection, weights: tuple[int, ...] = (1, 1, 1), suppression: str = "0.2") -> list[Any]:
    fill(con, [(*row, place) for place, row in enumerate(SEVEN, start=1)])
    quasi = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0 WEIGHT {w}" for name, w in zip("abc", weights, strict=True))
    con.execute(f"CREATE POLICY p ON t ({quasi}, id INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p {CELLS.format(suppression)}")
    return con.duckdb.execute("FROM r ORDER BY id").fetchall()


def test_equal_weights(con: Connection) -> None:
    """Rows 3 and 4 keep what they have in common, and no set of columns saves row 7."""
    assert seven(con) == [
        ("20s", "F", "N", 1),
        ("20s", "F", "N", 2),
        (None, None, "N", 3),
        (None, None, "N", 4),
        ("30s", "M", "S", 5),
        ("30s", "M", "S", 6),
    ]
    assert con.execute("CHECK r").fetchall() == [("main.r", "k_anonymity", None, 2.0, 2.0, True)]
    loss, left = con.duckdb.execute("SELECT loss, suppressed_rows FROM anon.release").fetchall()[0]
    assert (loss, left) == (pytest.approx(7 / 21), 1)
    figures = con.execute("MEASURE r WITH FIGURES (granularity_loss)").fetchall()
    assert [figure[-1] for figure in figures] == pytest.approx([3 / 7, 3 / 7, 1 / 7, 7 / 21])


@pytest.mark.parametrize(("weights", "kept", "whole"), [((1, 1, 1), 4, 7), ((3, 1, 1), 8, 13), ((1, 3, 3), 8, 15)])
def test_what_weights_cost(con: Connection, weights: tuple[int, ...], kept: int, whole: int) -> None:
    """The cells of the published rows, and with those of the row that is not."""
    prices = [Decimal(weight) for weight in weights]
    chosen = greedy(SEVEN, range(3), prices, lambda places: len(places) >= 2)
    assert (cost([lost for lost in chosen if lost is not None], prices), cost(chosen, prices)) == (kept, whole)
    rows = [row[:-1] for row in seven(con, weights)]
    assert Counter(rows) == Counter(published(SEVEN, chosen))


def test_the_readings_of_a_missing_cell() -> None:
    """A linker who knows the true ages, and sdcMicro's own example of compatible rows."""
    shown = [(None, "F"), (40, "F"), (40, "F")]
    true = [(30, "F"), (40, "F"), (40, "F")]
    assert (own(shown), agrees(shown, true), matches(shown)) == ([1, 2, 2], [1, 3, 3], [3, 3, 3])
    rows = [(2, 3, 1), (3, 3, 3), (2, 3, None), (2, 3, 2), (3, 3, 1), (3, 3, 1), (1, 4, None), (2, 3, 1)]
    assert (own(rows), matches(rows)) == ([2, 1, 1, 1, 2, 2, 1, 2], [3, 1, 4, 2, 2, 2, 1, 3])


@pytest.mark.parametrize(("weights", "least"), [((1, 1, 1), 7), ((3, 1, 1), 13), ((1, 3, 3), 11)])
def test_the_least_cost_of_the_seven_rows(weights: tuple[int, ...], least: int) -> None:
    assert least_cost(SEVEN, 2, [Decimal(weight) for weight in weights]) == least


def test_too_few_rows_may_be_left_out(con: Connection) -> None:
    with pytest.raises(PrivacyViolation, match=r"0 of 7 rows suppressed: 1 of 7 rows would be") as caught:
        seven(con, suppression="0.1")
    assert "20s" not in str(caught.value)
    assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]


def test_an_export_is_checked_with_null_as_a_value(con: Connection, tmp_path: Path) -> None:
    seven(con)
    con.execute(f"EXPORT r TO '{tmp_path}' (FORMAT csv)")
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    columns = certificate["columns"]
    assert [column["reading"] for column in columns] == ["label_or_null", "label_or_null", "exact", "exact"]
    assert [column.get("levels") for column in columns[:2]] == [[0, 1], [0, 1]]
    assert "NULL equals NULL alone" in certificate["method"]["published"]
    assert all(row[5] for row in con.execute(f"CHECK '{tmp_path}'").fetchall())


def test_an_estimate_takes_null_for_any_value(con: Connection) -> None:
    """Nobody is certainly a woman of the 30s, and the two rows without age and sex may be two, as the missing one."""
    seven(con)
    answers = con.execute("ESTIMATE SELECT count(*) FROM t WHERE a = '30s' AND b = 'F' FROM RELEASE r").fetchall()
    (answer,) = answers
    names = [column[0] for column in con.description]
    found = dict(zip(names, answer, strict=True))
    assert (found["count_low"], found["count_high"]) == (0, 3)


def test_missing_is_refused_where_no_cell_is(con: Connection) -> None:
    seven(con)
    figures = con.execute("MEASURE r WITH FIGURES (missing)").fetchall()
    assert [figure[1:] for figure in figures] == [
        ("suppressed_cells", "a", 2.0),
        ("suppressed_cells", "b", 2.0),
        ("suppressed_cells", None, 4.0),
        *((f"least_{reading}", None, 2.0) for reading in ("own", "agrees", "matches")),
    ]
    con.execute("CREATE POLICY whole ON t (a QUASI IDENTIFIER, id INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE w AS POLICY whole METHOD generalization(suppression => 0.2)")
    with pytest.raises(PolicyError, match="no cell is suppressed") as caught:
        con.execute("MEASURE w WITH FIGURES (missing)")
    assert caught.value.hint
    with pytest.raises(UserError, match="takes no arguments"):
        con.execute("MEASURE r WITH FIGURES (missing(k => 2))")


def refused(con: Connection, what: str, kind: type[Exception] = PolicyError, **parts: str) -> str:
    policy = {
        "columns": "a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE",
        "require": "k_anonymity(k => 2)",
    } | parts
    con.execute(f"CREATE POLICY p ON t ({policy['columns']}) REQUIRE {policy['require']}")
    with pytest.raises(kind) as caught:
        con.execute(what)
    assert caught.value.hint
    return str(caught.value)


VIEW = f"CREATE ANONYMIZED VIEW r AS POLICY p {CELLS.format(0)}"
TABLE = f"CREATE ANONYMIZED TABLE r AS POLICY p {CELLS.format(0)}"


@pytest.mark.parametrize(
    ("what", "parts", "words"),
    [
        (VIEW, {}, "a live view cannot choose at each query"),
        (TABLE.replace("cells", "recoding => 'local', cells"), {}, "one level for each column"),
        (TABLE, {"require": "k_anonymity(k => 2), k_anonymity(k => 2, on => (a))"}, "classes by all quasi-identifiers"),
    ],
)
def test_what_is_refused(con: Connection, what: str, parts: dict[str, str], words: str) -> None:
    fill(con, [("x", "y", "z"), ("x", "y", "z")], "a, b, s")
    assert words in refused(con, what, **parts)


def test_null_in_the_source_is_refused_by_its_number(con: Connection) -> None:
    fill(con, [("hidden", "y", "z"), (None, "y", "z")], "a, b, s")
    message = refused(con, TABLE, DataError)
    assert "a is NULL in 1 row," in message
    assert "hidden" not in message


def test_thirteen_columns_are_refused(con: Connection) -> None:
    names = [f"c{i}" for i in range(13)]
    con.execute(f"CREATE TABLE t AS SELECT {', '.join(f'1 AS {name}' for name in names)} FROM range(3)")
    columns = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    assert "there are 13, more than 12" in refused(con, TABLE, columns=columns)


def test_explain_counts_the_cells(con: Connection) -> None:
    seven(con)
    found = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE x AS POLICY p {CELLS.format('0.2')}").fetchall()
    details = {(stage, item): detail for stage, item, detail in found}
    assert details["solve", "a"] == "level 0 of 1: kept, NULL in 2 of 6 rows"
    assert details["solve", "c"] == "level 0 of 1: kept"
    assert details["solve", "suppressed cells"] == "4 of 18 cells, in 2 of 6 rows"
