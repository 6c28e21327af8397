"""The live views whose bodies are right in this folder: tests also run the bodies."""

from __future__ import annotations

from functools import cache

from sqlanon import connect

__all__ = ["POLICIES", "SETUP", "body"]

SETUP = """
CREATE TABLE visits (day DATE, sex VARCHAR, zip VARCHAR, disease ENUM ('flu', 'cold'), person INTEGER);
CREATE HIERARCHY days AS CALENDAR (MONTH, YEAR);
CREATE HIERARCHY zips AS PREFIXES (3, 2);
"""

POLICIES = {
    "rows": """CREATE POLICY rows ON visits (
        day QUASI IDENTIFIER USING days MIN LEVEL 1 MAX LEVEL 1,
        sex QUASI IDENTIFIER MIN LEVEL 1,
        zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2,
        disease SENSITIVE
    ) REQUIRE k_anonymity(k => 3)""",
    "words": """CREATE POLICY words ON visits (
        day QUASI IDENTIFIER USING days MIN LEVEL 1 MAX LEVEL 1,
        sex QUASI IDENTIFIER MAX LEVEL 0,
        zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2
    ) REQUIRE k_anonymity(k => 3)""",
    "respondents": """CREATE POLICY respondents ON visits (
        person ENTITY,
        sex QUASI IDENTIFIER MAX LEVEL 0,
        disease INSENSITIVE
    ) REQUIRE k_anonymity(k => 3)""",
    "rounds": """CREATE POLICY rounds ON visits (
        sex QUASI IDENTIFIER MAX LEVEL 0,
        disease SENSITIVE
    ) REQUIRE k_anonymity(k => 2), t_closeness(t => 0.09)""",
}


@cache
def body(name: str) -> str:
    """Returns the SELECT of the live view of a policy, as EXPLAIN shows it."""
    with connect() as con:
        con.execute(SETUP + POLICIES[name])
        steps = con.execute(f"EXPLAIN VERBOSE ANONYMIZED VIEW v AS POLICY {name} METHOD generalization").fetchall()
    return next(str(detail) for stage, item, detail in steps if (stage, item) == ("compile", "sql"))
