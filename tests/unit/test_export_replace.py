"""REPLACE replaces an earlier export and nothing else: no database that is open, no file of the user's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import sqlanon
from sqlanon import UserError
from sqlanon.export import atomic, layout
from sqlanon.export.certificate_format import CERTIFICATE_FORMAT
from sqlanon.export.layout import layout_of, require_free

FORMATS = ("parquet", "csv", "duckdb")
SETUP = """
CREATE TABLE people AS SELECT i % 3 AS age, i AS bill FROM range(30) AS r(i);
CREATE POLICY p ON people (age QUASI IDENTIFIER, bill SENSITIVE) REQUIRE k_anonymity(k => 10);
CREATE ANONYMIZED TABLE release AS POLICY p METHOD generalization;
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "house.duckdb"
    with sqlanon.connect(path) as connection:
        connection.sql(SETUP)
    return path


@pytest.fixture
def house(made: Path, tmp_path: Path) -> Path:
    """The database, in a folder of its own."""
    (tmp_path / "house").mkdir()
    return Path(shutil.copy(made, tmp_path / "house"))


@pytest.fixture
def connection(house: Path) -> Iterator[Any]:
    with sqlanon.connect(house) as opened:
        yield opened


def export(connection: Any, path: Path | str, format_: str, *, replace: bool = True) -> None:
    said = ", REPLACE true" if replace else ""
    connection.sql(f"EXPORT release TO '{path}' (FORMAT {format_}{said})")


def whole(path: Path) -> bool:
    """Whether a database still holds the source, once it is closed and opened again."""
    with duckdb.connect(path) as again:
        return again.execute("SELECT count(*) FROM people").fetchall() == [(30,)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(
    "name", ["house.duckdb", "./../house/house.duckdb", "linked/house.duckdb", "hard.duckdb", "link.duckdb"]
)
def test_the_open_database_stays(
    house: Path, connection: Any, monkeypatch: pytest.MonkeyPatch, name: str, replace: bool
) -> None:
    monkeypatch.chdir(house.parent)
    os.link(house, house.parent / "hard.duckdb")
    (house.parent / "link.duckdb").symlink_to(house)
    (house.parent / "linked").symlink_to(house.parent)
    with pytest.raises(UserError) as refused:
        export(connection, name, "duckdb", replace=replace)
    assert "which is open" in refused.value.message or "symbolic link" in refused.value.message
    assert "REPLACE" not in str(refused.value.hint)
    connection.close()
    assert whole(house)


@pytest.mark.parametrize("end", [".wal", ".wal/out", ".tmp", ".tmp/deep/out", ".wal.checkpoint", ".wal.recovery"])
def test_what_duckdb_writes_beside_the_database_is_its_own(house: Path, connection: Any, end: str) -> None:
    connection.sql("CHECKPOINT")
    with pytest.raises(UserError, match="belongs to the database house"):
        export(connection, f"{house}{end}", "parquet")
    connection.sql("CREATE TABLE later AS SELECT 1 AS x")
    connection.close()
    assert whole(house)


def test_attached_databases_stay(house: Path, connection: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    connection.execute(f"ATTACH '{other}' AS other; CREATE TABLE other.people AS SELECT i FROM range(30) AS t(i)")
    os.link(other, tmp_path / "hard.db")
    for name in (other, tmp_path / "hard.db"):
        with pytest.raises(UserError, match="belongs to the database other"):
            export(connection, name, "duckdb")
    connection.close()
    assert whole(other)


def test_a_database_of_another_connection_stays(connection: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    with duckdb.connect(other) as elsewhere:
        elsewhere.execute("CREATE TABLE people AS SELECT i FROM range(30) AS t(i); CHECKPOINT")
        os.link(other, tmp_path / "hard.duckdb")
        for name in (other, tmp_path / "hard.duckdb"):
            with pytest.raises(UserError, match="is open in this process"):
                export(connection, name, "duckdb")
        assert elsewhere.execute("SELECT count(*) FROM people").fetchall() == [(30,)]
    assert whole(other)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_former_export_that_is_open_stays(connection: Any, tmp_path: Path, format_: str) -> None:
    export(connection, tmp_path / "out", format_)
    file = tmp_path / "out" / f"release.{format_}"
    with file.open("rb"), pytest.raises(UserError, match="is open in this process"):
        export(connection, tmp_path / "out", format_)
    export(connection, tmp_path / "out", format_)


@pytest.mark.long
def test_an_export_that_was_read_here_can_be_replaced(connection: Any, tmp_path: Path) -> None:
    for format_ in ("parquet", "csv"):
        export(connection, tmp_path / f"x.{format_}", format_)
        assert connection.sql(f"SELECT count(*) FROM '{tmp_path}/x.{format_}'").fetchall() == [(30,)]
        export(connection, tmp_path / f"x.{format_}", format_)
    export(connection, tmp_path / "x.duckdb", "duckdb")
    connection.execute(f"ATTACH '{tmp_path}/x.duckdb' AS x (READ_ONLY); SELECT count(*) FROM x.release; DETACH x")
    export(connection, tmp_path / "x.duckdb", "duckdb")


# What a user may have at a path, by a name: each is made at a path that an export of that format could have.


def own_text(path: Path) -> None:
    path.write_text("age,bill\n1,2\n")


def own_parquet(path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"age": [1], "bill": [2]}), path)


def own_database(path: Path) -> None:
    with duckdb.connect(path) as other:
        other.execute("CREATE TABLE certificate AS SELECT 1 AS json; CREATE TABLE people AS SELECT 1 AS x")


def empty(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()
    (path / "thesis.txt").write_text("mine")


OWN = {"text": own_text, "parquet": own_parquet, "database": own_database, "empty": empty}


def content(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def refused(connection: Any, path: Path, format_: str) -> str:
    """The message of a refusal, after which everything is as it was."""
    root = path.parent
    before = content(root)
    for replace in (False, True):
        with pytest.raises(UserError) as found:
            export(connection, path, format_, replace=replace)
        assert "say (REPLACE true)" not in str(found.value.hint)
        assert content(root) == before
    return found.value.message


@pytest.mark.one_in(4)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("own", OWN)
def test_a_file_of_the_user_s_own_stays(connection: Any, tmp_path: Path, format_: str, own: str) -> None:
    (tmp_path / "out").mkdir()
    OWN[own](tmp_path / "out" / f"x.{format_}")
    said = refused(connection, tmp_path / "out" / f"x.{format_}", format_)
    assert f"x.{format_} has no certificate of an export" in said


@pytest.mark.parametrize("format_", FORMATS)
def test_a_folder_that_is_called_like_a_file_stays(connection: Any, tmp_path: Path, format_: str) -> None:
    folder(tmp_path / f"x.{format_}")
    assert "thesis.txt does not belong to an earlier export" in refused(connection, tmp_path / f"x.{format_}", format_)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("own", OWN)
def test_a_folder_with_one_more_file_stays(connection: Any, tmp_path: Path, format_: str, own: str) -> None:
    export(connection, tmp_path / "out", format_)
    OWN[own](tmp_path / "out" / "mine.txt")
    assert "mine.txt does not belong to an earlier export" in refused(connection, tmp_path / "out", format_)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def with_a_table(path: Path) -> None:
    with duckdb.connect(path) as other:
        other.execute("CREATE TABLE mine AS SELECT 1 AS x")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.one_in(12)
@pytest.mark.parametrize("as_folder", [False, True])
@pytest.mark.parametrize(
    ("format_", "change"),
    [
        *((format_, change) for format_ in FORMATS for change in (appended, emptied, own_text)),
        ("duckdb", with_a_table),
    ],
)
def test_an_export_that_was_changed_is_its_owner_s(
    connection: Any, tmp_path: Path, format_: str, change: Callable[[Path], None], as_folder: bool
) -> None:
    target = tmp_path / "out" if as_folder else tmp_path / f"release.{format_}"
    export(connection, target, format_)
    change(target / f"release.{format_}" if as_folder else target)
    assert f"release.{format_} was changed since it was exported" in refused(connection, target, format_)


@pytest.mark.one_in(18)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", ["json", "md"])
def test_a_certificate_of_the_user_s_own_stays(connection: Any, tmp_path: Path, format_: str, name: str) -> None:
    for target, file in ((tmp_path / "out", f"certificate.{name}"), (tmp_path, f"x.{format_}.certificate.{name}")):
        path = target if file.startswith("c") else target / f"x.{format_}"
        export(connection, path, format_)
        (target / file).write_text('{"grades": "A"}')
        assert f"{file} is not a certificate" in refused(connection, path, format_)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_without_its_certificate(connection: Any, tmp_path: Path, format_: str) -> None:
    """Files that carry one themselves are known by it, and only those."""
    target = tmp_path / f"x.{format_}"
    export(connection, target, format_)
    for name in ("json", "md"):
        (tmp_path / f"x.{format_}.certificate.{name}").unlink()
    if format_ == "csv":
        assert "has no certificate" in refused(connection, target, format_)
    else:
        export(connection, target, format_)
        assert len(list(tmp_path.glob("x.*"))) == 3
    if format_ == "duckdb":
        (tmp_path / "x.duckdb.certificate.json").unlink()
        with_a_table(target)
        assert "has no certificate" in refused(connection, target, format_)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_that_cannot_be_read_stays(
    connection: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    target = tmp_path / f"x.{format_}"
    export(connection, target, format_)

    def unreadable(file: Path) -> str:
        raise PermissionError(13, "denied", str(file))

    monkeypatch.setattr(layout, "file_hash", unreadable)
    with pytest.raises(UserError, match=rf"x\.{format_} cannot be read"):
        export(connection, target, format_)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["x.duckdb", "x.db"])
@pytest.mark.parametrize("there", [False, True])
def test_a_log_that_is_left_is_not_played_into_an_export(
    connection: Any, tmp_path: Path, name: str, there: bool
) -> None:
    if there:
        export(connection, tmp_path / name, "duckdb")
    (tmp_path / f"{name}.wal").write_bytes(b"log")
    assert "was not closed" in refused(connection, tmp_path / name, "duckdb")


@pytest.mark.parametrize("exchanged", [True, False])
def test_a_file_that_comes_while_folders_are_exchanged_stays(
    connection: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanged: bool
) -> None:
    target = tmp_path / "out"
    export(connection, target, "csv")
    exchange, came = atomic.exchange, []

    def late(new: Path, old: Path) -> None:
        if not came:
            (old / "thesis.txt").write_text("mine")
            came.append(True)
        exchange(new, old)

    monkeypatch.setattr(atomic, "exchange", late)
    if not exchanged:
        monkeypatch.setattr("sqlanon.export.atomic._exchanged", lambda new, target: False)
    with pytest.raises(UserError, match=r"thesis\.txt does not belong to an earlier export"):
        export(connection, target, "csv")
    assert (target / "thesis.txt").read_text() == "mine"
    assert {entry.name for entry in tmp_path.iterdir()} == {"house", "out"}


def test_a_failure_between_the_files_puts_the_certificates_back(
    connection: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x.csv"
    export(connection, target, "csv")
    before = {name: data for name, data in content(tmp_path).items() if name.startswith("x.")}
    replace = os.replace

    def full(source: Path, goal: Path) -> None:
        if Path(goal) == target:
            raise OSError(28, "no space left")
        replace(source, goal)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(sqlanon.EngineError, match="No space left"):
        export(connection, target, "csv")
    assert {name: data for name, data in content(tmp_path).items() if name.startswith("x.")} == before


def test_what_an_unfinished_export_says_of_other_files_does_not_count(tmp_path: Path) -> None:
    layout = layout_of(f"{tmp_path}/x.csv", "csv", "release")
    left = tmp_path / ".sqlanon-1" / "export"
    left.mkdir(parents=True)
    (left / layout.certificate).write_text(f'{{"format": "{CERTIFICATE_FORMAT}", "files": [{{"name": "x.csv"}}]}}')
    (tmp_path / "x.csv").write_text("mine")
    with pytest.raises(UserError, match="has no certificate"):
        require_free(layout, replace=True)
