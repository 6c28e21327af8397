"""ATTACK ... WITH minimality: which releases it is asked of, and what is refused."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon import Connection, PolicyError
from sqlanon.assess.attacks.minimality import sizes
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT i AS person, i % 6 AS age, ['F', 'M'][1 + i % 2] AS sex,
    ['flu', 'cold', 'x'][1 + (i * 5 // 7) % 3] AS ill FROM range(24) AS n(i);
CREATE HIERARCHY bands AS INTERVALS (2, 4);
"""
ROLES = "age QUASI IDENTIFIER USING bands, sex QUASI IDENTIFIER, ill SENSITIVE"
DIVERSE = "l_diversity(l => 2, variant => 'distinct')"
PLAIN = "generalization(suppression => 0)"


def connected(*, roles: str = ROLES, required: str = DIVERSE, method: str = PLAIN) -> Connection:
    return template(
        SETUP,
        f"CREATE POLICY p ON people ({roles}) REQUIRE {required}",
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}",
    )


def refused(con: Connection, message: str, arguments: str = "") -> None:
    with pytest.raises(PolicyError, match=message):
        con.execute(f"ATTACK r WITH minimality{arguments}")


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("roles", "required", "method", "message"),
    [
        (ROLES, DIVERSE, "mondrian", "do not show one level of each"),
        (ROLES, DIVERSE, "anatomy(l => 2)", "do not show one level of each"),
        (ROLES, DIVERSE, "generalization(suppression => 0, recoding => 'local')", "minimality"),
        (ROLES, DIVERSE, "generalization(suppression => 0.5)", "left out"),
        (ROLES, "k_anonymity(k => 2)", PLAIN, "nothing that is required is about sensitive values"),
        (f"person ENTITY, {ROLES}", DIVERSE, PLAIN, "several rows"),
        (
            "age QUASI IDENTIFIER USING bands MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MIN LEVEL 1, ill SENSITIVE",
            DIVERSE,
            PLAIN,
            "fixed beforehand",
        ),
    ],
)
def test_what_was_not_chosen_by_its_loss_alone_is_refused(roles: str, required: str, method: str, message: str) -> None:
    refused(connected(roles=roles, required=required, method=method), message)


@pytest.mark.long
def test_a_source_that_has_changed_is_refused() -> None:
    con = connected()
    con.execute("INSERT INTO people SELECT 99, 1, 'F', 'flu'")
    refused(con, "its source has changed")
    con.execute("DELETE FROM people WHERE person = 99")
    assert len(con.execute("ATTACK r WITH minimality").fetchall()) == 3
    con.execute("CREATE OR REPLACE HIERARCHY bands AS INTERVALS (2, 6)")
    refused(con, "a hierarchy of its policy is another now")


@pytest.mark.long
def test_the_work_is_bounded() -> None:
    con = connected()
    with sizes.replaced(every_world=0, most_dealt=24 * 150):
        refused(con, r"200 worlds of 24 rows are more than 3,600 rows", "(worlds => 200)")
        with sizes.replaced(least_worlds=1):
            assert con.execute("ATTACK r WITH minimality(worlds => 150)").fetchall()
    with sizes.replaced(most_choices=3):
        refused(con, "there are 8 nodes, more than 3")


@pytest.mark.long
def test_a_class_of_many_worlds_is_dealt_world_by_world() -> None:
    """90,720 worlds of one class: dealing them takes a second, and took hours when each met each arrangement."""
    con = sqlanon.connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE people AS "
        "SELECT i // 2 AS age, d FROM (SELECT unnest(range(9)) AS i, unnest('aabbcdefg'.split('')) AS d)"
    )
    con.execute("CREATE POLICY p ON people (age QUASI IDENTIFIER, d SENSITIVE) REQUIRE l_diversity(l => 3)")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {PLAIN}")
    [row, *_] = con.execute("ATTACK r WITH minimality").fetchall()
    assert row[:3] == ("minimality", "d", 9)
    assert row[4:6] == (pytest.approx(2 / 9), pytest.approx(2 / 9))


@pytest.mark.long
def test_too_few_worlds_have_no_figure() -> None:
    con = connected()
    with sizes.replaced(every_world=0, least_worlds=10_000_000):
        refused(con, "worlds could have led to it")


def test_where_nothing_is_preferred_each_value_is_as_likely_as_in_its_class() -> None:
    """The source itself was published: no world is ruled out."""
    con = connected(roles="sex QUASI IDENTIFIER, ill SENSITIVE")
    (homogeneity,) = con.execute("ATTACK r WITH homogeneity").fetchall()
    with sizes.replaced(every_world=0):
        (row, high, low) = con.execute("ATTACK r WITH minimality(worlds => 3000)").fetchall()
    # The most frequent value of a row in worlds that are drawn is a little more frequent than it is expected to be.
    assert row[5] == pytest.approx(homogeneity[5], abs=0.05)
    assert low[5] < row[5] < high[5]


@pytest.mark.long
def test_several_sensitive_attributes_are_dealt_together() -> None:
    con = connected(
        roles="age QUASI IDENTIFIER USING bands, sex SENSITIVE, ill SENSITIVE",
        required=f"{DIVERSE[:-1]}, attribute => ill)",
    )
    rows = con.execute("ATTACK r WITH minimality(worlds => 20000)").fetchall()
    assert [row[:2] for row in rows] == [
        (name, attribute)
        for name in ("minimality", "minimality_high", "minimality_low")
        for attribute in ("sex", "ill")
    ]


@pytest.mark.long
def test_other_worlds_are_drawn_with_another_seed() -> None:
    con = connected()
    with sizes.replaced(every_world=0):
        first, second, again = (
            con.execute(f"ATTACK r WITH minimality(worlds => 400, seed => {seed})").fetchall() for seed in (1, 2, 1)
        )
    assert first == again != second
