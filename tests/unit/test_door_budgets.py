"""ESTIMATE ... UNDER BUDGET through a door: who may ask it, what is refused, and what it has cost by then."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlanon
from sqlanon.clients.serve import keeper_main
from sqlanon.clients.serve.gate import Admitted, admit, admit_under_budget
from sqlanon.clients.serve.keeper import Keeper, KnownReader
from sqlanon.clients.serve.refused import NOT_ADMITTED, Refused
from sqlanon.clients.serve.workers import Limits, Stopped
from sqlanon.errors import EngineError, InternalError, UserError
from sqlanon.estimates.noisy import answers
from sqlanon.sources import noise
from tests.support.database import template_file

# The disease of one patient, a note in another table and the name of a budget must be in no message.
SETUP = """
CREATE TABLE visits AS
SELECT i // 2 AS patient, CASE WHEN i = 7 THEN 'canaryosis' WHEN i % 2 = 0 THEN 'flu' ELSE 'cold' END AS disease,
    (i % 40)::DECIMAL(9, 2) AS bill, DATE '2024-01-01' + (i % 3)::INTEGER AS day
FROM range(400) AS t(i);
CREATE TABLE notes AS SELECT 'canary of another table' AS disease, 1 AS patient;
CREATE TABLE diseases AS SELECT unnest(['cold', 'flu']) AS disease;
CREATE VIEW seen AS FROM visits;
CREATE POLICY clinic ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE POLICY other ON notes (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1);
CREATE BUDGET study ON POLICY clinic (epsilon => 2, delta => 1e-6);
CREATE BUDGET canary ON POLICY other (epsilon => 2);
CREATE BUDGET bens ON POLICY clinic (epsilon => 2);
CREATE READER ana;
CREATE READER ben;
GRANT ESTIMATE ON BUDGET study TO ana;
GRANT ESTIMATE ON BUDGET bens TO ben;
"""
COUNT = "ESTIMATE SELECT count(*) AS n FROM visits UNDER BUDGET study (epsilon => 0.5)"
BY_DISEASE = "ESTIMATE SELECT disease, count(*) AS n FROM visits GROUP BY disease UNDER BUDGET study"
LIMITS = Limits()


class InProcess:
    """Answers as the keeper's process does, in this one."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        self.asked.append(f"{request['do']} {request.get('plan', '')}".strip())
        return keeper_main.answer(request)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return template_file(tmp_path / "clinic.duckdb", SETUP)


@pytest.fixture
def keeper(file: Path, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    monkeypatch.setattr("sqlanon.clients.serve.keeper._PATIENCE", 0.2)
    keeper = Keeper(file, InProcess())
    keeper._looks = keeper._answers = keeper._children
    return keeper


def execute(file: Path, text: str) -> list[tuple[Any, ...]]:
    with sqlanon.connect(str(file)) as connection:
        return connection.execute(text).fetchall()


def reader_of(file: Path, keeper: Keeper, name: str = "ana") -> KnownReader:
    token = str(execute(file, f"ALTER READER {name} NEW TOKEN")[0][3])
    reader = keeper.authenticate(name, token)
    assert reader is not None
    return reader


def admitted(statement: str) -> Admitted:
    found = admit_under_budget(statement)
    assert found is not None
    return found


def spent(file: Path) -> list[tuple[Any, ...]]:
    """Returns the epsilon, the reader and the statement of each entry of the budget `study`."""
    return [(row[1], row[3], row[4]) for row in execute(file, "DESCRIBE BUDGET study")]


def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise is added."""
    for kind in (noise.Laplace, noise.Gaussian, noise.Threshold):
        monkeypatch.setattr(kind, "drawn", lambda self, values: values if isinstance(values, dict) else list(values))


def test_an_answer_is_paid_for_by_the_reader(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    bare(monkeypatch)
    ana = reader_of(file, keeper)
    asked = admitted(f"{BY_DISEASE} (epsilon => 0.5, rows => 2, keys => ('flu', 'cold', 'pox'))")
    assert asked.question is not None
    assert (asked.question.budget, asked.question.epsilon) == ("study", 0.5)
    answer = keeper.answer(ana, asked, LIMITS)
    rows = [(row["disease"], int(row["n"]), row["epsilon"], row["remaining"]) for row in answer.to_pylist()]
    assert rows == [("flu", 200, 0.5, 1.5), ("cold", 199, 0.5, 1.5), ("pox", 0, 0.5, 1.5)]
    assert keeper.schema(ana, asked, LIMITS) == answer.schema
    [(epsilon, name, statement)] = spent(file)
    assert (epsilon, name) == (0.5, "ana")
    assert statement.startswith("ESTIMATE SELECT disease, count(*) AS n FROM visits")


def test_a_schema_costs_nothing_and_opens_the_file_for_reading_only(file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    file.chmod(0o400)
    before = file.read_bytes()
    found = f"{BY_DISEASE.replace('disease', 'day')} (epsilon => 0.5, keys => found, delta => 1e-9)"
    schema = keeper.schema(ana, admitted(found), LIMITS)
    assert schema.names == ["day", "n", "n_low_95", "n_high_95", "epsilon", "remaining"]
    assert schema.field("day").type == pa.date32()
    assert file.read_bytes() == before
    file.chmod(0o600)
    assert spent(file) == []


def test_each_answer_has_noise_of_its_own(file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    cheap = admitted(COUNT.replace("0.5", "0.001"))
    numbers = {keeper.answer(ana, cheap, LIMITS).to_pylist()[0]["n"] for _ in range(2)}
    assert len(numbers) > 1
    assert [entry[:2] for entry in spent(file)] == [(0.001, "ana")] * 2


def test_an_exhausted_budget(file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    keeper.answer(ana, admitted(COUNT.replace("0.5", "2")), LIMITS)
    with pytest.raises(Refused, match=r"has an epsilon of 0 left, and the answer would cost 0\.5; nothing was spent"):
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert len(spent(file)) == 1


@pytest.mark.parametrize("budget", ["bens", "canary", "nobody", "STUDY2"])
def test_a_budget_of_others_is_as_one_that_there_is_not(budget: str, file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    asked = admitted(COUNT.replace("BUDGET study", f"BUDGET {budget}"))
    for ask in (keeper.require, lambda *both: keeper.answer(*both, LIMITS), lambda *both: keeper.schema(*both, LIMITS)):
        with pytest.raises(Refused) as refused:
            ask(ana, asked)
        assert str(refused.value) == f"no budget of this name is granted to you: {budget}"
    # Only looks have opened the file.
    assert set(keeper._children.asked) == {"look"}


CHANGES = [
    "REVOKE ESTIMATE ON BUDGET study FROM ana",
    "DROP BUDGET study",
    "DROP READER ana",
    "DROP READER ana; CREATE READER ana; GRANT ESTIMATE ON BUDGET study TO ana",
    "ALTER READER ana NEW TOKEN",
    "UPDATE anon.reader SET expires_on = '2020-01-01'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_access_that_ended_after_the_last_look(change: str, file: Path, keeper: Keeper) -> None:
    """The door lets somebody in by its last look, and the process that has the file looks again."""
    ana = reader_of(file, keeper)
    if change.startswith("UPDATE"):
        with duckdb.connect(str(file)) as connection:
            connection.execute(change)
    else:
        execute(file, change)
    for ask in (keeper.answer, keeper.schema):
        with pytest.raises(Refused, match=r"granted to you|the token is wrong"):
            ask(ana, admitted(COUNT), LIMITS)
    assert spent(file) == []


@contextmanager
def held(file: Path, *, read_only: bool) -> Iterator[None]:
    """Another process has the database open."""
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == 'True'); print(1, flush=True)"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", f"{code}; sys.stdin.read()", str(file), str(read_only)]
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        yield
        process.communicate()


@pytest.mark.parametrize("read_only", [True, False])
def test_a_database_in_use(read_only: bool, file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    with held(file, read_only=read_only), pytest.raises(Refused) as refused:
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert str(refused.value) == "the database is in use: try again; nothing was spent"
    assert spent(file) == []
    assert keeper.answer(ana, admitted(COUNT), LIMITS).num_rows == 1


def test_a_database_that_cannot_be_opened(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*parts: object, **named: object) -> Any:
        raise UserError(f"the database {file} cannot be opened: IO Error: permission denied")

    ana = reader_of(file, keeper)
    monkeypatch.setattr(keeper_main, "open_database", broken)
    for ask in (keeper.answer, keeper.schema):
        with pytest.raises(Refused, match=r"^the answer cannot be computed: ask the owner of the budget; nothing was"):
            ask(ana, admitted(COUNT), LIMITS)


def opens_elsewhere(file: Path) -> bool:
    """Whether another process can open the file for writing."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return bool(pool.apply(_opens, (str(file),)))


def _opens(file: str) -> bool:
    duckdb.connect(file).close()
    return True


@pytest.mark.long
def test_the_file_is_closed_after_each_outcome(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = reader_of(file, keeper)
    keeper.answer(ana, admitted(COUNT), LIMITS)
    assert opens_elsewhere(file)
    with pytest.raises(Refused):
        keeper.answer(ana, admitted(COUNT.replace("visits", "notes")), LIMITS)
    assert opens_elsewhere(file)
    monkeypatch.setattr(answers, "_drawn", failing)
    with pytest.raises(Stopped):
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert opens_elsewhere(file)


def failing(*parts: object) -> Any:
    raise EngineError("Conversion Error: 'canaryosis' is no INTEGER in /srv/clinic.duckdb")


@pytest.mark.parametrize("error", [EngineError, InternalError, MemoryError, ValueError])
def test_an_error_after_the_cost_is_no_answer(
    error: type[Exception], file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*parts: object) -> Any:
        raise error("canaryosis")

    ana = reader_of(file, keeper)
    monkeypatch.setattr(answers, "_drawn", broken)
    with pytest.raises(Stopped) as stopped:
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert str(stopped.value) == "the answer cannot be computed: ask the owner of the budget; its cost is spent"
    assert [entry[:2] for entry in spent(file)] == [(0.5, "ana")]


def test_a_charge_that_fails_gives_no_answer(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = reader_of(file, keeper)
    monkeypatch.setattr("sqlanon.catalog.budgets._spent", failing)
    monkeypatch.setattr(answers, "_drawn", lambda *parts: pytest.fail("rows were read unpaid"))
    with pytest.raises(
        Refused, match=r"^the answer cannot be computed: ask the owner of the budget; nothing was spent"
    ):
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert spent(file) == []


@pytest.mark.parametrize("limits", [Limits(rows=2), Limits(bytes=10)])
def test_an_answer_beyond_its_limits_is_not_sent(limits: Limits, file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    with pytest.raises(Stopped, match="more rows or bytes than it may have; its cost is spent"):
        keeper.answer(ana, admitted(f"{BY_DISEASE} (epsilon => 0.5, keys => ('flu', 'cold', 'pox'))"), limits)
    assert len(spent(file)) == 1


def test_a_reader_has_one_answer_at_a_time(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben = reader_of(file, keeper), reader_of(file, keeper, "ben")
    seen: list[str] = []

    def ask(request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        for reader, statement in ((ana, COUNT), (ben, COUNT.replace("study", "bens"))):
            with pytest.raises(Refused) as refused:
                keeper.answer(reader, admitted(statement), Limits(seconds=0.1))
            seen.append(str(refused.value))
        return {"refused": "over"}

    monkeypatch.setattr(keeper._answers, "ask", ask)
    with pytest.raises(Refused, match="over; nothing was spent"):
        keeper.answer(ana, admitted(COUNT), LIMITS)
    assert seen == [
        "wait for your other answer under a budget; nothing was spent",
        "other answers under budgets are being computed: try again; nothing was spent",
    ]


def test_the_file_is_left_alone_for_as_long_as_an_answer_had_it(
    file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = reader_of(file, keeper)
    slept: list[float] = []
    monkeypatch.setattr("sqlanon.clients.serve.keeper.time.sleep", slept.append)
    monkeypatch.setattr(keeper._answers, "ask", lambda request, seconds: {"refused": "over", "seconds_open": 20.0})
    for limits in (LIMITS, LIMITS, Limits(seconds=3)):
        with pytest.raises(Refused, match="over"):
            keeper.answer(ana, admitted(COUNT), limits)
    assert slept[0] == 0
    assert 15 < slept[1] <= 20
    assert slept[2] == 3


def test_an_answer_that_cannot_be_read(file: Path, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = reader_of(file, keeper)
    for text in ("", "no base 64", "AAAA", "/////wAAAAA="):
        monkeypatch.setattr(keeper._answers, "ask", lambda request, seconds, text=text: {"answer": text})
        with pytest.raises(Stopped, match="cannot be read; its cost may be spent"):
            keeper.answer(ana, admitted(COUNT), LIMITS)


def test_a_macro_of_the_owner_is_not_named(file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE MACRO lower(x) AS (SELECT min(disease) FROM notes)")
    for ask in (keeper.answer, keeper.schema):
        with pytest.raises(Refused, match=r"^the answer cannot be computed: ask the owner of the budget; nothing"):
            ask(ana, admitted(COUNT), LIMITS)


# What comes before UNDER BUDGET, and what comes behind it.
HOSTILE = [
    # Other tables, also by the names of views, catalogs and files.
    "SELECT count(*) FROM notes",
    "SELECT count(*) FROM seen",
    "SELECT count(*) FROM anon.budget",
    "SELECT count(*) FROM anon.reader",
    "SELECT count(*) FROM other",
    "SELECT count(*) FROM duckdb_tables()",
    "SELECT count(*) FROM '/etc/passwd'",
    "SELECT count(*) FROM read_csv('/etc/passwd')",
    "SELECT count(*) FROM glob('/*')",
    "SELECT count(*) FROM temp.main.visits",
    "SELECT count(*) FROM system.main.visits",
    "SELECT count(*) FROM elsewhere.main.visits",
    "SELECT count(*) FROM information_schema.tables",
    "SELECT count(*) FROM query('FROM notes')",
    "SELECT count(*) FROM visits, notes",
    "SELECT count(*) FROM visits JOIN notes USING (patient)",
    "SELECT count(*) FROM (SELECT * FROM notes)",
    "WITH visits AS (FROM notes) SELECT count(*) FROM visits",
    "SELECT count(*) FROM visits UNION ALL SELECT count(*) FROM notes",
    "SELECT count(*) FROM visits WHERE disease IN (SELECT disease FROM notes)",
    "SELECT count(*) FROM visits WHERE EXISTS (FROM notes)",
    "SELECT (SELECT min(disease) FROM notes), count(*) FROM visits",
    # Functions that read, and true figures.
    "SELECT count(*) FROM visits WHERE read_text('/etc/passwd') <> ''",
    "SELECT count(*) FROM visits WHERE getenv('HOME') = ''",
    "SELECT count(*) FROM visits WHERE getvariable('x') = ''",
    "SELECT count(*) FROM visits WHERE nextval('s') = 1",
    "SELECT count(*) FROM visits WHERE error(disease)",
    "SELECT count(*) FROM visits WHERE current_setting('home_directory') = ''",
    "SELECT count(*) FROM visits WHERE rowid = 1",
    "SELECT min(disease) FROM visits",
    "SELECT * FROM visits",
    "SELECT disease FROM visits",
    "SELECT count(*), list(disease) FROM visits",
    "SELECT count(*) FROM visits HAVING count(*) > 3",
    "SELECT count(*) FROM visits ORDER BY 1",
    "SELECT count(*) FROM visits LIMIT 1",
    "SELECT sum(bill) FROM visits",
    "SELECT disease, count(*) FROM visits GROUP BY disease",
    "SELECT count(*) OVER () FROM visits",
    "SELECT DISTINCT count(*) FROM visits",
    f"SELECT count(*) FROM visits WHERE {'lower(' * 500}disease{')' * 500} = ''",
    f"SELECT count(*) FROM visits WHERE length({' || '.join(['disease'] * 400)}) = 7",
    "SELECT count(*) FROM visits USING SAMPLE 1",
    "SELECT count(*) FROM visits AT (VERSION => 1)",
    # Other statements.
    "DROP TABLE visits",
    "DELETE FROM visits",
    "INSERT INTO visits SELECT * FROM visits",
    "COPY visits TO 'visits.csv'",
    "ATTACH '/tmp/x.duckdb'",
    "PRAGMA database_list",
    "SET threads = 1",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT count(*) FROM visits",
    "DESCRIBE notes",
    "SELECT count(*) INTO x FROM visits",
    "SELECT count(*) FROM visits; SELECT count(*) FROM notes",
    "",
]
ARGUMENTS = [
    "(epsilon => 0.5, keys => notes)",
    "(epsilon => 0.5, keys => diseases)",
    "(epsilon => 0.5, keys => 'notes')",
    '(epsilon => 0.5, "KEYS" => "notes")',
    "(epsilon => 0.5, keys => main.notes)",
    "(epsilon => 0.5, keys => found)",
    "(epsilon => 0.5, keys => (notes, seen))",
    "(epsilon => 0.5, keys => ((SELECT min(disease) FROM notes)))",
    "(epsilon => 0.5, keys => ('cold'), candidates => notes)",
    "(epsilon => -1, keys => ('cold'))",
    "(epsilon => 0, keys => ('cold'))",
    "(epsilon => 1e-30, keys => ('cold'))",
    "(epsilon => 0.0009, keys => ('cold'))",
    "(epsilon => NaN, keys => ('cold'))",
    "(epsilon => 'NaN', keys => ('cold'))",
    "(epsilon => true, keys => ('cold'))",
    "(epsilon => ?, keys => ('cold'))",
    "(epsilon => $1, keys => ('cold'))",
    "(epsilon => 3, keys => ('cold'))",
    "(keys => ('cold'))",
    "(epsilon => 0.1, epsilon => 0.2, keys => ('cold'))",
    "(epsilon => 0.1, reader_id => 'ben', keys => ('cold'))",
    "(epsilon => 0.1, keys => ('cold')) UNDER BUDGET bens (epsilon => 0.1)",
    "(epsilon => 0.1, keys => ('cold')); DROP BUDGET study",
    "(epsilon => 0.1, keys => ('cold')) -- \n; SELECT 1",
]


def ask(keeper: Keeper, reader: KnownReader, statement: str) -> None:
    """Asks as the door does."""
    found = admit_under_budget(statement)
    if found is None:
        admit(statement, {}, {})
    else:
        keeper.require(reader, found)
        keeper.answer(reader, found, LIMITS)


@pytest.mark.long
def test_hostile_statements_are_refused_and_cost_nothing(file: Path, keeper: Keeper) -> None:
    ana = reader_of(file, keeper)
    statements = [f"ESTIMATE {query} UNDER BUDGET study (epsilon => 0.5)" for query in HOSTILE]
    statements += [f"{BY_DISEASE} {arguments}" for arguments in ARGUMENTS]
    statements += [f"EXPLAIN {COUNT}", f"{COUNT}; {COUNT}", f"DESCRIBE BUDGET study; {COUNT}", f"({COUNT})"]
    before = {name: execute(file, f"FROM {name}") for name in ("visits", "notes", "anon.budget", "anon.budget_entry")}
    for statement in statements:
        with pytest.raises(Refused) as refused:
            ask(keeper, ana, statement)
        text = str(refused.value)
        words = [word for word in ("canary", "bens", "ben ", str(file.parent), "root:", "\n") if word in text]
        assert [word for word in words if word not in statement] == [], statement
        keeper._free_at = 0.0
    assert {name: execute(file, f"FROM {name}") for name in before} == before
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]


@pytest.mark.parametrize(
    "statement", ["SELECT 1", "ESTIMATE SELECT count(*) FROM visits FROM RELEASE r", "DESCRIBE BUDGET study", "", ";"]
)
def test_other_statements_are_for_the_rooms(statement: str) -> None:
    assert admit_under_budget(statement) is None


def test_the_process_reads_the_statement_again(file: Path, keeper: Keeper) -> None:
    """Also if the front is broken, it answers nothing else."""
    ana = reader_of(file, keeper)
    request = {"do": "ask", "database": str(file), "patience": 0, "reader": "ana", "token_sha256": ana.token_sha256}
    request |= {"plan": False, "memory": 1 << 30, "threads": 1, "rows": 10, "bytes": 1 << 20}
    for statement in ("SELECT 1", "CHECK visits", "ESTIMATE SELECT count(*) FROM visits FROM RELEASE r"):
        assert "refused" in keeper_main.answer({**request, "statement": statement})
    with pytest.raises(Refused):
        keeper_main.answer({**request, "statement": f"{COUNT}; DROP TABLE visits"})
    wrong = {**request, "statement": COUNT, "token_sha256": "0" * 64}
    assert keeper_main.answer(wrong)["refused"] == NOT_ADMITTED
    assert spent(file) == []
