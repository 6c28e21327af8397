"""What u_loss refuses, and what it answers where there is little to measure."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, UserError
from sqlanon.assess.figures import population_nodes
from sqlanon.clients.session import StatementEvent
from tests.support.database import template

COLUMNS = "age QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE"


def connected(rows: str = "(21, 'F', 'flu'), (22, 'M', 'cold')") -> Connection:
    return template(
        "CREATE TABLE people (age INTEGER, sex VARCHAR, disease VARCHAR)",
        *([f"INSERT INTO people VALUES {rows}"] if rows else []),
        f"CREATE POLICY p ON people ({COLUMNS}) REQUIRE k_anonymity(k => 1)",
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization",
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("min_support => 0", "min_support is above 0"),
        ("min_support => 1.01", "min_support is above 0"),
        ("min_support => -1", "min_support is above 0"),
        ("min_support => 'much'", "min_support is above 0"),
        ("min_support => true", "min_support is above 0"),
        ("each_level => 1", "each_level is true or false"),
        ("worst => -1", "worst is a whole number"),
        ("worst => true", "worst is a whole number"),
        ("worst => 1.5", "worst is a whole number"),
        ("minsupport => 0.1", "no argument 'minsupport'"),
        ("0.1", "no argument"),
    ],
)
def test_arguments_that_are_none(arguments: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        connected().execute(f"MEASURE r WITH FIGURES (u_loss({arguments}))")


def test_an_empty_source_has_no_loss() -> None:
    rows = connected("").execute("MEASURE r WITH FIGURES (u_loss)").fetchall()
    assert [row[1:] for row in rows] == [("u_loss", "disease", None), ("populations", "disease", None)]


def test_without_a_large_population_there_is_no_loss() -> None:
    rows = connected().execute("MEASURE r WITH FIGURES (u_loss(min_support => 0.9))").fetchall()
    assert [row[1:] for row in rows] == [("u_loss", "disease", None), ("populations", "disease", 0)]


def test_a_release_without_a_sensitive_attribute_has_none() -> None:
    con = connected()
    con.execute("CREATE POLICY q ON people (age QUASI IDENTIFIER, sex INSENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY q METHOD generalization")
    with pytest.raises(PolicyError, match="no SENSITIVE attribute"):
        con.execute("MEASURE s WITH FIGURES (u_loss)")
    assert "u_loss" not in {figure for _, figure, *_ in con.execute("MEASURE s").fetchall()}


@pytest.mark.long
def test_what_cannot_be_measured_leaves_the_other_figures() -> None:
    """Ranges that are published by bucket are refused after the search has begun."""
    con = connected(", ".join(f"({i % 7}, 'F', 'd{i % 5}')" for i in range(40)))
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY p METHOD slicing(l => 2, column_k => 2)")
    with pytest.raises(PolicyError, match="published as ranges by bucket"):
        con.execute("MEASURE s WITH FIGURES (u_loss)")
    events: list[StatementEvent] = []
    con.script("MEASURE s", events.append)
    assert "p_loss" in {figure for _, figure, *_ in events[1].result.fetchall()}
    [left_out] = [remark for remark in events[1].remarks if "u_loss" in remark]
    assert left_out.startswith("this release does not have ")
    assert left_out.endswith(" says why")


@pytest.mark.long
def test_many_quasi_identifiers_are_refused() -> None:
    con = sqlanon.connect()
    names = [f"q{i}" for i in range(33)]
    con.execute(f"CREATE TABLE wide AS SELECT {', '.join(f'1 AS {name}' for name in names)}, 'flu' AS disease")
    policy = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    con.execute(f"CREATE POLICY p ON wide ({policy}, disease SENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
    with pytest.raises(PolicyError, match="more than 32"):
        con.execute("MEASURE r WITH FIGURES (u_loss)")


def test_nobody_is_named_unless_that_is_asked_for() -> None:
    """The names of populations are values of the source where an attribute has no hierarchy."""
    con = connected("(21, 'F', 'flu'), (22, 'M', 'cold')")
    rows = con.execute("MEASURE r").fetchall()
    assert {"u_loss", "populations"} <= {figure for _, figure, *_ in rows}
    assert not any(figure.startswith("u_loss of") for _, figure, *_ in rows)
    rows = con.execute("MEASURE r WITH FIGURES (u_loss(worst => 1))").fetchall()
    assert [figure for _, figure, *_ in rows] == ["u_loss", "populations", "u_loss of age 21"]


@pytest.mark.long
def test_the_worst_populations_are_named_and_not_recorded() -> None:
    con = connected("(21, 'F', 'flu'), (21, 'M', 'cold'), (22, NULL, 'cold'), (22, NULL, 'flu')")
    con.execute("CREATE POLICY q ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE) "
                "REQUIRE k_anonymity(k => 4)")  # fmt: skip
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY q METHOD generalization")
    rows = con.execute("MEASURE s WITH FIGURES (u_loss(min_support => 0.25, worst => 10))").fetchall()
    assert [figure for _, figure, *_ in rows][:5] == [
        "u_loss",
        "populations",
        "u_loss of age 21, sex F",
        "u_loss of age 21, sex M",
        "u_loss of sex F",
    ]
    assert "u_loss of age 22, sex NULL" in {figure for _, figure, *_ in rows}
    kept = con.execute("SELECT figure FROM anon.release_figure WHERE starts_with(figure, 'u_loss')").fetchall()
    assert kept == [("u_loss",)]


def test_a_changed_hierarchy_is_refused() -> None:
    con = connected()
    con.execute("CREATE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES (21, 'a'), (22, 'a')) AS t (v, l))")
    con.execute(
        "CREATE POLICY q ON people (age QUASI IDENTIFIER USING h, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY q METHOD generalization")
    con.execute("CREATE OR REPLACE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES (21, 'b'), (22, 'b')) AS t (v, l))")
    with pytest.raises(PolicyError, match="hierarchy"):
        con.execute("MEASURE s WITH FIGURES (u_loss)")


@pytest.mark.long
def test_too_many_labels_and_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    con = connected(", ".join(f"({i}, 'n{i}', 'd{i % 3}')" for i in range(40)))
    con.execute("CREATE POLICY q ON people (sex QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 4)")
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY q METHOD mondrian")
    assert con.execute("MEASURE s WITH FIGURES (u_loss)").fetchall()
    monkeypatch.setattr(population_nodes, "_MOST_COMPARED", 100)
    with pytest.raises(PolicyError, match="labels and 40 values"):
        con.execute("MEASURE s WITH FIGURES (u_loss)")
    assert "p_loss" in {figure for _, figure, *_ in con.execute("MEASURE s").fetchall()}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER TABLE people ALTER age TYPE VARCHAR USING 'x' || age", "column age is VARCHAR now and was INTEGER"),
        ("ALTER TABLE people DROP disease", "no column disease"),
        ("DROP TABLE people", "no table or view people"),
    ],
)
def test_a_source_that_has_changed_is_refused(change: str, words: str) -> None:
    con = connected(", ".join(f"({i % 4}, 'F', 'd{i % 3}')" for i in range(40)))
    con.execute(change)
    with pytest.raises(PolicyError, match=words):
        con.execute("MEASURE r WITH FIGURES (u_loss)")
    assert "p_loss" in {figure for _, figure, *_ in con.execute("MEASURE r").fetchall()}
