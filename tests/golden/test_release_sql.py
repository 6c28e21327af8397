"""The SELECT of a live view is shown in lines, and what its golden file holds runs and withholds what it is to."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from sqlanon import connect
from sqlanon.sql.build.render import to_sql
from tests.golden.files import statements
from tests.golden.live_views import POLICIES, SETUP, body


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", POLICIES)
def test_the_body_of_a_live_view_is_shown_in_lines(name: str) -> None:
    """In sqlglot's lines; sqlglot would write the names of some functions in capitals."""
    text = body(name)
    assert text.lower() == to_sql(parse_one(text, dialect="duckdb"), pretty=True).lower()


@pytest.mark.parametrize("name", POLICIES)
def test_a_golden_body_runs(name: str) -> None:
    """Three of four persons share a class, the fourth has two rows; what is left over, or differs, is withheld."""
    con = connect()
    con.execute(SETUP)
    con.execute(
        "INSERT INTO visits VALUES ('2020-01-05', 'F', '12345', 'flu', 1), ('2020-01-06', 'F', '12345', 'flu', 2), "
        "('2020-01-07', 'F', '12399', 'cold', 3), ('2020-02-01', 'M', '12345', 'cold', 4), "
        "('2020-02-01', 'M', '12345', 'flu', 4)"
    )
    rows = con.duckdb.execute(statements()[f"{name}.sql"]).fetchall()
    expected = {
        "rows": [("2020-01", "*", "12***", "cold"), ("2020-01", "*", "12***", "flu"), ("2020-01", "*", "12***", "flu")],
        "words": [("2020-01", "F", "12***")] * 3,
        "respondents": [("F", "cold"), ("F", "flu"), ("F", "flu")],
        "rounds": [("F", "cold"), ("F", "flu"), ("F", "flu")],
    }
    assert sorted(rows) == expected[name]
