"""The first screen of a report: its figures are those of the exported rows, and no value that is not published."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, median

import pytest

from sqlanon import Connection
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.report import charts
from sqlanon.export.report.page import report_page
from tests.support.database import template
from tests.support.html_page import Page
from tests.support.reports import HOSTILE, METHODS, page_of, people

FIGURE = re.compile(r"<li><span>([^<]*)</span> <strong>(.*?)</strong> <small>(.*?)</small></li>")
NUMBER = re.compile(r'<data value="([^"]*)">')
DECADES = """
CREATE TABLE people AS SELECT 70020 + i * 7 % 40 AS age, ['flu', 'cold', 'x'][1 + i * i % 11 % 3] AS ill
FROM range(90) AS t(i) UNION ALL SELECT 70077, 'flu';
CREATE HIERARCHY tens AS INTERVALS (10, 100);
CREATE POLICY p ON people (age QUASI IDENTIFIER USING tens MIN LEVEL 1 MAX LEVEL 1, ill SENSITIVE)
REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.05);
"""


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


def text_of(con: Connection, name: str) -> str:
    return report_page(DuckDBEngine(con.duckdb), QualifiedName((name,)))


def figures(page: str) -> dict[str, list[float]]:
    """The numbers of each of the four figures, its value first."""
    return {name: [*map(float, NUMBER.findall(value + about))] for name, value, about in FIGURE.findall(page)}


def errors(con: Connection, exported: list[dict[str, str]]) -> list[float]:
    """The errors of a workload's counts, where each label stands evenly for the ten ages in it."""
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 100, dimensions => 1)")
    relative = []
    for (text,) in con.duckdb.execute("SELECT sql FROM anon.workload").fetchall():
        (actual,) = con.duckdb.execute(text).fetchall()[0]
        ages, ills = (re.findall(r"[\w-]+", listed) for listed in re.findall(r"IN \(([^)]*)\)", text))
        estimate = 0.0
        for row in exported:
            low, high = map(int, re.findall(r"\d+", row["age"]))
            estimate += row["ill"] in ills and sum(low <= int(age) < high for age in ages) / (high - low)
        relative += [abs(estimate - actual) / actual] if actual else []
    return relative


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [5, 20])
def test_its_four_figures_are_those_of_the_exported_rows(tmp_path: Path, k: int) -> None:
    con = template(DECADES)
    con.execute(f"ALTER POLICY p REQUIRE k_anonymity(k => {k}), l_diversity(l => 2)")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.05)")
    page = text_of(con, "r")
    con.execute(f"EXPORT r TO '{tmp_path / 'r.csv'}' (FORMAT csv)")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        exported = list(csv.DictReader(file))
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for row in exported:
        classes[row["age"]][row["ill"]] += 1
    surest = max(max(counts.values()) / counts.total() for counts in classes.values())
    relative = errors(con, exported)
    assert {name: [*map(pytest.approx, numbers)] for name, numbers in figures(page).items()} == {
        "Rows left out": [1, 91, 1 / 91],
        "Smallest class": [min(counts.total() for counts in classes.values())],
        "Surest guess of a secret": [surest],
        "Error of a typical count": [median(relative), mean(relative)],
    }
    assert len(exported) == 90
    assert re.search(rf"the median of {len(relative)} counts over 2 columns", page)
    assert [row[:2] for row in Page(page).table("Values: What became")] == [
        ["age", "labels, level 1 of 3"],
        ["ill", "as it is"],
    ]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("method", METHODS)
def test_the_first_screen_is_before_all_else_of_a_page_of_few_words(method: str) -> None:
    con = people(method)
    page = page_of(con, "r")
    tags = [(tag, attributes.get("class") or "") for tag, attributes in page.elements]
    order = [tags.index(part) for part in (("h1", ""), ("ul", "figures"), ("div", "chart"), ("nav", ""))]
    assert order == sorted(order)
    assert 100 < len(page.visible.split()) <= 1500
    assert len(figures(text_of(con, "r"))) == 4


@pytest.mark.long
def test_a_page_of_many_columns_is_read_as_fast() -> None:
    names = [f"column_{number}" for number in range(14)]
    secrets = [f"secret_{number}" for number in range(5)]
    con = template(f"""
        CREATE TABLE people AS SELECT {", ".join(f"(i * {3 + n}) % {5 + n} AS {name}" for n, name in enumerate(names))},
        {", ".join(f"i % {2 + n} AS {name}" for n, name in enumerate(secrets))} FROM range(300) AS t(i);
        CREATE POLICY p ON people (
            {", ".join(f"{name} QUASI IDENTIFIER" for name in names)},
            {", ".join(f"{name} SENSITIVE" for name in secrets)}
        ) REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian;
        CREATE WORKLOAD w ON POLICY p (queries => 20);
        MEASURE r WITH WORKLOAD w;
        FRONTIER f ON POLICY p METHODS (mondrian) SWEEP k IN (5, 10) MEASURE p_loss, gain""")
    page = page_of(con, "r")
    assert len(page.visible.split()) <= 1500
    assert len(page.charts[0]["data"]["values"]) == 12
    assert len(page.table("Values: What became")) == len(names) + len(secrets)
    assert "The plot has the 12 of 19 columns that lose most" in page.visible


def test_no_value_that_is_not_published_gets_into_the_page() -> None:
    con = template(DECADES)
    con.execute(
        "CREATE OR REPLACE TABLE people AS SELECT *, 'somebody' || age || '<b>' AS name, 'note<i>' AS note FROM people"
    )
    con.duckdb.execute("UPDATE people SET ill = ? WHERE age = 70077", [f"only left out{HOSTILE}"])
    con.duckdb.execute("UPDATE people SET ill = ? WHERE ill = 'cold'", [HOSTILE])
    con.execute("ALTER POLICY p ADD name IDENTIFIER")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.05)")
    text = text_of(con, "r")
    published = {value for row in con.duckdb.execute("SELECT age, ill FROM r").fetchall() for value in row}
    assert HOSTILE in published
    assert "name: left out" in text
    for unpublished in ("somebody7", "note<i>", "note&lt;i", "only left out"):
        assert unpublished not in text
    # Ages are published as tens alone.
    assert "700" in text
    assert re.findall(r"700\d[1-9]", text) == []
    assert HOSTILE not in text
    assert "<b>" not in text
