"""What a series says of its releases together is what the definitions say, and no certainty that no world has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, PrivacyViolation
from sqlanon.republication.series.together import require_together
from tests.oracles.composition import Classes, certain
from tests.oracles.series import by_differences, invariance, joint_shares, surest
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

# Of each respondent of a release the class and the value, by the respondent's name.
Release = Mapping[str, tuple[int | None, str | None]]
PEOPLE = ["a", "b", "it's", "NULL", "ß", ""]
NOISE = 1e-9
VALUES = ["flu", "cold", None, "x'; --"]


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("CREATE TABLE people (name VARCHAR, class INTEGER, ill VARCHAR)")
    connection.execute(
        "CREATE POLICY p ON people (name ENTITY, class QUASI IDENTIFIER MAX LEVEL 0, ill SENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    return connection


@st.composite
def histories(draw: st.DrawFn, *, changes: bool) -> list[Release]:
    """A few releases, to which people come and from which they go; with `changes` values are others at times."""
    values = {who: draw(st.sampled_from(VALUES)) for who in PEOPLE}
    releases: list[Release] = []
    for _ in range(draw(st.integers(1, 3))):
        present = draw(st.lists(st.sampled_from(PEOPLE), min_size=1, unique=True))
        releases.append({who: (draw(st.sampled_from([0, 1, None])), values[who]) for who in present})
        if changes:
            values[draw(st.sampled_from(PEOPLE))] = draw(st.sampled_from(VALUES))
    return releases


def classes_of(release: Release) -> Classes:
    values: dict[Hashable, list[Hashable]] = defaultdict(list)
    for label, value in release.values():
        values[label].append(value)
    return {who: label for who, (label, _) in release.items()}, values


@pytest.fixture(autouse=True, scope="module")
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SERIES_KEY", "a key that nobody knows")
        yield


def achieved(con: Connection, history: Sequence[Release]) -> dict[str, float | None]:
    """What CHECK says of the releases, made one after the other in a series of their own."""
    con.execute("DROP SERIES IF EXISTS s")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    for release in history:
        con.execute("DELETE FROM people")
        con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", [[who, *part] for who, part in release.items()])
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p IN SERIES s")
    return {row[1]: row[4] for row in con.execute("CHECK r IN SERIES s").fetchall()}


@settings(max_examples=draws(2, long=40), deadline=None)
@given(histories(changes=False))
def test_a_value_that_stays_is_certain_only_where_it_is_in_all_worlds(con: Connection, history: list[Release]) -> None:
    releases = [classes_of(release) for release in history]
    reached = achieved(con, history)
    shares = joint_shares(releases).values()
    composition = reached["composition"]
    assert composition is not None
    assert composition >= float(max(share for share in shares if share is not None)) - NOISE
    if composition == 1:
        assert certain(releases)
    assert reached["m_invariance"] == invariance(releases)


@pytest.mark.long
@settings(max_examples=draws(2, long=20), deadline=None)
@given(histories(changes=True))
def test_values_that_change_have_no_confidence(con: Connection, history: list[Release]) -> None:
    releases = [classes_of(release) for release in history]
    reached = achieved(con, history)
    known = [share for share in joint_shares(releases).values() if share is not None]
    if known:
        assert reached["composition"] is not None
        assert reached["composition"] >= float(max(known)) - NOISE
    else:
        assert reached["composition"] is None
    assert reached["m_invariance"] == invariance(releases)


@settings(max_examples=draws(2, long=60), deadline=None)
@given(histories(changes=False))
def test_differences_of_classes_are_counted_where_worlds_are_too_many(con: Connection, history: list[Release]) -> None:
    releases = [classes_of(release) for release in history]
    with patch("sqlanon.republication.series.beliefs._PEOPLE", 0):
        without_worlds = achieved(con, history)["composition"]
    with_worlds = achieved(con, history)["composition"]
    share = surest(
        [(members, {label: [(value,) for value in of] for label, of in shown.items()}) for members, shown in releases],
        0,
    )
    assert without_worlds is not None
    assert with_worlds is not None
    assert share is not None
    assert with_worlds >= share - NOISE
    assert without_worlds >= by_differences(releases) - NOISE
    # What is certain by differences is certain.
    assert without_worlds < 1 or share == 1


@st.composite
def arrangements(draw: st.DrawFn) -> list[Release]:
    """Releases most of which are alike in who is with whom: whole classes go and return, at times one person."""
    values = {who: draw(st.sampled_from(VALUES)) for who in PEOPLE}
    classes = {who: draw(st.sampled_from([0, 1, None])) for who in PEOPLE}
    releases: list[Release] = []
    for _ in range(draw(st.integers(2, 4))):
        present = draw(st.sets(st.sampled_from([0, 1, None]), min_size=1))
        release = {who: (label, values[who]) for who, label in classes.items() if label in present}
        change = draw(st.sampled_from(["none", "none", "none", "leaves", "moves", "changes"]))
        who = draw(st.sampled_from(PEOPLE))
        if change == "leaves":
            release.pop(who, None)
        elif change == "moves":
            release[who] = (draw(st.sampled_from([0, 1, None])), values[who])
        elif change == "changes":
            release[who] = (classes[who], draw(st.sampled_from(VALUES)))
        if release:
            releases.append(release)
    return releases


@pytest.mark.long
@settings(max_examples=draws(2, long=30), deadline=None)
@given(arrangements())
def test_a_release_is_made_where_all_releases_together_are_m_invariant(con: Connection, history: list[Release]) -> None:
    """Only the latest classes are looked at where they tell it; the answer is the definition's, of all releases."""
    con.execute("DROP SERIES IF EXISTS s")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    made: list[Classes] = []
    for release in history:
        con.execute("DELETE FROM people")
        con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", [[who, *part] for who, part in release.items()])
        together = [*made, classes_of(release)]
        create = "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p IN SERIES s"
        with patch("sqlanon.republication.series.ledger.require_together", wraps=require_together) as looked_at:
            if invariance(together) >= 2:
                con.execute(create)
                made = together
                # Nothing is left to be measured of all releases.
                assert list(looked_at.call_args.args[-1]) == []
            else:
                with pytest.raises(PrivacyViolation):
                    con.execute(create)
    if made:
        assert {row[1]: row[5] for row in con.execute("CHECK r IN SERIES s").fetchall()}["m_invariance"] is True
