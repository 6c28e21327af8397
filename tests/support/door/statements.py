"""Statements for the gate: files of statements, and the SELECTs of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from tests.support.pages import ROOT, blocks

QUERY = re.compile(r"(?:SELECT|FROM|WITH|DESCRIBE|SUMMARIZE|PIVOT|UNPIVOT|VALUES)\b")
# A statement ends with a semicolon at the end of a line.
END = re.compile(r";[ \t]*(?:--[^\n]*)?(?:\n|\Z)")

HERE = Path(__file__).parent
ANALYST = HERE / "analyst.sql"
ANALYST_FUNCTIONS = HERE / "analyst_functions.sql"
# The releases that the analyst's queries read.
ANALYST_GRANTED = {
    QualifiedName(("main", "hospital")): (
        *("born", "sex", "zip", "ward", "disease", "stay_days", "cost", "admitted", "note"),
    ),
    QualifiedName(("main", "census")): ("age", "education", "occupation", "hours", "income", "weight"),
}
ANALYST_TABLES = (
    """
    CREATE TABLE hospital AS SELECT 1930 + i % 70 AS born, if(i % 3 = 0, 'F', 'M') AS sex,
        (94100 + i % 7)::VARCHAR AS zip, ['A', 'B', 'C', 'D'][1 + i % 4] AS ward,
        ['flu', 'cold', 'ulcer'][1 + i % 5 % 3] AS disease, nullif(i % 20, 0) AS stay_days,
        (i * 37 % 5000)::DOUBLE AS cost, DATE '2025-01-01' + (i % 600)::INTEGER AS admitted,
        ' Note of patient ' || i AS note FROM range(300) AS r(i)
    """,
    """
    CREATE TABLE census AS SELECT 17 + i % 70 AS age, ['Bachelors', 'Masters', 'HS'][1 + i % 3] AS education,
        ['Sales', 'Craft', 'Clerk', 'Nurse'][1 + i % 4] AS occupation, 20 + i % 40 AS hours,
        if(i % 4 = 0, '>50K', '<=50K') AS income, 1 + i % 3 AS weight FROM range(300) AS r(i)
    """,
)


def statements(text: str) -> list[str]:
    """Returns the statements of a text, without lines that are comments alone."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("-- ") and line != "--")
    return [statement.strip() for statement in END.split(code) if statement.strip()]


def queries_of_pages() -> Iterator[tuple[str, str]]:
    """Returns each query of the documentation that is shown as SQL, with its place."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        name = page.relative_to(ROOT).as_posix()
        for block in blocks(page.read_text(encoding="utf-8"), name):
            if block.language == "sql" and not block.is_output:
                yield from ((block.place, text) for text in statements(block.text) if QUERY.match(text))


def named(tree: Any) -> tuple[set[tuple[str, ...]], set[str]]:
    """Returns the paths of all table references below a node, and the names of all table functions."""
    tables: set[tuple[str, ...]] = set()
    functions: set[str] = set()
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                tables.add(tuple(node["qualified_name"]["path"]))
            if node.get("type") == "TABLE_FUNCTION":
                functions.add(node["function"]["function_name"])
            todo += node.values()
        elif isinstance(node, list):
            todo += node
    return tables, functions


def attempts(text: str) -> dict[str, list[str]]:
    """Returns the attempts of a file by category; a category begins with a line `-- # title`."""
    _, *parts = re.split(r"^-- # (.*)\n", text, flags=re.MULTILINE)
    return {
        title: [attempt.strip() for attempt in END.split(f"{part.rstrip()}\n") if attempt.strip()]
        for title, part in zip(parts[::2], parts[1::2], strict=True)
    }
