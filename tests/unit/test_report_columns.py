"""The table of published columns in a report: roles are those of the policy, and what is shown is in words."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon.export.report import charts
from tests.support.reports import page_of, people

APART = "as it is, apart from the sensitive values, in buckets"
BESIDE = "as it is, apart from the columns of other tables, in buckets"
SOME_ROW = "as a value of some row of a bucket"


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("method", "ages", "values", "name"),
    [
        ("anatomy(l => 2)", APART, SOME_ROW, "value"),
        ("slicing(l => 2)", APART, SOME_ROW, "ill"),
        # Here the ward stands beside the sensitive value.
        ("slicing(l => 2) COLUMNS (age), (ward, ill)", APART, SOME_ROW, "ill"),
        ("mondrian(publish => 'none')", APART, SOME_ROW, "ill"),
        ("trivial", APART, BESIDE, "ill"),
    ],
)
def test_columns_of_buckets_have_the_roles_of_the_policy(method: str, ages: str, values: str, name: str) -> None:
    columns = page_of(people(method), "r").table("Published columns")
    known = {column: (role, reading) for column, role, reading, *_ in columns}
    wards = BESIDE if "(ward, ill)" in method else ages
    assert known.pop("count", ("added by the method", None))[0] == "added by the method"
    assert known == {
        "age": ("quasi-identifier", ages),
        "ward": ("quasi-identifier", wards),
        name: ("sensitive", values),
        "bucket": ("added by the method", "number of the bucket"),
    }


def test_fragments_are_apart_without_buckets() -> None:
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE people AS SELECT i % 3 AS age, i % 2 AS ill FROM range(8) AS t(i);
        CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) CONFIDENTIAL (age, ill);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD fragments FRAGMENTS (age), (ill)""")
    assert [row[:3] for row in page_of(con, "r").table("Published columns")] == [
        ["age", "quasi-identifier", "as it is, apart from the sensitive values"],
        ["ill", "sensitive", "as it is, apart from the columns of other tables"],
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("levels", "ages"),
    [
        ("MIN LEVEL 1 MAX LEVEL 1", ["as the label of level 1 of 3, such as [70020,70030)"]),
        ("MIN LEVEL 2 MAX LEVEL 2", ["as the label of level 2 of 3, such as [70000,70100)"]),
        ("MIN LEVEL 3", ["not shown: * for everybody"]),
        ("MAX LEVEL 0", ["as it is"]),
    ],
)
def test_a_column_of_labels_has_its_level(levels: str, ages: list[str]) -> None:
    con = people("generalization")
    con.execute(f"ALTER POLICY p ALTER age QUASI IDENTIFIER USING tens {levels}")
    con.execute("ALTER POLICY p ALTER ward QUASI IDENTIFIER MIN LEVEL 1")
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    labels = con.duckdb.execute("SELECT DISTINCT age, ward FROM r").fetchall()
    known = {column: reading for column, _, reading, *_ in page_of(con, "r").table("Published columns")}
    assert [known["age"]] == ages
    assert known["ward"] == "not shown: * for everybody"
    assert {ward for _, ward in labels} == {"*"}
    assert not ages[0].startswith("as the label") or ages[0].partition("such as ")[2] in {age for age, _ in labels}


@pytest.mark.long
def test_rows_of_several_levels_have_them_all() -> None:
    con = people("generalization(recoding => 'local', suppression => 0.2)")
    levels = con.duckdb.execute(
        "SELECT DISTINCT level FROM anon.release_round WHERE attribute = 'age' ORDER BY level"
    ).fetchall()
    known = {column: reading for column, _, reading, *_ in page_of(con, "r").table("Published columns")}
    word = "level" if len(levels) == 1 else "levels"
    assert known["age"].startswith(f"as the label of {word} {' or '.join(str(level) for (level,) in levels)} of 3")
