"""Errors as readers see them through the standard driver, by status and text, and parameters by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import adbc_driver_manager
import pyarrow as pa
import pytest

from sqlanon.clients.serve.workers import Limits
from sqlanon.errors import InUseError
from tests.support.door.doors import OpenedDoor, opened_door, room_file

STATUS = adbc_driver_manager.AdbcStatusCode


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    rows = "CREATE TABLE released AS SELECT i AS age, 'v' || i % 3 AS kind FROM range(100) AS t(i)"
    with opened_door(folder, room_file(folder / "r.duckdb", rows), limits=Limits(seconds=2, rows=1000)) as opened:
        yield opened


@pytest.fixture
def cursor(door: OpenedDoor) -> Iterator[Any]:
    with door.connect() as connection, connection.cursor() as opened:
        yield opened


def ask(door: OpenedDoor, statement: str, token: str) -> None:
    with door.connect(token=token) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.fetchall()


def error_of(door: OpenedDoor, statement: str, token: str = "right") -> tuple[Any, str]:
    """Returns the status of an error, and its text before the words of the driver."""
    with pytest.raises(adbc_driver_manager.Error) as caught:
        ask(door, statement, token)
    text = str(caught.value)
    assert "Traceback" not in text
    assert not re.search(r"(?<!\.)\.\.(?!\.)|[!,:;]\.|: ;", text)
    return caught.value.status_code, text.partition("[FlightSQL] ")[2].partition(". Detail")[0]


@pytest.mark.parametrize(
    ("statement", "status", "text"),
    [
        ("FROM patients", STATUS.UNAUTHORIZED, "no release of this name is granted to you: patients"),
        ("SELECT getenv('HOME') FROM released", STATUS.UNAUTHORIZED, "the function getenv is not allowed here"),
        ("SHOW READERS", STATUS.UNAUTHORIZED, "SHOW READERS is not answered here"),
        ("CHECK released", STATUS.UNAUTHORIZED, "CHECK is a statement for the owner of the releases"),
        ("SELECT count(*) FROM range(100000000000)", STATUS.TIMEOUT, "the statement took longer than it may"),
        ("FROM range(2000)", STATUS.UNKNOWN, "the answer has more than 1,000 rows"),
        # pyarrow has no class without a traceback for an invalid argument.
        ("SELEC 1", STATUS.UNKNOWN, "the statement is not SQL that DuckDB reads"),
        ("SELECT kind + 1 FROM released", STATUS.UNKNOWN, "Binder Error: No function matches"),
        ("SELECT gone FROM released", STATUS.UNKNOWN, 'Referenced column "gone" not found in FROM clause'),
    ],
)
def test_each_error_has_a_status_and_a_line(door: OpenedDoor, statement: str, status: Any, text: str) -> None:
    found, line = error_of(door, statement)
    assert text in line
    assert found == status


def test_a_wrong_token_is_no_permission_and_a_source_in_use_is_unavailable(door: OpenedDoor) -> None:
    assert error_of(door, "FROM released", token="wrong")[0] == STATUS.UNAUTHENTICATED
    for number in range(2):
        # The first refresh makes the room again, and the second one closes it, because nobody has used it.
        door.source.change(f"CREATE OR REPLACE TABLE other AS SELECT {number} AS x")
        door.rooms.refresh()
    door.source.error = InUseError("somebody writes")
    try:
        status, line = error_of(door, "FROM released")
    finally:
        door.source.error = None
    assert (status, line) == (STATUS.IO, "the releases cannot be read now: try again later")


def test_parameters_by_name_take_values_in_the_order_of_their_first_appearance(cursor: Any) -> None:
    query = "SELECT count(*) FROM released WHERE kind = $kind AND age BETWEEN $low AND $high AND $KIND = 'v1'"
    cursor.execute(query, ("v1", 10, 19))
    assert cursor.fetchall() == [(4,)]
    # An Arrow table has names, which count whatever their order.
    cursor.execute(query, pa.record_batch({"high": [19], "kind": ["v1"], "low": [10]}))
    assert cursor.fetchall() == [(4,)]


def test_a_statement_prepared_for_columns_of_other_types_is_prepared_again(door: OpenedDoor, cursor: Any) -> None:
    query = "SELECT age FROM released ORDER BY 1 LIMIT 2"
    cursor.execute(query)
    assert cursor.fetchall() == [(0,), (1,)]
    door.source.change("CREATE OR REPLACE TABLE released AS SELECT '[0, 9]' AS age, 'v1' AS kind FROM range(100)")
    door.rooms.refresh()
    with pytest.raises(adbc_driver_manager.Error, match=r"main\.released was made again with other columns or types"):
        cursor.execute(query)
    assert door.rows(query) == [("[0, 9]",), ("[0, 9]",)]
