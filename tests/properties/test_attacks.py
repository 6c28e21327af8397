"""ATTACK on any table, against the definitions: NULLs, ties, single rows, names that need quotes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection
from tests.oracles import attacks as oracle
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

KEYS = ('the "ward"', "select")
VALUE = "it's; it"
Row = tuple[int | None, str | None, int | None]
rows_of_tables = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.sampled_from([None, "x", "y"]), st.none() | st.integers(-3, 5)),
    max_size=20,
)
# The family of each number, None included.
FAMILIES: dict[Hashable, Hashable] = {
    None: "nothing",
    **{n: "few" if n < 0 else f"some {n // 3}" for n in range(-3, 6)},
}

Confidence = Callable[[Sequence[Hashable], Sequence[Hashable]], Fraction | None]


def _alone(known: Callable[[Any], Fraction]) -> Confidence:
    return lambda values, everybody: known(values)


ATTACKS: dict[str, tuple[Confidence, Fraction]] = {
    "homogeneity(confidence => 0.4)": (_alone(oracle.homogeneity), Fraction(2, 5)),
    "background(values => 0, confidence => 0.75)": (partial(oracle.background, lacking=0), Fraction(3, 4)),
    "background(values => 2)": (partial(oracle.background, lacking=2), Fraction(1)),
    "skewness(ratio => 1.2)": (oracle.ratio, Fraction(6, 5)),
    "skewness(difference => 0.1)": (oracle.difference, Fraction(1, 10)),
    "similarity(level => 1, confidence => 0.6)": (
        _alone(partial(oracle.similarity, families=FAMILIES)),
        Fraction(3, 5),
    ),
    # Out of reach where no value is rare.
    "skewness(ratio => 2.5)": (oracle.ratio, Fraction(5, 2)),
    "skewness(difference => 0.7)": (oracle.difference, Fraction(7, 10)),
    "similarity(within => 1.5)": (_alone(partial(oracle.within, width=Fraction(3, 2))), Fraction(1)),
}


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect()
    connection.execute(
        f'CREATE TABLE t ("{KEYS[0].replace(chr(34), chr(34) * 2)}" INTEGER, "{KEYS[1]}" VARCHAR, "{VALUE}" INTEGER)'
    )
    connection.execute("CREATE TABLE family (value VARCHAR, level_1 VARCHAR)")
    connection.duckdb.executemany(
        "INSERT INTO family VALUES (?, ?)", [[None if v is None else str(v), f] for v, f in FAMILIES.items()]
    )
    connection.execute("CREATE HIERARCHY families AS LEVELS (FROM family)")
    return connection


def _filled(con: Connection, rows: Sequence[Row]) -> None:
    con.duckdb.execute("DELETE FROM t")
    if rows:
        con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row) for row in rows])


def _attacked(con: Connection, attack: str) -> tuple[Any, ...]:
    named = ", ".join('"' + name.replace('"', '""') + '"' for name in KEYS)
    [row] = con.execute(f'ATTACK t ({named}) SENSITIVE "{VALUE}" USING families WITH {attack}').fetchall()
    return tuple(row)


@settings(max_examples=draws(13, long=150), deadline=None)
@given(rows_of_tables, st.sampled_from(list(ATTACKS)))
def test_an_attack_comes_to_what_its_definition_says(con: Connection, rows: list[Row], attack: str) -> None:
    known, threshold = ATTACKS[attack]
    _filled(con, rows)
    name, attribute, targets, succeeded, highest, mean, bound, worst = _attacked(con, attack)
    assert (attribute, targets, bound) == (VALUE, len(rows), None)
    assert attack.startswith(name.partition("_")[0])
    classes: dict[tuple[Hashable, ...], list[Hashable]] = defaultdict(list)
    for *key, value in rows:
        classes[tuple(key)].append(value)
    if not rows:
        assert (succeeded, highest, mean, worst) == (0, None, None, None)
        return
    everybody = [row[-1] for row in rows]
    found = {key: known(values, everybody) for key, values in classes.items()}
    confidences = {key: confidence for key, confidence in found.items() if confidence is not None}
    if not confidences:
        assert (succeeded, highest, mean) == (None, None, None)
        assert worst.startswith("not defined: ")
        return
    if attack.startswith("skewness") and not oracle.within_reach(
        everybody, **{"ratio": None, "difference": None, attack[9:].partition(" ")[0]: threshold}
    ):
        assert succeeded is None
        succeeded = 0
    assert succeeded == sum(len(classes[key]) for key in classes if confidences[key] >= threshold)
    assert highest == pytest.approx(float(max(confidences.values())))
    assert mean == pytest.approx(float(oracle.mean(list(classes.values()), list(confidences.values()))))
    labels = {
        ", ".join(f"{column} {'NULL' if part is None else part}" for column, part in zip(KEYS, key, strict=True)): key
        for key in classes
    }
    order = [confidences[labels[label]] for label in worst.split("; ")]
    assert order == sorted(confidences.values(), reverse=True)[:10]


@settings(max_examples=draws(7, long=60), deadline=None)
@given(rows_of_tables.filter(bool), st.sampled_from(list(ATTACKS)))
def test_classes_that_are_merged_tell_no_more(con: Connection, rows: list[Row], attack: str) -> None:
    """As the headers declare: what is known at most falls or stays."""
    _filled(con, rows)
    before = _attacked(con, attack)[4]
    _filled(con, [(None if first == 1 else first, second, value) for first, second, value in rows])
    after = _attacked(con, attack)[4]
    # What is not defined of a column is so whatever the classes are.
    assert (after is None) == (before is None)
    assert after is None or after <= before + 1e-12
