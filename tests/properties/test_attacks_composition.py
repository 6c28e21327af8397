"""ATTACK ... WITH composition, against every world that agrees with both releases: sound, and exact by intersection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection
from tests.oracles.composition import Classes, certain, intersection
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

PEOPLE = "abcdef"
# Of each respondent the value, and the class in each release, None where the respondent is not in it.
sources = st.dictionaries(
    st.sampled_from(PEOPLE),
    st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([None, "u", "v"]), st.sampled_from([None, "u", "w"])),
    min_size=2,
)


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    for table in ("first", "second"):
        connection.execute(f'CREATE TABLE {table} ("the ""name" VARCHAR, class VARCHAR, disease VARCHAR)')
        connection.execute(
            f'CREATE POLICY {table} ON {table} ("the ""name" ENTITY, class QUASI IDENTIFIER, disease SENSITIVE) '
            "REQUIRE k_anonymity(k => 1)"
        )
    return connection


@settings(max_examples=draws(2, long=15), deadline=None)
@given(sources)
def test_what_is_certain_is_so_in_all_worlds(con: Connection, people: Mapping[str, tuple[str | None, ...]]) -> None:
    releases: list[Classes] = []
    for place, table in ((1, "first"), (2, "second")):
        members = {who: str(told[place]) for who, told in people.items() if told[place] is not None}
        assume(members)
        values: dict[Hashable, list[Hashable]] = defaultdict(list)
        for who, label in members.items():
            values[label].append(people[who][0])
        releases.append((members, values))
        con.duckdb.execute(f"DELETE FROM {table}")
        rows = [[who, label, people[who][0]] for who, label in members.items()]
        con.duckdb.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE {table}_release AS POLICY {table} METHOD generalization")
    [row] = con.execute("ATTACK second_release WITH composition(with => first_release)").fetchall()
    everybody = {who for members, _ in releases for who in members}
    known = certain(releases)
    assert row[2] == len(everybody)
    assert row[3] <= len(known)
    # Whose class has one value only is certain at once.
    alone = {who for members, values in releases for who, label in members.items() if len(set(values[label])) == 1}
    assert row[3] >= len(alone)
    [row] = con.execute(
        "ATTACK second_release WITH composition(with => first_release, variant => 'intersection')"
    ).fetchall()
    shares = intersection(releases)
    assert row[2:4] == (len(shares), sum(share == 1 for share in shares.values()))
    if shares:
        assert row[4:6] == pytest.approx((float(max(shares.values())), float(sum(shares.values()) / len(shares))))
