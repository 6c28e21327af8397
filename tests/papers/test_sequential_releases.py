"""Wang and Fung, Anonymizing sequential releases (2006): the join of two releases, on a job that both show."""

from __future__ import annotations

import pytest

from sqlanon import PrivacyViolation
from tests.support.database import template
from tests.support.sequential_releases import SETUP

# The level of the job in the second release; anonymity of the join, and linkability.
JOINS = [(0, 1, 1), (1, 2, 2 / 3), (2, 2, 3 / 5)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("level", "anonymity", "linkability"), JOINS)
def test_a_join_of_two_releases(level: int, anonymity: int, linkability: float) -> None:
    with template(SETUP) as con:
        con.execute(
            "CREATE POLICY second ON two (name INSENSITIVE, job QUASI IDENTIFIER USING jobs "
            f"MIN LEVEL {level} MAX LEVEL {level}, class INSENSITIVE) REQUIRE k_anonymity(k => 1)"
        )
        con.execute("CREATE ANONYMIZED TABLE second AS POLICY second METHOD generalization")
        required = (
            "xy_anonymity(x => name, y => disease, k => 2), xy_linkability(x => (name), y => disease, max => 0.7)"
        )
        rows = con.execute(f"CHECK second JOINED WITH RELEASE first ON (job) REQUIRE {required}").fetchall()
        assert [row[1:5] for row in rows] == [
            ("xy_anonymity", "disease", 2.0, anonymity),
            ("xy_linkability", "disease", 0.7, pytest.approx(linkability)),
        ]
        assert [row[5] for row in rows] == [anonymity >= 2, linkability <= 0.7]
        # From the other side it is the same join.
        mirrored = con.execute(f"CHECK first JOINED WITH RELEASE second ON (JOB) REQUIRE {required}").fetchall()
        assert [row[1:] for row in mirrored] == [row[1:] for row in rows]


# What is required of the join; the level of the job that the search chooses, None if none will do; what it comes to.
CHOSEN = [
    ("xy_anonymity(x => name, y => disease, k => 1)", 0, 1),
    ("xy_anonymity(x => name, y => disease, k => 2)", 1, 2),
    ("xy_anonymity(x => name, y => disease, k => 3)", None, None),
    ("xy_linkability(x => name, y => disease, max => 1)", 0, 1),
    ("xy_linkability(x => name, y => disease, max => 0.7)", 1, 2 / 3),
    ("xy_linkability(x => name, y => disease, max => 0.65)", 2, 3 / 5),
    ("xy_linkability(x => name, y => disease, max => 0.6)", 2, 3 / 5),
    ("xy_linkability(x => name, y => disease, max => 0.59)", None, None),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("required", "level", "reached"), CHOSEN)
def test_the_search_takes_what_is_required_of_a_join(required: str, level: int | None, reached: float | None) -> None:
    with template(SETUP) as con:
        con.execute(
            "CREATE POLICY second ON two (name INSENSITIVE, job QUASI IDENTIFIER USING jobs, class INSENSITIVE) "
            f"JOINED WITH RELEASE first ON (job) REQUIRE k_anonymity(k => 1), {required}"
        )
        create = "CREATE ANONYMIZED TABLE second AS POLICY second METHOD generalization"
        if level is None:
            with pytest.raises(PrivacyViolation):
                con.execute(create)
            return
        rows = con.execute(create).fetchall()
        assert rows[1][6] == f"job {level}/2"
        assert con.execute("CHECK second").fetchall()[1][4] == pytest.approx(reached)
