"""Hundreds of statements that a reader may try, on the gate alone and on a room without a gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import duckdb
import pytest

from sqlanon.clients.serve.gate import admit
from sqlanon.clients.serve.refused import Refused
from sqlanon.clients.serve.workers import Limits
from tests.support.door import clinic as clinics
from tests.support.door.clinic import GRANTED, LOCKED, Clinic, leaks, leaks_of
from tests.support.door.doors import OpenedDoor, opened_door
from tests.support.door.statements import attempts

ATTEMPTS = attempts((Path(__file__).parent / "door_attempts.sql").read_text(encoding="utf-8"))
RELEASES = {name: (name,) for name in GRANTED}
# Its statements read releases alone, so the gate may admit them.
HARMLESS = "the releases alone"
# They end with a process that is killed.
ENDLESS = "without end"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOOR_SECRET", "merlin-env-5520")
        yield clinics.make(tmp_path_factory.mktemp("clinic"))


def opened(path: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=True, config=LOCKED)


def admitted(attempt: str) -> str | None:
    """Returns what the gate lets through; None if it refuses."""
    try:
        return admit(attempt, GRANTED, RELEASES).sql
    except Refused:
        return None


def test_there_are_enough_attempts_of_each_category() -> None:
    counts = {category: len(of_category) for category, of_category in ATTEMPTS.items()}
    assert sum(counts.values()) >= 500
    assert min(counts.values()) >= 9


@pytest.mark.parametrize("category", [category for category in ATTEMPTS if category not in (HARMLESS, ENDLESS)])
def test_the_gate_refuses_all_that_reads_anything_else(category: str) -> None:
    assert [attempt for attempt in ATTEMPTS[category] if admitted(attempt)] == []


@pytest.mark.long
def test_a_door_that_trusts_a_locked_connection_leaks(clinic: Clinic) -> None:
    """Otherwise the attempts would say nothing of the gate and of rooms."""
    with closing(opened(clinic.database)) as source:
        leaking = {
            category: sum(bool(leaks(source, clinic.filled(attempt))) for attempt in of_category)
            for category, of_category in ATTEMPTS.items()
            if category != ENDLESS
        }
    assert sum(leaking.values()) > 200
    # DuckDB has no ESTIMATE.
    assert {category for category, number in leaking.items() if not number} <= {
        *("the environment", "settings and other databases", "variables of Python", "estimates", HARMLESS),
    }


@pytest.mark.long
def test_the_gate_alone_in_front_of_the_source_leaks_nothing(clinic: Clinic) -> None:
    passed, leaking = 0, []
    with closing(opened(clinic.database)) as source:
        for category, of_category in ATTEMPTS.items():
            for attempt in of_category if category != ENDLESS else ():
                statement = admitted(clinic.filled(attempt))
                passed += statement is not None
                if statement is not None and (found := leaks(source, statement)):
                    leaking.append((attempt, found))
    assert leaking == []
    assert passed >= 25


@pytest.mark.long
def test_a_room_without_a_gate_leaks_nothing(clinic: Clinic) -> None:
    with closing(opened(clinic.room)) as room:
        leaking = [
            (attempt, found)
            for category, of_category in ATTEMPTS.items()
            for attempt in (of_category if category != ENDLESS else ())
            if (found := leaks(room, clinic.filled(attempt)))
        ]
    assert leaking == []
    assert [text for text in clinics.CANARIES if text.encode() in clinic.room.read_bytes()] == []


@pytest.mark.long
@pytest.mark.parametrize("is_prepared", [False, True], ids=["plain", "prepared"])
@pytest.mark.parametrize("has_gate", [True, False], ids=["gate", "no_gate"])
def test_a_driver_at_the_door_sees_nothing(
    clinic: Clinic, tmp_path: Path, *, has_gate: bool, is_prepared: bool
) -> None:
    """The processes of the door may read the files of the source: what holds is the room, its lock and the gate."""
    limits = Limits(seconds=2, memory=1 << 30, rows=10_000)
    with opened_door(tmp_path, clinic.room, has_gate=has_gate, limits=limits) as door:
        assert leaks_of(answers(door, is_prepared), "SELECT 'Canary' || 'osis'") == ["Canaryosis"]
        leaking = [
            (attempt, found)
            for attempt in chain.from_iterable(ATTEMPTS.values())
            if (found := leaks_of(answers(door, is_prepared), clinic.filled(attempt)))
        ]
        assert leaking == []
        # The door is as it was.
        assert door.rows("SELECT count(*) FROM hospital_2026") == [(3016,)]


def answers(door: OpenedDoor, is_prepared: bool) -> Callable[[str, int], str]:
    """Returns how a reader asks with the standard driver: all that they see of a statement with some parameters."""

    def answer(statement: str, parameters: int) -> str:
        with door.connect() as connection, connection.cursor() as cursor:
            try:
                if is_prepared:
                    cursor.adbc_prepare(statement)
                cursor.execute(statement, ["x"] * parameters or None)
                table = cursor.fetch_arrow_table()
            except Exception as error:  # whatever it is, the reader would see it
                return f"{type(error).__name__}: {error}"
            values = [clinics.text_of(value) for row in table.to_pylist() for value in row.values()]
            return "\n".join([*table.schema.names, *values])

    return answer


def test_variables_of_python_would_be_read_without_the_lock() -> None:
    with closing(duckdb.connect()) as unlocked, closing(duckdb.connect(config=LOCKED)) as locked:
        assert leaks(unlocked, "SELECT * FROM source_frame") == ["Canaryosis"]
        assert leaks(locked, "SELECT * FROM source_frame") == []


@pytest.mark.long
def test_a_macro_with_the_name_of_a_function_passes_the_gate_and_is_in_no_room(clinic: Clinic, tmp_path: Path) -> None:
    """The gate knows names: this is why it is not the only wall."""
    path = tmp_path / "shadowed.duckdb"
    path.write_bytes(clinic.database.read_bytes())
    with closing(duckdb.connect(str(path))) as owner:
        owner.execute(clinics.SHADOWING_MACRO)
    statement = admitted("SELECT median(1)")
    assert statement is not None
    with closing(opened(path)) as source, closing(opened(clinic.room)) as room:
        assert leaks(source, statement) == ["Canaryosis"]
        assert leaks(room, statement) == []
