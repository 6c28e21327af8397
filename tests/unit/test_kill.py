"""A process killed at a random moment of a statement: what is there afterwards is the old or the new, whole.

A child runs one kind of statement over and over on a database file, each time with
another outcome, and says before each which one it begins. It is killed with SIGKILL
after a random time. Then the file is opened again and everything in it is compared.

This file is also the child: a process that has imported sqlanon, once, and forks.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.catalog import budgets, hierarchies, policies, readers, releases
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.release.existing.objects import fingerprint_of_tables

KILLS = 160
ROWS = 10_000
SETUP = f"""
CREATE TABLE people AS
SELECT i // 2 AS person, (i % 1000)::VARCHAR AS zip, 20 + (hash(i) % 60)::INTEGER AS age, 'd' || i % 9 AS disease
FROM range({ROWS}) AS t(i);
CREATE HIERARCHY bands AS INTERVALS (5, 10, 20);
CREATE HIERARCHY prefix AS PREFIXES (2, 1);
CREATE POLICY base ON people (
    person ENTITY, zip QUASI IDENTIFIER USING prefix MIN LEVEL 1, age QUASI IDENTIFIER USING bands, disease SENSITIVE
) REQUIRE k_anonymity(k => 5);
CREATE POLICY queried ON (SELECT * FROM people WHERE age > 20) (
    person ENTITY, zip QUASI IDENTIFIER USING prefix MIN LEVEL 1, age QUASI IDENTIFIER USING bands, disease SENSITIVE
) REQUIRE k_anonymity(k => 5);
CREATE POLICY rows ON people (zip QUASI IDENTIFIER USING prefix MIN LEVEL 1, age QUASI IDENTIFIER MIN LEVEL 1)
REQUIRE k_anonymity(k => 5);
"""
WIDTHS = (10, 50)


def labels(turn: int) -> list[tuple[str, int, str]]:
    """What the hierarchy `listed` holds after its turn."""
    width = WIDTHS[turn % 2]
    rows = [(str(i), str(i), f"{i // width}") for i in range(1000)]
    return sorted([(v, 0, leaf) for v, leaf, _ in rows] + [(v, 1, label) for v, _, label in rows])


def price(turn: int) -> str:
    """Returns the price of the release of a turn: no two turns cost the same."""
    return f"{0.001 + turn / 1_000_000:.6f}"


NOISY = """
CREATE HIERARCHY decades AS INTERVALS (10, low => 20, high => 80);
CREATE HIERARCHY diseases AS LEVELS (SELECT 'd' || i FROM range(9) AS t(i));
CREATE POLICY noisy ON people (person ENTITY, age QUASI IDENTIFIER USING decades, disease SENSITIVE USING diseases)
REQUIRE k_anonymity(k => 5);
CREATE BUDGET paid ON POLICY noisy (epsilon => 100);
"""


@dataclass(frozen=True)
class Kind:
    """A statement that is killed: `text(turn, folder)` writes it, with two outcomes, `setup` goes before."""

    text: Callable[[int, str], str]
    setup: str = ""


KINDS = {
    "hierarchy": Kind(
        lambda turn, folder: (
            f"CREATE OR REPLACE HIERARCHY listed AS LEVELS "
            f"(SELECT i::VARCHAR AS v, (i // {WIDTHS[turn % 2]})::VARCHAR AS band FROM range(1000) AS t(i))"
        )
    ),
    "policy": Kind(
        lambda turn, folder: (
            "CREATE OR REPLACE POLICY changing ON people (zip QUASI IDENTIFIER USING prefix, "
            + ("age QUASI IDENTIFIER USING bands, disease SENSITIVE" if turn % 2 else "age INSENSITIVE")
            + f") REQUIRE k_anonymity(k => {3 + turn % 2})"
        )
    ),
    "table": Kind(
        lambda turn, folder: (
            "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY base "
            f"METHOD generalization(suppression => 0.0{1 + turn % 2})"
        )
    ),
    "fragments": Kind(
        lambda turn, folder: (
            f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY rows METHOD anatomy(l => {2 + turn % 2})"
        ),
        "CREATE OR REPLACE POLICY rows ON people (zip QUASI IDENTIFIER, age INSENSITIVE, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2);",
    ),
    "loose": Kind(
        lambda turn, folder: (
            "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY apart "
            f"METHOD loose(groups => (2, {2 + turn % 2}), suppression => 1)"
        ),
        "CREATE POLICY apart ON people (zip QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (zip, disease);",
    ),
    "histogram": Kind(
        lambda turn, folder: (
            "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY noisy "
            f"METHOD dp_histogram(by => (age, disease), epsilon => {price(turn)}) UNDER BUDGET paid"
        ),
        NOISY,
    ),
    "synthetic": Kind(
        lambda turn, folder: (
            "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY noisy "
            f"METHOD dp_synthetic(epsilon => {price(turn)}, size => 1000) UNDER BUDGET paid"
        ),
        NOISY,
    ),
    "chosen": Kind(
        lambda turn, folder: (
            f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY {('base', 'queried')[turn % 2]} CHOOSE METHOD"
        )
    ),
    "view": Kind(
        lambda turn, folder: (
            f"CREATE OR REPLACE ANONYMIZED VIEW released AS POLICY {('base', 'queried')[turn % 2]} "
            "METHOD generalization"
        )
    ),
    "drop view": Kind(
        lambda turn, folder: (
            "DROP ANONYMIZED VIEW released"
            if turn % 2
            else "CREATE ANONYMIZED VIEW released AS POLICY queried METHOD generalization"
        )
    ),
    "drop table": Kind(
        lambda turn, folder: (
            "DROP ANONYMIZED TABLE released"
            if turn % 2
            else "CREATE ANONYMIZED TABLE released AS POLICY rows METHOD generalization"
        )
    ),
    "drop policy": Kind(
        lambda turn, folder: (
            "DROP POLICY changing"
            if turn % 2
            else "CREATE POLICY changing ON people (age QUASI IDENTIFIER USING bands) REQUIRE k_anonymity(k => 3)"
        )
    ),
    "drop hierarchy": Kind(
        lambda turn, folder: (
            "DROP HIERARCHY listed"
            if turn % 2
            else "CREATE HIERARCHY listed AS LEVELS "
            "(SELECT i::VARCHAR AS v, (i // 10)::VARCHAR AS band FROM range(1000) AS t(i))"
        )
    ),
    "reader": Kind(
        lambda turn, folder: "DROP READER ana" if turn % 2 else "CREATE READER ana",
    ),
    "grant": Kind(
        lambda turn, folder: (
            f"{('REVOKE', 'GRANT')[turn % 2]} SELECT ON RELEASE first, second {('FROM', 'TO')[turn % 2]} ana"
        ),
        "CREATE ANONYMIZED TABLE first AS POLICY base METHOD generalization;"
        "CREATE ANONYMIZED TABLE second AS POLICY rows METHOD generalization;"
        "CREATE READER ana; GRANT SELECT ON RELEASE first, second TO ana;",
    ),
    "export": Kind(
        lambda turn, folder: f"EXPORT {('first', 'second')[turn % 2]} TO '{folder}' (FORMAT parquet, REPLACE true)",
        "CREATE ANONYMIZED TABLE first AS POLICY base METHOD generalization;"
        "CREATE ANONYMIZED TABLE second AS POLICY rows METHOD generalization;",
    ),
}


# The child


def serve() -> None:
    """Forks a process for each line of the input, and says when it is gone."""
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                work(**job)
            finally:
                os._exit(1)
        say("pid", child)
        os.waitpid(child, 0)
        say("gone", child)


def work(database: str, kind: str, folder: str, turn: int) -> None:
    # Commits go to the log alone. A checkpoint is DuckDB's own work, after the commit, and a plain DuckDB 2.0.0 that is
    # killed in one can leave a file that it cannot open; the parent writes them, which is not killed.
    connection = sqlanon.connect(database, config={"checkpoint_threshold": "1TB", "threads": "2"})
    while True:
        say("begin", turn)
        connection.sql(KINDS[kind].text(turn, folder))
        say("end", turn)
        turn += 1


def say(what: str, number: int) -> None:
    print(what, number, flush=True)


# The test


class Child:
    """Starts children on a database and kills them."""

    def __init__(self) -> None:
        root = str(Path(sqlanon.__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._seconds = 0.1

    def run_and_kill(self, job: dict[str, Any], chance: random.Random) -> int:
        """The last turn that was begun when the child died."""
        assert self._server.stdin
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        pid, turn = self._hear("pid"), self._hear("begin")
        begun = time.perf_counter()
        if chance.random() < 0.3:
            # Sometimes the first statement ends, so that the delay below follows how long one takes.
            assert self._hear("end") == turn
            self._seconds = 0.7 * self._seconds + 0.3 * (time.perf_counter() - begun)
            turn = self._hear("begin")
        time.sleep(chance.uniform(0, 1.1) * self._seconds)
        os.kill(pid, signal.SIGKILL)
        while (line := self._line())[0] != "gone":
            turn = line[1] if line[0] == "begin" else turn
        return turn

    def _hear(self, what: str) -> int:
        said, number = self._line()
        assert said == what, f"the child says {said} {number}"
        return number

    def _line(self) -> tuple[str, int]:
        assert self._server.stdout
        what, number = self._server.stdout.readline().split()
        return what, int(number)

    def close(self) -> None:
        self._server.communicate()


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    if not hasattr(os, "fork"):
        pytest.skip("the child forks")
    made = Child()
    yield made
    made.close()


@pytest.mark.one_in(16)
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_statement_has_happened_whole_or_not_at_all(kind: str, child: Child, tmp_path: Path) -> None:
    database, folder = tmp_path / "people.duckdb", tmp_path / "out"
    with sqlanon.connect(database) as connection:
        connection.sql(SETUP + KINDS[kind].setup)
        connection.sql(KINDS[kind].text(0, str(folder)))
    chance = random.Random(kind)
    turn, outcomes = 0, set()
    for _ in range(KILLS // len(KINDS)):
        job = {"database": str(database), "kind": kind, "folder": str(folder), "turn": turn + 1}
        begun = child.run_and_kill(job, chance)
        with reopened(database) as engine:
            consistent(engine)
            found = OUTCOME[kind](engine, folder)
        # The turn that was killed is done if it was committed before the signal came.
        assert found in (begun % 2, (begun - 1) % 2)
        outcomes.add(found == begun % 2)
        turn = begun if found == begun % 2 else begun - 1
    assert False in outcomes, "no kill has hit a statement before its end"


@contextmanager
def reopened(database: Path) -> Iterator[DuckDBEngine]:
    connection = duckdb.connect(str(database))
    try:
        yield DuckDBEngine(connection)
    finally:
        connection.close()


def consistent(engine: DuckDBEngine) -> None:
    """The catalog and the objects agree, and nothing unfinished is left."""
    objects = {
        (kind, schema, name)
        for kind, schema, name in engine.rows(
            "SELECT 'table', schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT 'view', schema_name, view_name FROM duckdb_views() WHERE NOT internal"
        )
    }
    recorded = set(engine.rows("SELECT kind, schema_name, object_name FROM anon.release_object"))
    assert recorded <= objects
    # A live view reads its source by a view beside it, which the catalog names.
    assert {part for part in objects if part[2].startswith("__sqlanon_")} <= recorded
    beside = ("source_", "public_", "report_", "content_")
    made = {part for part in objects if part[1] == "anon" and part[2].startswith(beside)}
    assert made <= recorded
    released = {part for part in objects if part[1] == "main"} - {("table", "main", "people")}
    assert released == {part for part in recorded if part[1] == "main"}
    for table in ("release_attribute", "release_object", "release_recoding", "release_comparison", "measurement"):
        orphans = f"SELECT count(*) FROM anon.{table} WHERE release_id NOT IN (SELECT release_id FROM anon.release)"
        assert engine.rows(orphans) == [(0,)]
    for table in ("policy_attribute", "policy_requirement", "policy_constraint", "policy_related_table"):
        orphans = f"SELECT count(*) FROM anon.{table} WHERE policy NOT IN (SELECT policy FROM anon.policy)"
        assert engine.rows(orphans) == [(0,)]
    for name in hierarchies.listing(engine):
        hierarchies.load(engine, name)
    for (name,) in engine.rows("SELECT policy FROM anon.policy"):
        policies.load(engine, name)
    for _, release in releases.listing(engine):
        sound(engine, release)


def sound(engine: DuckDBEngine, release: releases.Release) -> None:
    """A release has its attributes, what was measured, and rows that meet the requirement."""
    assert release.attributes
    measured = [m.satisfied for m in releases.measurements(engine, release) if m.required is not None]
    assert measured == [True] * {"anatomy": 2, "loose": 3}.get(release.method, 1)
    tables = [made.name for made in release.published]
    assert engine.rows(f"SELECT count(*) FROM {tables[0].name}") == [(release.released_rows,)]
    if release.kind == "table":
        assert fingerprint_of_tables(engine, tables) == release.content_fingerprint
    checked = sqlanon.connect(engine.connection).sql(f"CHECK {release.name.name}").fetchall()
    assert [satisfied for *_, required, _, satisfied in checked if required is not None] == measured


def hierarchy_outcome(engine: DuckDBEngine, folder: Path) -> int:
    found = sorted(engine.rows("SELECT value, level, label FROM anon.hierarchy_value WHERE hierarchy = 'listed'"))
    turn = [labels(0), labels(1)].index(found)
    assert f"// {WIDTHS[turn]})" in str(hierarchies.load(engine, "listed").definition.query)
    return turn


def policy_outcome(engine: DuckDBEngine, folder: Path) -> int:
    found = policies.load(engine, "changing")
    ks = [value for requirement in found.requirements for _, value in requirement.arguments]
    return [([3], 2), ([4], 3)].index((ks, len(found.attributes)))


def table_outcome(engine: DuckDBEngine, folder: Path) -> int:
    ((_, found),) = releases.listing(engine)
    return ["0.01", "0.02"].index(str(dict(found.method_arguments)["suppression"]))


def chosen_outcome(engine: DuckDBEngine, folder: Path) -> int:
    ((_, found),) = releases.listing(engine)
    assert found.comparison is not None
    assert len(found.comparison.contenders) == 3
    assert found.comparison.chosen is not None
    assert found.comparison.chosen.call.name == found.method
    return ["base", "queried"].index(found.policy)


def fragments_outcome(engine: DuckDBEngine, folder: Path) -> int:
    ((_, found),) = releases.listing(engine)
    assert len(found.published) == len(found.objects) == 2
    return [2, 3].index(int(str(dict(found.method_arguments)["l"])))


def loose_outcome(engine: DuckDBEngine, folder: Path) -> int:
    ((_, found),) = releases.listing(engine)
    assert len(found.published) == len(found.objects) == 3
    return [(2, 2), (2, 3)].index(dict(found.method_arguments)["groups"])


def paid_outcome(engine: DuckDBEngine, folder: Path) -> int:
    """The price of the release is in the ledger, once or more often: what was paid stays so without a release."""
    ((_, found),) = releases.listing(engine)
    epsilon = Decimal(str(dict(found.method_arguments)["epsilon"]))
    paid = budgets.load(engine, "paid")
    assert epsilon in [entry[1] for entry in budgets.entries(engine, paid)]
    assert budgets.left(engine, paid).epsilon == 100 - sum(entry[1] for entry in budgets.entries(engine, paid))
    turn = round((epsilon - Decimal(price(0))) * 1_000_000)
    assert Decimal(price(turn)) == epsilon
    return turn % 2


def view_outcome(engine: DuckDBEngine, folder: Path) -> int:
    ((_, found),) = releases.listing(engine)
    assert len(found.objects) == (3 if found.policy == "base" else 4)
    return ["base", "queried"].index(found.policy)


def release_dropped(engine: DuckDBEngine, folder: Path) -> int:
    return 1 - len(releases.listing(engine))


def policy_dropped(engine: DuckDBEngine, folder: Path) -> int:
    return 1 - policies.exists(engine, "changing")


def hierarchy_dropped(engine: DuckDBEngine, folder: Path) -> int:
    values = engine.rows("SELECT count(*) FROM anon.hierarchy_value WHERE hierarchy = 'listed'")
    there = hierarchies.exists(engine, "listed")
    assert values == [(2000 if there else 0,)]
    return 1 - there


def reader_dropped(engine: DuckDBEngine, folder: Path) -> int:
    """A reader is there once or not at all, and has a digest of a token."""
    (there,) = [reader.reader for reader in readers.all_readers(engine)] or [None]
    assert there == (readers.load(engine, "ana").reader if there else None)
    return int(there is None)


def grant_outcome(engine: DuckDBEngine, folder: Path) -> int:
    """Both releases of a statement are granted, or none of them."""
    found = [str(grant.release) for grant in readers.grants(engine)]
    return [[], ["main.first", "main.second"]].index(found)


def export_outcome(engine: DuckDBEngine, folder: Path) -> int:
    (certificate,) = folder.glob("*.json")
    stated = json.loads(certificate.read_text())
    for file in stated["files"]:
        content = (folder / file["name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
    (data,) = folder.glob("*.parquet")
    assert {path.name for path in folder.iterdir()} == {data.name, certificate.name, certificate.stem + ".md"}
    name = data.stem
    rows = engine.rows(f"SELECT count(*), count(COLUMNS(*)) FROM read_parquet('{data}')")
    assert rows == engine.rows(f"SELECT count(*), count(COLUMNS(*)) FROM {name}")
    return ["first", "second"].index(name)


OUTCOME: dict[str, Callable[[DuckDBEngine, Path], int]] = {
    "hierarchy": hierarchy_outcome,
    "policy": policy_outcome,
    "table": table_outcome,
    "histogram": paid_outcome,
    "synthetic": paid_outcome,
    "chosen": chosen_outcome,
    "fragments": fragments_outcome,
    "loose": loose_outcome,
    "view": view_outcome,
    "drop view": release_dropped,
    "drop table": release_dropped,
    "drop policy": policy_dropped,
    "drop hierarchy": hierarchy_dropped,
    "reader": reader_dropped,
    "grant": grant_outcome,
    "export": export_outcome,
}


if __name__ == "__main__":
    serve()
