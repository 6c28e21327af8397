"""Three coins, after Brickell and Shmatikov: what can be learned from each table, by the best classifier."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

import sqlanon
from sqlanon import Connection

# Rows of each of the eight equally likely outcomes. What is a matter of chance is one half but for so much.
COPIES, NOISE = 500, 0.06


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with sqlanon.connect() as connection:
        connection.execute("CREATE TABLE coins (a1 INTEGER, a2 INTEGER, a3 VARCHAR, a4 INTEGER, a5 INTEGER)")
        outcomes = ((r1, r2, f"{r2}{r3}", r1 ^ r3, r1 ^ r2) for r1, r2, r3 in product((0, 1), repeat=3))
        connection.executemany("INSERT INTO coins VALUES (?, ?, ?, ?, ?)", [list(row) for row in outcomes])
        connection.execute(f"INSERT INTO coins SELECT coins.* FROM coins CROSS JOIN range({COPIES - 1})")
        for name, level in (("intact", 0), ("suppressed", 1)):
            connection.execute(
                f"CREATE POLICY {name} ON coins (a1 QUASI IDENTIFIER MAX LEVEL 0, "
                f"a2 QUASI IDENTIFIER MIN LEVEL {level} MAX LEVEL {level}, a3 SENSITIVE, "
                "a4 INSENSITIVE, a5 INSENSITIVE) REQUIRE k_anonymity(k => 2)"
            )
            connection.execute(f"CREATE ANONYMIZED TABLE {name}_release AS POLICY {name} METHOD generalization")
        yield connection


def learned(con: Connection, release: str, target: str, using: str) -> dict[str, float]:
    task = f"target => {target}, using => ({using}), models => 'tree', folds => 5"
    rows = con.execute(f"MEASURE {release}_release WITH TASK ({task})").fetchall()
    return {figure: value for _, figure, _, value in rows}


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    ("target", "using", "base"),
    [
        ("a4", "a1, a2, a3", 1 / 2),
        ("a5", "a1, a2, a3", 1),
        ("a4", "a1, a2, a3, a5", 1),
        ("a5", "a1, a2, a3, a4", 1),
        ("a3", "a1, a2, a4, a5", 1 / 2),
    ],
)
@pytest.mark.parametrize("release", ["intact", "suppressed"])
def test_what_is_learned_of_the_coins(con: Connection, release: str, target: str, using: str, base: float) -> None:
    """The baseline is the better one of two: with the sensitive a3 and the other neutral column, or with a1 and a2."""
    figures = learned(con, release, target, using)
    assert figures["u_max_tree"] == figures["u_san_tree"] == 1
    assert figures["u_base_tree"] == (1 if base == 1 else pytest.approx(base, abs=NOISE))
    assert figures["gain_tree"] == pytest.approx(1 - figures["u_base_tree"])


def test_an_adversary_gains_nothing_of_a_suppressed_coin(con: Connection) -> None:
    """Suppressing a2 costs an adversary all, and a researcher nothing."""
    accuracies = {release: learned(con, release, "a4", "a1, a2, a3")["a_acc"] for release in ("intact", "suppressed")}
    assert accuracies == {"intact": 1 / 4, "suppressed": 0}


def test_who_knows_the_quasi_identifiers_only(con: Connection) -> None:
    intact, suppressed = (learned(con, name, "a3", "a1, a2")["u_san_tree"] for name in ("intact", "suppressed"))
    assert intact == pytest.approx(1 / 2, abs=NOISE)
    assert suppressed == pytest.approx(1 / 4, abs=NOISE)
