"""ATTACK ... WITH linkage, against labels that are read one by one: levels, rows of several levels, ranges, NULLs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, PrivacyViolation
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

Person = tuple[int | None, str | None]
people = st.tuples(st.none() | st.integers(0, 12), st.sampled_from([None, "u", "v", "x"]))
sources = st.lists(st.tuples(people, st.sampled_from(["flu", "cold", None])), min_size=3, max_size=14)
METHODS = {
    "levels": "generalization(suppression => 0.3)",
    "several levels": "generalization(suppression => 0.5, recoding => 'local')",
    "ranges": "mondrian",
}


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("CREATE HIERARCHY bands AS INTERVALS (3, 6)")
    connection.execute('CREATE TABLE source ("the age" INTEGER, ward VARCHAR, disease VARCHAR)')
    connection.execute('CREATE TABLE known (ward VARCHAR, name VARCHAR, "THE AGE" BIGINT)')
    connection.execute(
        'CREATE POLICY p ON source ("the age" QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, disease SENSITIVE) '
        "REQUIRE k_anonymity(k => 2)"
    )
    return connection


def _fits(label: Hashable, value: Hashable) -> bool:
    """Whether a label may stand for a value."""
    if label == "*" or label == value or (label is not None and label == str(value)):
        return True
    text = str(label)
    if text.endswith(" or NULL"):
        if value is None:
            return True
        text = text.removesuffix(" or NULL")
        if text == str(value):
            return True
    if value is None or label is None:
        return False
    if interval := re.fullmatch(r"\[(-?\d+),(-?\d+)\)", text):
        return int(interval[1]) <= int(str(value)) < int(interval[2])
    if ends := re.fullmatch(r"\[(.*), (.*)\]", text):
        low, high = ends.groups()
        return int(low) <= int(str(value)) <= int(high) if isinstance(value, int) else low <= str(value) <= high
    return False


@settings(max_examples=draws(2, long=30), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(sources, st.lists(people, max_size=10), st.sampled_from(list(METHODS)))
def test_people_fit_the_classes_whose_labels_stand_for_them(
    con: Connection, rows: list[tuple[Person, str | None]], known: list[Person], method: str
) -> None:
    con.duckdb.execute("DELETE FROM source; DELETE FROM known")
    con.duckdb.executemany("INSERT INTO source VALUES (?, ?, ?)", [[*person, disease] for person, disease in rows])
    if known:
        con.duckdb.executemany("INSERT INTO known VALUES (?, 'x', ?)", [[ward, age] for age, ward in known])
    try:
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {METHODS[method]}")
    except PrivacyViolation:
        assume(False)
    answers = {row[0]: row for row in con.execute("ATTACK r WITH linkage(against => known)").fetchall()}
    names = [name for name, *_ in con.execute("DESCRIBE r").fetchall()]
    classes: dict[tuple[Hashable, ...], list[Hashable]] = defaultdict(list)
    for *key, disease in con.execute("FROM r").fetchall():
        classes[tuple(key)].append(disease)
    sizes, matches, told = [], [], []
    for key, diseases in classes.items():
        shown = dict(zip(names, key, strict=False))
        number = sum(_fits_all(shown, person) for person in known)
        if number:
            most = max(diseases.count(disease) for disease in diseases)
            sizes.append(len(diseases))
            matches.append(number)
            told.append(Fraction(most, max(number, len(diseases))))
    assert answers["linkage_journalist"][2] == sum(sizes)
    assert answers["linkage_journalist"][3] == sum(n for n, d in zip(sizes, matches, strict=True) if d == 1)
    assert answers["linkage_presence"][2] == answers["linkage"][2] == sum(matches)
    assert answers["linkage_presence"][3] == sum(d for n, d in zip(sizes, matches, strict=True) if n >= d)
    if matches:
        mean = sum(d * share for d, share in zip(matches, told, strict=True)) / sum(matches)
        assert answers["linkage"][4:6] == pytest.approx((float(max(told)), float(mean)))
    else:
        assert answers["linkage"][4:6] == (None, None)


def _fits_all(shown: dict[str, Hashable], person: Person) -> bool:
    age, ward = person
    return _fits(shown["the age"], age) and _fits(shown["ward"], ward)
