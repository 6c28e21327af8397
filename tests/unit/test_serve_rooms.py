"""Rooms of `sqlanon serve`: what is in them, who may read them, when they are made anew, and what kills leave."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.clients.serve import exports_main
from sqlanon.clients.serve.children import Children
from sqlanon.clients.serve.exports import Exports, export_files
from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.readers_file import ReadersFile, add_reader, read_readers
from sqlanon.clients.serve.refused import Refused
from sqlanon.clients.serve.rooms import Rooms, RoomSource, rooms_folder
from sqlanon.clients.serve.workers import Limits, Pool
from sqlanon.domain.tokens import token_digest
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InternalError, InUseError, PrivacyViolation, UserError
from tests.support.database import template
from tests.support.door.doors import FileOfReleases, main_table, room_file

# The canary is in the source and in no release: the names, a row of a class of its own, an exact age.
CANARY = "Xenia Zykova 4711"
SOURCE = f"""
CREATE TABLE patients AS
SELECT 'name ' || i AS name, 20 + i % 40 AS age, 'F' AS sex, 'flu ' || i % 4 AS disease FROM range(80) t(i);
INSERT INTO patients VALUES ('{CANARY}', 117, 'X', 'canary disease');
CREATE HIERARCHY ages AS INTERVALS (20, 40);
CREATE POLICY p ON patients (
    name IDENTIFIER, age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER, disease SENSITIVE
) REQUIRE k_anonymity(k => 4);
CREATE ANONYMIZED TABLE study AS POLICY p METHOD generalization(suppression => 0.05);
"""


class InThisProcess(Children):
    """Answers in the process of the test, where the packages are loaded."""

    def ask(self, module: str, request: dict[str, Any]) -> dict[str, Any]:
        mask = os.umask(0o022)
        try:
            return exports_main._answer(request)
        finally:
            os.umask(mask)


@pytest.fixture
def children() -> InThisProcess:
    return InThisProcess()


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    opened = Pool(Limits(seconds=20), 2)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    with template(SOURCE) as connection:
        connection.sql(f"EXPORT study TO '{folder}/study/' (FORMAT csv)")
    return folder


@pytest.fixture
def exports(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "exports"))


@pytest.mark.long
def test_a_process_of_its_own_answers_the_same(exports: Path, tmp_path: Path) -> None:
    """Errors of the child come back as what they are, and a closed door starts no child."""
    children = Children()
    source = Exports(exports, children)
    room = tmp_path / "released.duckdb"
    source.fill(room, source.releases())
    assert stat.S_IMODE(room.stat().st_mode) == 0o600
    study(exports).write_text("changed", encoding="utf-8")
    with pytest.raises(PrivacyViolation, match="is not the file that"):
        Exports(exports, children).releases()
    assert source.releases() == frozenset()
    children.close()
    with pytest.raises(UserError, match="closing"):
        Exports(exports, children).releases()


def study(path: Path) -> Path:
    return path / "study" / "study.csv"


def test_a_room_has_the_rows_of_the_export_and_no_canary(exports: Path, tmp_path: Path, children: Children) -> None:
    source = Exports(exports, children)
    assert source.releases() == {main_table("study")}
    room = tmp_path / "room" / "released.duckdb"
    room.parent.mkdir()
    assert source.fill(room, source.releases()) == {main_table("study"): (main_table("study"),)}
    assert stat.S_IMODE(room.stat().st_mode) == 0o600
    with duckdb.connect(str(room), read_only=True) as opened:
        rows = opened.execute("FROM study ORDER BY ALL").fetchall()
        assert opened.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]
    with duckdb.connect() as other:
        expected = other.execute("FROM read_csv(?, all_varchar => true) ORDER BY ALL", [str(study(exports))]).fetchall()
    assert [tuple(map(str, row)) for row in rows] == [tuple(map(str, row)) for row in expected]
    content = room.read_bytes()
    for text in (CANARY, "Xenia", "canary disease", "name 7", "patients"):
        assert text.encode() not in content
    # The search would find a value that is there.
    assert b"flu 3" in content
    certificates = room.with_name(f"{room.name}.certificates.json")
    assert set(room.parent.iterdir()) == {room, certificates}
    assert stat.S_IMODE(certificates.stat().st_mode) == 0o600
    assert not any(text in certificates.read_text(encoding="utf-8") for text in (CANARY, "Xenia", "disease 7", "flu 3"))


def test_a_changed_file_is_refused(exports: Path, children: Children) -> None:
    study(exports).write_text(study(exports).read_text(encoding="utf-8").replace("flu 1", "flu 2", 1), encoding="utf-8")
    with pytest.raises(PrivacyViolation, match="is not the file that"):
        Exports(exports, children).releases()


def test_an_export_that_does_not_meet_its_requirement_is_refused(exports: Path, children: Children) -> None:
    """Files and certificate fit each other, but the certificate claims k = 40, which the rows do not have."""
    certificate = exports / "study" / "certificate.json"
    text = certificate.read_text(encoding="utf-8").replace("k => 4", "k => 60")
    claimed = json.loads(text)
    for requirement in claimed["requirements"]:
        if requirement["question"] == "k_anonymity":
            requirement["required"] = requirement["achieved"] = 60
    certificate.write_text(json.dumps(claimed), encoding="utf-8")
    with pytest.raises(PrivacyViolation):
        Exports(exports, children).releases()


def test_a_file_that_changes_after_the_check_makes_no_room(exports: Path, tmp_path: Path, children: Children) -> None:
    source = Exports(exports, children)
    releases = source.releases()
    room = tmp_path / "released.duckdb"
    status = study(exports).stat()
    study(exports).write_bytes(study(exports).read_bytes()[::-1])
    # The look at names, sizes and times finds no difference.
    os.utime(study(exports), ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InUseError, match="changed while they were copied"):
        source.fill(room, releases)
    assert not room.exists()
    assert source.releases() == frozenset()


def test_what_is_no_export_is_left_alone(exports: Path, tmp_path: Path, children: Children) -> None:
    (exports / "notes.txt").write_text("no export", encoding="utf-8")
    (exports / "readers.toml").write_text("", encoding="utf-8")
    (exports / "empty").mkdir()
    (exports / ".hidden.parquet").write_bytes(b"")
    assert export_files(exports) == export_files(exports / "study") == [exports / "study" / "certificate.json"]
    with pytest.raises(UserError, match="has no export"):
        Exports(exports / "empty", children).releases()
    with pytest.raises(UserError, match="there is no file"):
        Exports(tmp_path / "nowhere", children).releases()


def test_a_file_that_looks_like_an_export_and_is_none_ends_the_start(exports: Path, children: Children) -> None:
    (exports / "stray.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match="cannot be read as an export"):
        Exports(exports, children).releases()


def test_two_exports_of_one_name_are_refused(exports: Path, children: Children) -> None:
    shutil.copytree(exports / "study", exports / "again")
    with pytest.raises(UserError, match="both have a release or a table"):
        Exports(exports, children).releases()


@pytest.fixture
def two(exports: Path) -> Path:
    """A folder of two exports."""
    with template(SOURCE) as connection:
        connection.sql("CREATE ANONYMIZED TABLE other AS POLICY p METHOD generalization(suppression => 0.05)")
        connection.sql(f"EXPORT other TO '{exports}/other.csv' (FORMAT csv)")
    return exports


@pytest.mark.long
@pytest.mark.parametrize("is_noticed", [True, False])
def test_a_spoiled_export_is_closed_alone_and_named_once(
    is_noticed: bool, two: Path, tmp_path: Path, pool: Pool, children: Children
) -> None:
    said: list[str] = []
    source = Exports(two, children, report=said.append)
    rooms = rooms_of(tmp_path, pool, source, report=said.append)
    both = source.releases()
    assert both == {main_table("study"), main_table("other")}
    rooms.room(both)
    status, text = (two / "other.csv").stat(), (two / "other.csv").read_text(encoding="utf-8")
    (two / "other.csv").write_text(text.replace("flu 1", "flu 2"), encoding="utf-8")
    if not is_noticed:
        # Only the copy for another room notices.
        os.utime(two / "other.csv", ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(Refused):
            rooms.room(frozenset({main_table("other")}))
        source._known = {path: replace(known, state="") for path, known in source._known.items()}
        (two / "study" / "certificate.md").touch()
    for _ in range(3):
        assert rooms.refresh()
        rooms.room(both)
    assert set(rooms.room(both).tables) == {main_table("study")}
    about = [line for line in said if "other.csv" in line]
    assert len(about) == 1
    assert "is not the file that" in about[0]
    assert [line for line in said if "study" in line] == []
    (two / "other.csv").write_text(text, encoding="utf-8")
    rooms.refresh()
    assert set(rooms.room(both).tables) == both
    assert len(said) == 1 + (not is_noticed)


def test_a_second_export_of_a_name_is_not_served_and_the_first_one_is(exports: Path, children: Children) -> None:
    said: list[str] = []
    source = Exports(exports, children, report=said.append)
    releases = source.releases()
    shutil.copytree(exports / "study", exports / "again")
    for _ in range(2):
        assert source.releases() == releases
    [line] = said
    assert "again" in line
    shutil.rmtree(exports / "study")
    assert source.releases() == releases
    assert "study" in said[1]
    assert "no longer exists" in said[1]


def test_an_export_that_ends_the_process_that_verifies_it_is_closed_alone(two: Path) -> None:
    class Ended(InThisProcess):
        def ask(self, module: str, request: dict[str, Any]) -> dict[str, Any]:
            if any("other" in path for path in request.get("paths", [])):
                raise InternalError("a process that makes rooms ended without an answer")
            return super().ask(module, request)

    children, said = InThisProcess(), []
    source = Exports(two, children, report=said.append)
    assert len(source.releases()) == 2
    source._children = Ended()
    for file in ("other.csv", "study/certificate.md"):
        os.utime(two / file)
    assert source.releases() == {main_table("study")}
    assert ["other.csv" in line for line in said] == [True]


@pytest.mark.long
def test_exports_that_are_replaced_while_they_are_served_raise_no_alarm(two: Path, tmp_path: Path, pool: Pool) -> None:
    """In processes of their own, as in a door, one after the other and without a pause."""
    said: list[str] = []
    source = Exports(two, Children(), report=said.append)
    rooms = rooms_of(tmp_path, pool, source, report=said.append)
    both = source.releases()
    rooms.room(both)
    over = threading.Event()

    def export() -> None:
        with template(SOURCE) as connection:
            connection.sql("CREATE ANONYMIZED TABLE other AS POLICY p METHOD generalization(suppression => 0.05)")
            while not over.wait(0.2):
                connection.sql(f"EXPORT study TO '{two}/study/' (FORMAT csv, REPLACE true)")
                connection.sql(f"EXPORT other TO '{two}/other.csv' (FORMAT csv, REPLACE true)")

    exporter = threading.Thread(target=export)
    exporter.start()
    try:
        answers = []
        for _ in range(8):
            rooms.refresh()
            answers.append(set(rooms.room(both).tables))
    finally:
        over.set()
        exporter.join()
    assert answers == [both] * 8
    while not rooms.refresh():
        time.sleep(0.1)
    assert rooms.room(both).version == source.version()
    assert said == []


def rooms_of(tmp_path: Path, pool: Pool, source: RoomSource, **more: object) -> Rooms:
    folder = tmp_path / "rooms"
    folder.mkdir(mode=0o700)
    return Rooms(folder, source, pool, **more)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> FileOfReleases:
    return FileOfReleases(
        room_file(tmp_path / "source.duckdb", "CREATE TABLE a AS SELECT 1 AS x", "CREATE TABLE b AS SELECT 2 AS y")
    )


def value(pool: Pool, rooms: Rooms, grants: frozenset[QualifiedName], statement: str) -> object:
    rows = pool.lease(rooms.room(grants).path, "ana").rows(Admitted(statement, frozenset()))
    [[cell]] = [next(iter(batch.to_pydict().values())) for batch in rows]
    return cell


def test_each_set_of_grants_has_a_room_with_these_releases_alone(
    tmp_path: Path, pool: Pool, source: FileOfReleases
) -> None:
    rooms = rooms_of(tmp_path, pool, source)
    only_a, both = frozenset({main_table("a")}), source.releases()
    assert set(rooms.room(only_a).tables) == {main_table("a")}
    assert set(rooms.room(both).tables) == {main_table("a"), main_table("b")}
    assert rooms.room(only_a) is rooms.room(only_a)
    with pytest.raises(Refused):
        rooms.room(frozenset({main_table("c")}))
    with pytest.raises(Refused):
        rooms.room(frozenset())
    for room in (rooms.room(only_a), rooms.room(both)):
        assert stat.S_IMODE(room.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(room.path.parent.stat().st_mode) == 0o700


def test_a_refresh_swaps_the_room_and_removes_the_old_one(tmp_path: Path, pool: Pool, source: FileOfReleases) -> None:
    rooms = rooms_of(tmp_path, pool, source)
    grants = frozenset({main_table("a")})
    assert value(pool, rooms, grants, "FROM a") == 1
    old = rooms.room(grants)
    rooms.refresh()
    assert rooms.room(grants) is old
    running = pool.lease(old.path, "ben")
    source.change("UPDATE a SET x = 7")
    rooms.refresh()
    assert value(pool, rooms, grants, "FROM a") == 7
    # A statement that began before the refresh ends on the rows before it.
    assert [batch.to_pydict() for batch in running.rows(Admitted("FROM a", frozenset()))] == [{"x": [1]}]
    assert not old.path.parent.exists()
    assert len(list((tmp_path / "rooms").iterdir())) == 1


@pytest.mark.parametrize("error", [PrivacyViolation("k is 1 for Xenia"), OSError(28, "No space left on Xenia")])
def test_a_room_that_fails_its_check_is_closed(
    error: Exception, tmp_path: Path, pool: Pool, source: FileOfReleases
) -> None:
    said: list[str] = []
    rooms = rooms_of(tmp_path, pool, source, report=said.append)
    grants = frozenset({main_table("a")})
    rooms.room(grants)
    source.changes, source.error = 1, error
    rooms.refresh()
    with pytest.raises(Refused) as caught:
        rooms.room(grants)
    assert "Xenia" not in str(caught.value)
    assert len(said) == 2
    assert list((tmp_path / "rooms").iterdir()) == []
    source.error = None
    assert value(pool, rooms, grants, "FROM a") == 1


def test_while_the_source_is_in_use_the_room_is_served_until_its_age(
    tmp_path: Path, pool: Pool, source: FileOfReleases
) -> None:
    rooms = rooms_of(tmp_path, pool, source, max_age=timedelta(hours=1))
    grants = frozenset({main_table("a")})
    room = rooms.room(grants)
    source.changes, source.error = 1, InUseError("in use")
    rooms.refresh()
    assert rooms.room(grants) is room
    room.made -= timedelta(hours=2)
    rooms.refresh()
    with pytest.raises(Refused):
        rooms.room(grants)


@pytest.mark.parametrize("spoiled", ["more", "view", "macro", "mode", "link"])
def test_a_room_with_anything_else_is_not_opened(
    spoiled: str, tmp_path: Path, pool: Pool, source: FileOfReleases
) -> None:
    filled = source.fill
    statements = {
        "more": "CREATE TABLE more AS SELECT 1",
        "view": "CREATE VIEW v AS FROM a",
        "macro": "CREATE MACRO median(x) AS 42",
    }

    def spoil(path: Path, grants: frozenset[QualifiedName]) -> object:
        tables = filled(path, grants)
        if spoiled in statements:
            room_file(path, statements[spoiled])
        elif spoiled == "mode":
            path.chmod(0o644)
        else:
            path.rename(path.with_name("elsewhere"))
            path.symlink_to(path.with_name("elsewhere"))
        return tables

    source.fill = spoil  # type: ignore[method-assign, assignment]
    rooms = rooms_of(tmp_path, pool, source)
    with pytest.raises((Refused, InternalError)):
        rooms.room(frozenset({main_table("a")}))
    assert list((tmp_path / "rooms").iterdir()) == []


def test_leftovers_of_ended_processes_are_swept_and_those_of_others_are_not(tmp_path: Path) -> None:
    parent = tmp_path / "rooms"
    with rooms_folder(parent) as running:
        (running / "room").write_text("kept", encoding="utf-8")
        left = parent / "4711-left"
        left.mkdir(mode=0o700)
        (left / "released.duckdb").write_text("left", encoding="utf-8")
        with rooms_folder(parent) as second:
            assert not left.exists()
            assert (running / "room").exists()
            assert stat.S_IMODE(second.stat().st_mode) == stat.S_IMODE(parent.stat().st_mode) == 0o700
        assert not second.exists()
    assert [each.name for each in parent.iterdir()] == ["lock"]


@pytest.mark.parametrize("kind", ["open", "link"])
def test_a_folder_that_others_may_read_is_refused(kind: str, tmp_path: Path) -> None:
    parent = tmp_path / "rooms"
    if kind == "open":
        parent.mkdir(mode=0o755)
        parent.chmod(0o755)
    else:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="only you may read"), rooms_folder(parent):
        pass


# readers.toml.


def test_only_the_digest_of_a_token_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    token = add_reader(file, "ana", ["study", "main.visits"], None)
    add_reader(file, "j.doe", ["study"], None)
    text = file.read_text(encoding="utf-8")
    assert token not in text
    assert token.removeprefix("sqlanon_") not in text
    assert token_digest(token) in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    readers = read_readers(file)
    assert readers["ana"].grants == {main_table("study"), main_table("visits")}
    assert list(readers) == ["ana", "j.doe"]
    with pytest.raises(UserError, match="has a reader ana"):
        add_reader(file, "ana", [], None)
    with pytest.raises(UserError, match="cannot be the name of a reader"):
        add_reader(file, 'a"]\nb', [], None)


def test_the_file_counts_as_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "readers.toml"
    token = add_reader(file, "ana", ["study"], None)
    said: list[str] = []
    readers = ReadersFile(file, said.append)
    assert readers.authenticate("ana", token) is not None
    assert readers.authenticate("ana", token_digest(token)) is None
    assert readers.authenticate("ben", token) is None
    whole = file.read_text(encoding="utf-8")
    for broken in ("", "[ana", whole.replace("sha256:", "sha512:"), whole + "[ben]\n", whole + "extra = 1\n"):
        file.write_text(broken, encoding="utf-8")
        assert readers.authenticate("ana", token) is None
    assert len(said) == 4
    file.write_text(whole, encoding="utf-8")
    assert readers.authenticate("ana", token) is not None
    file.unlink()
    assert readers.authenticate("ana", token) is None
