"""Releases of a few people by each method, and their reports."""

from __future__ import annotations

from sqlanon import Connection
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.report.page import report_page
from tests.support.database import template
from tests.support.html_page import Page

__all__ = ["HOSTILE", "METHODS", "QUOTED", "page_of", "people"]

HOSTILE = '</script><script>alert("ü")&amp;\u202e\n<!--'
QUOTED = '"' + HOSTILE.replace('"', '""') + '"'
METHODS = {
    "generalization": "USING tens MIN LEVEL 1",
    "generalization(recoding => 'local', suppression => 0.2)": "USING tens MIN LEVEL 1",
    "mondrian": "",
    "mondrian(publish => 'none')": "",
    "anatomy(l => 2)": "",
    "slicing(l => 2) COLUMNS EACH": "",
    "trivial": "",
}


def page_of(con: Connection, name: str) -> Page:
    return Page(report_page(DuckDBEngine(con.duckdb), QualifiedName((name,))))


def people(method: str, *, release: str = "r", value: str = "ill") -> Connection:
    return template(f"""
        CREATE TABLE people AS
            SELECT 70000 + i AS age, i % 2 AS ward, ['flu', 'cold', 'x', NULL][1 + i % 7 % 4] AS {value}
            FROM range(24) t(i);
        CREATE HIERARCHY tens AS INTERVALS (10, 100);
        CREATE POLICY p ON people (
            age QUASI IDENTIFIER {METHODS.get(method, "")}, ward QUASI IDENTIFIER, {value} SENSITIVE
        ) REQUIRE k_anonymity(k => 4), l_diversity(l => 2, variant => 'distinct');
        CREATE ANONYMIZED TABLE {release} AS POLICY p METHOD {method}""")
