"""The report of a release: its figures are those of MEASURE, names are escaped, no value of the source is in it."""

from __future__ import annotations

import re
from html import escape

import pytest

import sqlanon
from sqlanon.domain.values import QualifiedName
from sqlanon.report.page import report_page

HOSTILE = '</script><script>alert("ü")'


@pytest.mark.parametrize("method", ["generalization", "mondrian", "anatomy(l => 2)", "slicing(l => 2) COLUMNS EACH"])
def test_a_report_shows_what_measure_says(method: str) -> None:
    con = sqlanon.connect(config={"threads": "1"})
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    at_least = "USING tens MIN LEVEL 1" if method == "generalization" else ""
    con.execute(f"""
        CREATE TABLE people AS SELECT 70000 + i AS age, ['flu', 'cold', 'x'][i % 3 + 1] AS {quoted} FROM range(24) t(i);
        CREATE HIERARCHY tens AS INTERVALS (10, 100);
        CREATE POLICY p ON people (age QUASI IDENTIFIER {at_least}, {quoted} SENSITIVE) REQUIRE k_anonymity(k => 4);
        CREATE ANONYMIZED TABLE {quoted} AS POLICY p METHOD {method}""")
    page = report_page(lambda text: con.execute(text).fetchall(), QualifiedName((HOSTILE,)))
    for _, figure, attribute, value in con.execute(f"MEASURE {quoted}").fetchall():
        if " of " not in figure:
            about = "none" if attribute is None else escape(attribute)
            row = f'<th scope="row">{escape(figure)}</th><td>{about}</td><td>{"none" if value is None else value}</td>'
            assert row in page
    assert "<script" not in page
    assert "http" not in page
    if method == "generalization":
        # The ends of ranges are labels, whole tens; no other age is in the page.
        assert re.findall(r"700\d[1-9]", page) == []
