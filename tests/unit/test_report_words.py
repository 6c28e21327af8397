"""What a report says in sentences: its verdict, attacks, and candidates that lack figures."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon.report import charts
from tests.support.reports import page_of


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


@pytest.mark.parametrize(
    ("requirements", "unrequired"),
    [
        ("k_anonymity(k => 2)", "columns ill, pay."),
        ("k_anonymity(k => 2), l_diversity(l => 2, attribute => ILL)", "column pay."),
        ("k_anonymity(k => 2), l_diversity(l => 2, attribute => pay), t_closeness(t => 1, attribute => ill)", None),
        ("l_diversity(l => 2)", None),
        ("l_diversity(l => 2, jointly => true)", None),
    ],
)
def test_sensitive_columns_that_nothing_is_required_of_are_said_first(
    requirements: str, unrequired: str | None
) -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE people AS SELECT i % 3 AS age, i % 5 AS ill, i % 4 AS pay FROM range(60) AS t(i)")
    con.execute(
        f"CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE, pay SENSITIVE) REQUIRE {requirements}"
    )
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p")
    text = " ".join(page_of(con, "r").text.split())
    box = text[: text.index("r is a snapshot")]
    if unrequired is None:
        assert "Each requirement is met." in box
        assert "Warning" not in box
    else:
        assert "Each requirement is met" not in box
        assert f"Warning: nothing is required of the sensitive {unrequired}" in box
