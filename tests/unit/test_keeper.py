"""The keeper: who a door lets in, by the catalog as it is now, and which rooms they get."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.clients.serve import keeper as keeper_module
from sqlanon.clients.serve import keeper_main
from sqlanon.clients.serve.keeper import Granted, Keeper
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import CatalogError, InUseError, SqlanonError, UserError
from tests.support.database import template_file

SETUP = """
CREATE TABLE patients AS SELECT i AS age, 'd' || (i % 4) AS disease FROM range(60) AS t(i);
CREATE HIERARCHY ages AS INTERVALS (10, 30);
CREATE POLICY p ON patients (age QUASI IDENTIFIER USING ages, disease SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
CREATE READER ana;
CREATE READER ben;
GRANT SELECT ON RELEASE live, r TO ana;
GRANT SELECT ON RELEASE r TO ben;
"""


class InProcess:
    """Answers as the keeper's process does, in this one, and counts the requests of each kind."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, module: str, request: dict[str, Any]) -> dict[str, Any]:
        assert module == keeper_main.__name__
        self.asked.append(request["do"])
        return keeper_main.answer(request)


class Looks:
    def __init__(self, answering: InProcess) -> None:
        self._answering = answering

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._answering.ask(keeper_main.__name__, request)


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def file(tmp_path):
    return template_file(tmp_path / "clinic.duckdb", SETUP)


def keeper_of(file: Path) -> Keeper:
    keeper = Keeper(file, InProcess())
    # Nor is its process for looks another one.
    keeper._looks = Looks(keeper._children)
    return keeper


@pytest.fixture
def keeper(file):
    return keeper_of(file)


def execute(file: Path, text: str) -> list[tuple[Any, ...]]:
    with sqlanon.connect(str(file)) as connection:
        return connection.execute(text).fetchall()


def token(file: Path, name: str) -> str:
    return str(execute(file, f"ALTER READER {name} NEW TOKEN")[0][3])


def names(grants) -> set[str]:
    return {str(name) for name in grants}


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Another process has the database open for writing."""
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, str(file)], **pipes) as process:
        assert process.stdout.readline() == "open\n"
        yield
        process.stdin.close()
        process.wait()


def test_a_reader_with_the_right_token(file, keeper):
    right = token(file, "ana")
    reader = keeper.authenticate("ana", right)
    assert (reader.name, names(reader.grants), reader.expires) == ("ana", {"main.live", "main.r"}, None)
    assert keeper.authenticate("ANA", right) == reader
    assert right not in repr(reader)
    assert reader.token_sha256 not in repr(reader)
    assert names(keeper.authenticate("ben", token(file, "ben")).grants) == {"main.r"}
    assert names(keeper.releases()) == {"main.live", "main.r"}


@pytest.mark.parametrize("name", ["ana", "ben", "eve", "", "ana\x00", "a" * 10_000])
@pytest.mark.parametrize("wrong", ["", "right", "0" * 64, "sqlanon_", "\x00"])
def test_anybody_else(name, wrong, keeper):
    assert keeper.authenticate(name, wrong) is None


def test_neither_a_digest_nor_the_token_of_another_is_a_token(file, keeper):
    right = token(file, "ana")
    [(digest,)] = execute(file, "SELECT token_sha256 FROM anon.reader WHERE reader = 'ana'")
    assert keeper.authenticate("ana", digest) is None
    assert keeper.authenticate("ben", right) is None
    assert keeper.authenticate("ana", right.upper()) is None
    assert keeper.authenticate("ana", right + " ") is None


def test_the_catalog_is_read_once_for_as_long_as_the_file_is_the_same(file, keeper):
    right = token(file, "ana")
    for _ in range(20):
        assert keeper.authenticate("ana", right) is not None
        assert keeper.authenticate("eve", right) is None
        keeper.releases()
    assert keeper._children.asked == ["look"]


@pytest.mark.parametrize(
    "statement",
    ["DROP READER ana", "ALTER READER ana NEW TOKEN", "DROP READER ana; CREATE READER ana"],
)
def test_access_ends_with_the_next_request(statement, file, keeper):
    right = token(file, "ana")
    assert keeper.authenticate("ana", right) is not None
    execute(file, statement)
    assert keeper.authenticate("ana", right) is None


def test_a_revocation_and_a_grant_count_from_the_next_request(file, keeper):
    right = token(file, "ana")
    assert names(keeper.authenticate("ana", right).grants) == {"main.live", "main.r"}
    execute(file, "REVOKE SELECT ON RELEASE live FROM ana")
    assert names(keeper.authenticate("ana", right).grants) == {"main.r"}
    execute(file, "GRANT SELECT ON RELEASE live TO ana")
    assert names(keeper.authenticate("ana", right).grants) == {"main.live", "main.r"}


def test_a_token_past_its_day(file, keeper, monkeypatch):
    right = token(file, "ana")
    with duckdb.connect(str(file)) as connection:
        connection.execute("UPDATE anon.reader SET expires_on = '2030-06-30' WHERE reader = 'ana'")
    reader = keeper.authenticate("ana", right)
    assert reader.expires == datetime(2030, 7, 1, tzinfo=UTC)

    class Later(datetime):
        @classmethod
        def now(cls, zone=None):
            return now

    monkeypatch.setattr(keeper_module, "datetime", Later)
    now = datetime(2030, 6, 30, 23, 59, 59, tzinfo=UTC)
    assert keeper.authenticate("ana", right) == reader
    now = datetime(2030, 7, 1, tzinfo=UTC)
    assert keeper.authenticate("ana", right) is None


def test_another_release_of_the_name_is_another_grant(file, keeper):
    right = token(file, "ana")
    before = keeper.authenticate("ana", right).grants
    execute(file, "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert names(keeper.authenticate("ana", right).grants) == {"main.live"}
    execute(file, "GRANT SELECT ON RELEASE r TO ana")
    after = keeper.authenticate("ana", right).grants
    assert names(after) == names(before)
    # A room is kept by its set of grants, so each gets its own.
    assert after != before
    assert Granted(("main", "r"), "1") != Granted(("main", "r"), "2") != QualifiedName(("main", "r"))


def test_a_room_has_the_granted_releases(file, keeper, tmp_path):
    grants = keeper.authenticate("ana", token(file, "ana")).grants
    (tmp_path / "room").mkdir()
    room = tmp_path / "room" / "room.duckdb"
    tables = keeper.fill(room, grants)
    assert set(tables) == grants
    assert sorted(str(table) for each in tables.values() for table in each) == ["main.live", "main.r"]
    assert {path.name for path in room.parent.iterdir()} == {"room.duckdb", "room.duckdb.certificates.json"}
    with duckdb.connect(str(room), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM live JOIN r USING (age, disease)").fetchone()[0] > 0


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization",
        "DROP ANONYMIZED TABLE r",
        "DROP READER ana; DROP READER ben",
        "REVOKE SELECT ON RELEASE r FROM ana; REVOKE SELECT ON RELEASE r FROM ben",
        "DROP READER ana; CREATE READER ana; DROP READER ben",
    ],
)
def test_a_release_that_nobody_is_granted_any_more_is_not_copied(statement, file, keeper, tmp_path):
    """The catalog may have changed between a look and the copy."""
    grants = keeper.authenticate("ben", token(file, "ben")).grants
    execute(file, statement)
    (tmp_path / "room").mkdir()
    with pytest.raises(UserError, match=r"main\.r was replaced after it was granted"):
        keeper.fill(tmp_path / "room" / "room.duckdb", grants)
    assert list((tmp_path / "room").iterdir()) == []


def test_a_release_that_fails_its_check_leaves_no_room(file, keeper, tmp_path):
    with duckdb.connect(str(file)) as connection:
        connection.execute("UPDATE r SET disease = 'd9' WHERE rowid = 3")
    (tmp_path / "room").mkdir()
    with pytest.raises(SqlanonError):
        keeper.fill(tmp_path / "room" / "room.duckdb", keeper.releases())
    assert list((tmp_path / "room").iterdir()) == []


def test_a_release_that_fails_its_check_is_closed_alone_and_named_once(file, keeper, tmp_path):
    said = []
    keeper._report = said.append
    with duckdb.connect(str(file)) as connection:
        before = connection.execute("SELECT disease FROM r WHERE rowid = 3").fetchall()[0]
        connection.execute("UPDATE r SET disease = 'd9' WHERE rowid = 3")
    (tmp_path / "room").mkdir()
    room = tmp_path / "room" / "room.duckdb"
    both = keeper.releases()
    for _ in range(2):
        with pytest.raises(InUseError, match="has failed its check"):
            keeper.fill(room, both)
        assert list(room.parent.iterdir()) == []
        assert names(keeper.releases()) == {"main.live"}
    assert names(keeper.fill(room, keeper.releases())) == {"main.live"}
    [line] = said
    assert line.startswith("main.r is no longer served: main.r ")
    # Once the file has changed, it is tried again.
    with duckdb.connect(str(file)) as connection:
        connection.execute("UPDATE r SET disease = ? WHERE rowid = 3", before)
    assert keeper.releases() == both
    assert set(keeper.fill(tmp_path / "room" / "again.duckdb", both)) == both
    assert len(said) == 1


def test_a_macro_that_shadows_a_function_is_refused(file, keeper, tmp_path):
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE MACRO median(x) AS (SELECT max(disease) FROM patients)")
    (tmp_path / "room").mkdir()
    with pytest.raises(UserError, match="macro"):
        keeper.fill(tmp_path / "room" / "room.duckdb", keeper.releases())


# While another process writes.


@pytest.mark.long
def test_while_another_process_writes_the_last_look_counts(file, keeper, tmp_path, monkeypatch):
    monkeypatch.setattr(keeper_module, "_PATIENCE", 0.3)
    right = token(file, "ana")
    reader = keeper.authenticate("ana", right)
    with held(file):
        os.utime(file)
        assert keeper.authenticate("ana", right) == reader
        assert keeper.authenticate("ana", "wrong") is None
        # One look for a moment, whoever asks.
        assert keeper.authenticate("ana", right) == reader
        assert keeper._children.asked.count("look") == 2
        with pytest.raises(InUseError):
            keeper.releases()
        with pytest.raises(InUseError):
            keeper.fill(tmp_path / "room.duckdb", reader.grants)
        assert not (tmp_path / "room.duckdb").exists()
    time.sleep(keeper_module._ATTEMPT_SECONDS)
    execute(file, "DROP READER ana")
    assert keeper.authenticate("ana", right) is None


@pytest.mark.long
def test_a_door_is_not_opened_on_a_database_in_use(file, keeper):
    with held(file), pytest.raises(InUseError):
        keeper.releases()


def test_a_catalog_that_cannot_be_read_lets_nobody_in(file, keeper):
    right = token(file, "ana")
    assert keeper.authenticate("ana", right) is not None
    with duckdb.connect(str(file)) as connection:
        connection.execute("DELETE FROM anon.schema_version WHERE version = 3")
    for _ in range(5):
        with pytest.raises(CatalogError):
            keeper.authenticate("ana", right)
    # A peer without a token cannot have many processes started.
    assert keeper._children.asked == ["look", "look"]


def test_a_database_that_is_gone_lets_nobody_in(file, keeper):
    right = token(file, "ana")
    assert keeper.authenticate("ana", right) is not None
    file.unlink()
    with pytest.raises(UserError, match="no longer exists"):
        keeper.authenticate("ana", right)
    with pytest.raises(UserError):
        keeper.version()


def test_a_database_without_readers(tmp_path):
    with duckdb.connect(str(tmp_path / "empty.duckdb")) as connection:
        connection.execute("CREATE TABLE t (x INTEGER)")
    keeper = keeper_of(tmp_path / "empty.duckdb")
    assert keeper.releases() == frozenset()
    assert keeper.authenticate("ana", "x") is None


# When a room is old.


def test_the_version_follows_the_file(file, keeper):
    keeper.releases()
    before = keeper.version()
    assert keeper.version() == before
    execute(file, "INSERT INTO patients VALUES (7, 'd1')")
    assert keeper.version() != before


def test_a_view_of_other_files_is_always_copied_anew(file, keeper, tmp_path):
    with sqlanon.connect(str(file)) as connection:
        connection.execute(f"COPY patients TO '{tmp_path / 'patients.csv'}'")
        connection.execute(f"""
            CREATE POLICY q ON (FROM '{tmp_path / "patients.csv"}') (age QUASI IDENTIFIER USING ages,
            disease SENSITIVE) REQUIRE k_anonymity(k => 3);
            CREATE ANONYMIZED VIEW of_file AS POLICY q METHOD generalization;
            GRANT SELECT ON RELEASE of_file TO ana;
        """)
    keeper.releases()
    assert keeper.version() != keeper.version()
