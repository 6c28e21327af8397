"""Nobody who sees all worlds of the releases of a series is surer of a value than the series promises."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation
from tests.oracles.series import Published, surest
from tests.support.database import new_database

PEOPLE = ["Ann", "Ben", "Cem", "Dan", "Eva", "Fay", "Gus", "Hal"]
NOISE = 1e-9
REQUIRED = [
    *(f"composition(max => {share})" for share in ("0.5", "0.6", "0.67", "0.75", "0.9")),
    "m_invariance(m => 2)",
]
SECOND = ["", ", status SENSITIVE", ", status INSENSITIVE"]
TOKENS = ["ENTITY", "ENTITY", "ENTITY PSEUDONYM", "ENTITY PSEUDONYM KEY 'TOKEN_KEY'"]

# Of each respondent of a release the age, the disease and the status.
Rows = Mapping[str, tuple[int, str, str]]


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    for name in ("SERIES_KEY", "TOKEN_KEY"):
        monkeypatch.setenv(name, f"a {name} that nobody knows")
    with new_database() as connection:
        connection.execute("CREATE TABLE people (name VARCHAR, age INTEGER, disease VARCHAR, status VARCHAR)")
        yield connection


def history(draw: random.Random) -> list[Rows]:
    """Two or three releases of people who come, go and move in pairs with different values, and some of them alone."""
    pairs = [PEOPLE[index : index + 2] for index in range(0, len(PEOPLE), 2)]
    of_person: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        columns = [draw.sample(values, 2) for values in ("abc", "xyz")]
        of_person |= dict(zip(pair, zip(*columns, strict=True), strict=True))
    if draw.random() < 0.3:
        of_person[draw.choice(PEOPLE)] = (draw.choice("abc"), draw.choice("xyz"))
    age_of = {who: age for pair in pairs for age in [draw.choice([30, 40])] for who in pair}
    alone, moving = draw.choice([0, 0, 0.2]), draw.choice([0, 0.2, 0.4])
    releases: list[Rows] = []
    for _ in range(draw.choice([2, 3])):
        units = [unit for pair in pairs for unit in ([[who] for who in pair] if draw.random() < alone else [pair])]
        for unit in units:
            if draw.random() < moving:
                age_of |= dict.fromkeys(unit, draw.choice([30, 40]))
        present = [who for unit in units if draw.random() < 0.75 for who in unit]
        if present:
            releases.append({who: (age_of[who], *of_person[who]) for who in present})
    return releases


def published(con: Connection, name: str, release: Rows, columns: Sequence[str]) -> Published:
    """What a reader sees of a release, and in which class everybody is, as an adversary knows."""
    rows: dict[Hashable, list[tuple[Hashable, ...]]] = defaultdict(list)
    for label, *row in con.duckdb.execute(f"SELECT age, {', '.join(columns)} FROM {name}").fetchall():
        rows[str(label)].append(tuple(row))
    # A label is an age, or stands for all ages: there are two.
    members = {who: str(age) if str(age) in rows else min(rows, key=str) for who, (age, *_) in release.items()}
    return members, rows


@pytest.mark.one_in(102)
@pytest.mark.parametrize("seed", range(100))
def test_nobody_is_surer_than_the_promise(con: Connection, seed: int) -> None:
    for number in range(3):
        draw = random.Random(f"{seed}-{number}")
        second, tokens, required = draw.choice(SECOND), draw.choice(TOKENS), draw.choice(REQUIRED)
        columns = ["disease", *(["status"] if second else [])]
        sensitive = columns if second.endswith(" SENSITIVE") else columns[:1]
        method = draw.choice(["generalization(suppression => 0)", "mondrian"])
        con.execute(
            f"CREATE OR REPLACE POLICY p ON people (name {tokens}, age QUASI IDENTIFIER, disease SENSITIVE{second}) "
            "REQUIRE k_anonymity(k => 2)"
        )
        con.execute(f"CREATE SERIES s{number} ON POLICY p KEY 'SERIES_KEY' REQUIRE {required}")
        made: dict[str, Published] = {}
        for position, release in enumerate(history(draw)):
            con.execute("DELETE FROM people")
            con.duckdb.executemany(
                "INSERT INTO people VALUES (?, ?, ?, ?)", [(who, *row) for who, row in release.items()]
            )
            name = f"r{number}_{position}"
            create = f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD {method} IN SERIES s{number}"
            if "KEY" in tokens:
                with pytest.raises(PolicyError, match="PSEUDONYM KEY"):
                    con.execute(create)
                break
            try:
                con.execute(create)
            except PrivacyViolation:
                continue
            made[name] = published(con, name, release, columns)
        if not made:
            continue
        checked = con.execute(f"CHECK {[*made][-1]} IN SERIES s{number}").fetchall() if len(made) > 1 else []
        reached = {(row[1], row[2]): row[4] for row in checked}
        most = float(required.split("=> ")[1][:-1])
        for place, column in enumerate(sensitive):
            share = surest([*made.values()], place)
            assert share is not None
            assert share <= reached.get(("composition", column), 1) + NOISE
            assert share <= (1 / most if required.startswith("m_") else most) + NOISE
            if os.environ.get("HISTORIES"):
                print(
                    f"HISTORY {seed}-{number} releases {len(made)} {second} {tokens} {required} {method} worst {share}"
                )
