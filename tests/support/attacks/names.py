"""A database with one of everything whose name can be taken, and what can take it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

__all__ = ["ANSWERS", "READS", "RELATIONS", "RELEASES", "SETUP", "Shadow", "shadow_of_function", "shadow_of_relation"]

SETUP = """
ATTACH ':memory:' AS other;
CREATE SCHEMA clinic;
CREATE TABLE people AS SELECT 'p' || i AS who, 20 + i % 20 AS age, 'z' || i % 3 AS zip, 'd' || i % 4 AS disease,
    (i % 5)::VARCHAR AS pay FROM range(80) AS t(i);
INSERT INTO people VALUES ('alone', 77, 'z0', 'd0', '1');
CREATE TABLE clinic.people AS SELECT who, age, zip, 'other' AS disease, pay FROM main.people;
CREATE TABLE town AS SELECT 20 + i % 20 AS age, 'z' || i % 3 AS zip FROM range(240) AS t(i);
INSERT INTO town VALUES (77, 'z0');
CREATE TABLE bounds AS SELECT 'd' || i AS value, 0.0 AS low, 0.9 AS high FROM range(4) AS t(i);
CREATE TABLE places AS SELECT 'z' || i AS zip, 'south' AS part FROM range(3) AS t(i);
CREATE TABLE visits AS SELECT 'p' || i % 80 AS patient, 'drug' || i % 2 AS drug FROM range(160) AS t(i);
CREATE TABLE person AS SELECT DISTINCT ON (who) who, age, zip FROM people WHERE who <> 'alone';
CREATE VIEW grown AS SELECT * FROM people WHERE age > 19;
CREATE TABLE arrivals AS SELECT i AS place, 'p' || i AS who, 20 + i % 4 AS age FROM range(40) AS t(i);
CREATE TABLE other.main.people AS SELECT * REPLACE ('other' AS disease) FROM memory.main.people;
CREATE TABLE other.main.town AS FROM memory.main.town;
CREATE SCHEMA other.anon;
CREATE HIERARCHY tens AS INTERVALS (10, 20, 40, 80);
CREATE HIERARCHY zips AS PREFIXES (1);
CREATE POLICY plain ON people (who ENTITY, age QUASI IDENTIFIER USING tens, zip QUASI IDENTIFIER USING zips,
    disease SENSITIVE) REQUIRE k_anonymity(k => 3), l_diversity(l => 2, variant => 'entropy');
CREATE POLICY cut ON people (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY asked ON (SELECT age, part, disease FROM people JOIN places USING (zip)) (
    age QUASI IDENTIFIER USING tens, part QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY viewed ON grown (age QUASI IDENTIFIER USING tens, disease SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY buckets ON people (age QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE l_diversity(l => 2, variant => 'probabilistic');
CREATE POLICY mapped ON people (age QUASI IDENTIFIER USING tens MAX LEVEL 0,
    zip QUASI IDENTIFIER USING zips MAX LEVEL 0)
    AGAINST town REQUIRE k_map(k => 3);
CREATE POLICY bounded ON people (age QUASI IDENTIFIER USING tens, disease SENSITIVE)
    REQUIRE k_anonymity(k => 2), value_ranges(ranges => bounds);
CREATE POLICY two ON person (who ENTITY, age QUASI IDENTIFIER USING tens)
    WITH TABLE visits ON (patient) (drug SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE POLICY flow ON arrivals (who ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3);
CREATE POLICY monthly ON people (who ENTITY, age QUASI IDENTIFIER USING tens, disease SENSITIVE)
    REQUIRE k_anonymity(k => 3);
CREATE SERIES months ON POLICY monthly KEY 'SQLANON_TEST_KEY' REQUIRE composition(max => 1);
CREATE ANONYMIZED STREAM arriving AS POLICY flow ORDER BY place METHOD stream(k => 3, delay => 12);
CREATE TABLE other.anon.policy AS FROM memory.anon.policy;
CREATE TABLE other.anon.policy_requirement AS SELECT * REPLACE ('{"k": 1}' AS arguments)
    FROM memory.anon.policy_requirement;
CREATE ANONYMIZED TABLE released AS POLICY plain METHOD generalization(suppression => 0.1);
CREATE ANONYMIZED TABLE regions AS POLICY cut METHOD mondrian;
CREATE ANONYMIZED TABLE two_parts AS POLICY two METHOD multirelational(suppression => 0.1);
CREATE ANONYMIZED TABLE fragments AS POLICY buckets METHOD anatomy(l => 2);
CREATE POLICY of_ages ON people (age QUASI IDENTIFIER USING tens, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE ages AS POLICY of_ages METHOD generalization(suppression => 0.1);
CREATE POLICY joint ON people (pay INSENSITIVE, age QUASI IDENTIFIER USING tens) JOINED WITH RELEASE ages ON (age)
    REQUIRE k_anonymity(k => 2), xy_linkability(x => pay, y => disease, max => 1);
CREATE WORKLOAD counts ON POLICY cut (queries => 3, dimensions => 1, seed => 1);
CREATE ANONYMIZED VIEW live AS POLICY plain METHOD generalization(suppression => 0.1);
CREATE ANONYMIZED VIEW live_asked AS POLICY asked METHOD generalization(suppression => 0.1);
CREATE ANONYMIZED VIEW live_viewed AS POLICY viewed METHOD generalization(suppression => 0.1);
CREATE ANONYMIZED VIEW live_mapped AS POLICY mapped METHOD generalization(suppression => 0.5);
CREATE ANONYMIZED VIEW live_regions AS POLICY cut METHOD mondrian;
"""

# Every relation of the user's, and every release: what a draft, a staging table or a frame of a notebook may be called.
RELATIONS = (
    *("people", "town", "bounds", "places", "visits", "person", "grown", "arrivals"),
    *("released", "regions", "live", "live_asked", "arriving", "ages", "two_parts_person", "fragments_qi"),
    *("policy", "release", "hierarchy_value", "source", "recoded", "kept"),
)

# What makes a release, and the query that shows all of it by its full name. A draw of random buckets shows its values.
_NEW = "FROM memory.main.new"
_GENERALIZED = "METHOD generalization(suppression => 0.1)"
RELEASES = {
    **{
        f"CREATE ANONYMIZED {kind} new AS POLICY {policy} {method}": _NEW
        for kind, policy, method in (
            *(("TABLE", policy, _GENERALIZED) for policy in ("plain", "asked", "viewed", "bounded", "joint")),
            ("TABLE", "cut", "METHOD mondrian"),
            ("TABLE", "mapped", "METHOD generalization(suppression => 0.5)"),
            ("TABLE", "monthly", f"{_GENERALIZED} IN SERIES months"),
            ("VIEW", "plain", _GENERALIZED),
            ("VIEW", "mapped", "METHOD generalization(suppression => 0.5)"),
        )
    },
    "CREATE ANONYMIZED TABLE new AS POLICY two METHOD multirelational(suppression => 0.1)": (
        "SELECT age, NULL FROM memory.main.new_person UNION ALL SELECT NULL, drug FROM memory.main.new_visits"
    ),
    "CREATE ANONYMIZED TABLE new AS POLICY buckets METHOD anatomy(l => 2)": (
        "SELECT age, NULL FROM memory.main.new_qi UNION ALL SELECT NULL, value FROM memory.main.new_sensitive"
    ),
    f"CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY plain {_GENERALIZED}": "FROM memory.main.released",
    "REFRESH ANONYMIZED TABLE released": "FROM memory.main.released",
    "ADVANCE arriving": "FROM memory.main.arriving",
}
# Statements whose answer says what a release holds or keeps, and what a reader of a live view is shown.
ANSWERS = (
    *("CHECK released", "CHECK regions", "CHECK live", "CHECK live_mapped", "CHECK fragments", "CHECK two_parts"),
    *(
        "MEASURE released",
        "MEASURE regions WITH WORKLOAD counts",
        "ATTACK released WITH homogeneity(confidence => 0.5)",
        "CHECK arriving",
    ),
    "EXPLAIN ANONYMIZED TABLE new AS POLICY mapped METHOD generalization(suppression => 0.5)",
    "ESTIMATE SELECT count(*) FROM people WHERE age < 30 FROM RELEASE released",
)
READS = tuple(
    f"FROM memory.main.{name}" for name in ("live", "live_asked", "live_viewed", "live_mapped", "live_regions")
)


@dataclass(frozen=True)
class Shadow:
    """Something that takes a name in a session: how it is put there, and how it is taken away after a ROLLBACK."""

    what: str
    put: Callable[[Any], object]
    take: Callable[[Any], object] = lambda con: None


_PATHS = ("memory.clinic,memory.main", "memory.main,other.anon", "other.main,memory.main", "memory.main,other.main")


def shadow_of_relation(random: Random) -> Shadow:
    """A temporary table, view or data frame with each row of a relation twenty times, or another search path.

    Where the database has no relation of the name, it is one of one column.
    """
    kind = random.choice(("TABLE", "VIEW", "frame", "path"))
    if kind == "path":
        path = random.choice(_PATHS)
        return Shadow(path, lambda con: con.execute(f"SET search_path = '{path}'"), _back)
    name = random.choice(RELATIONS)
    spelled = random.choice((name, name.upper(), name.capitalize()))

    def put(con: Any) -> None:
        known = con.execute(
            "SELECT 1 FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = ?", [name]
        ).fetchall()
        rows = f'SELECT original.* FROM memory.main."{name}" AS original, range(20)' if known else "SELECT 1 AS policy"
        if kind == "frame":
            con.duckdb.register(spelled, con.duckdb.sql(rows).to_arrow_table())
        else:
            con.execute(f'CREATE TEMP {kind} "{spelled}" AS {rows}')

    def take(con: Any) -> None:
        if kind == "frame":
            con.duckdb.unregister(spelled)

    return Shadow(f"{kind} {spelled}", put, take)


def _back(con: Any) -> None:
    con.execute("RESET search_path; USE memory.main")


_BODIES = ("0", "1", "100", "1000000", "true", "false", "NULL", "'x'")


def shadow_of_function(random: Random, functions: tuple[str, ...]) -> Shadow:
    """A macro with the name of a function or an operator, for any number of arguments, that returns a constant."""
    name, body = random.choice(functions), random.choice(_BODIES)
    kind = random.choice(("TEMP MACRO", "MACRO"))
    arguments = ("", "a", "a, b", "a, b, c")
    table = name.startswith("duckdb_") or name in ("query", "unnest", "range")
    answer = (
        f"TABLE SELECT {body} AS function_name, true AS internal, 'macro' AS function_type WHERE false"
        if table
        else body
    )
    overloads = ", ".join(f"({given}) AS {answer}" for given in (arguments[:1] if table else arguments))
    text = f'CREATE {kind} "{name}"{overloads}'
    return Shadow(text, lambda con: con.execute(text))
