"""polars, pandas and Ibis read through `sqlanon serve`, by the lines that it prints."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import ibis
import pandas
import polars
import pytest

from sqlanon.clients.terminal.serve_command import connection_lines
from tests.support.door.doors import OpenedDoor, opened_door, room_file

ROWS = [{"age": 20 + i, "disease": f"d{i % 3}", "seen": date(2026, 1, 1 + i)} for i in range(20)]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    table = "SELECT 20 + i AS age, 'd' || i % 3 AS disease, DATE '2026-01-01' + i::INTEGER AS seen FROM range(20) t(i)"
    with opened_door(folder, room_file(folder / "releases.duckdb", f"CREATE TABLE released AS {table}")) as opened:
        yield opened


@pytest.fixture
def connection(door: OpenedDoor) -> Iterator[Any]:
    with door.connect() as opened:
        yield opened


def test_polars(connection: Any) -> None:
    assert polars.read_database("FROM released ORDER BY age", connection).to_dicts() == ROWS


def test_pandas(connection: Any) -> None:
    assert pandas.read_sql("FROM released ORDER BY age", connection)["disease"].tolist() == [r["disease"] for r in ROWS]


def test_ibis(connection: Any) -> None:
    table = ibis.memtable(polars.read_database("FROM released", connection))
    counts = table.group_by("disease").agg(n=table.count()).order_by("disease").to_polars()
    assert counts.rows() == [("d0", 7), ("d1", 7), ("d2", 6)]


def test_the_lines_that_are_printed_run(door: OpenedDoor) -> None:
    """Each line of Python, with a name and a token in the places that are marked."""
    lines = connection_lines(door.uri, ("main.released",))
    text = "\n".join(lines).replace("NAME", "ana").replace("TOKEN", "right")
    _, _, text = text.partition("ADBC    ")
    adbc, *_ = text.partition("\npolars")
    expressions = {
        name: line.removeprefix(name).strip()
        for line in lines
        for name in ("polars", "pandas", "Ibis")
        if line.startswith(name)
    }
    names: dict[str, Any] = {"polars": polars, "pandas": pandas, "ibis": ibis}
    exec("\n".join(map(str.strip, joined(adbc))), names)  # noqa: S102
    try:
        assert eval(expressions["polars"], names).rows() == [("released",)]  # noqa: S307
        assert eval(expressions["pandas"], names).values.tolist() == [["released"]]  # noqa: S307
        assert eval(expressions["Ibis"], names).to_polars().rows() == [("released",)]  # noqa: S307
    finally:
        names["connection"].close()


def joined(text: str) -> list[str]:
    """Joins the lines of a call that goes on."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and lines[-1].rstrip().endswith(","):
            lines[-1] += line.strip()
        else:
            lines.append(line)
    return lines
