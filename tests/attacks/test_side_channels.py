"""Side channels of a live view: can a query on the view see a row that its guard withholds?

One row of the source is alone in its class. Each attack is run on views as one writes
them by hand, where some succeed, and on the live view, where none may. The attacker
may send any SELECT on the view, and does not read the source itself: DuckDB has no
GRANT, so a live view guards queries, not a file.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sqlanon

# What only the withheld row holds.
SECRETS = ("918273645", "ZQ", "RAREDISEASE")

SOURCE = """
CREATE TABLE src AS
SELECT 30 + i % 3 AS age, '9' || lpad((i % 4)::VARCHAR, 4, '1') AS zip, (1 + i % 2)::VARCHAR AS disease, i AS person
FROM range(400) AS t(i);
INSERT INTO src VALUES (918273645, 'ZQXJK', 'RAREDISEASE', 400);
"""
BY_HAND = {
    "window": "SELECT age, zip, disease FROM (SELECT *, count(*) OVER (PARTITION BY age, left(zip, 2)) AS n FROM src) "
    "WHERE n >= 5",
    "having": "SELECT age, zip, min(disease) AS disease FROM src GROUP BY age, zip HAVING count(*) >= 5",
    "join": "SELECT age, zip, disease FROM src JOIN (SELECT age AS a, left(zip, 2) AS z FROM src GROUP BY ALL "
    "HAVING count(*) >= 5) ON age = a AND left(zip, 2) = z",
}
POLICIES = {
    "rows": "age QUASI IDENTIFIER MAX LEVEL 0, zip QUASI IDENTIFIER USING pz MIN LEVEL 1, disease SENSITIVE",
    "entity": "person ENTITY, age QUASI IDENTIFIER MAX LEVEL 0, zip QUASI IDENTIFIER USING pz MIN LEVEL 1, "
    "disease SENSITIVE",
    "listed": "age QUASI IDENTIFIER MAX LEVEL 0, zip QUASI IDENTIFIER USING lz MIN LEVEL 1, disease SENSITIVE",
}
ATTACKS = {
    "cast": "SELECT count(*) FROM {v} WHERE (CASE WHEN age > 200 THEN 'x' || age || disease ELSE '1' END)::INT = 1",
    "cast of a column": "SELECT count(*) FROM {v} WHERE disease::INT > 0",
    "cast of a label": "SELECT * FROM {v} WHERE translate(zip, '*', '0')::INT > 0",
    "error": "SELECT count(*) FROM {v} WHERE CASE WHEN age > 200 THEN error(disease) ELSE true END",
    "strptime": "SELECT count(*) FROM {v} WHERE strptime(disease, '%d') IS NOT NULL",
    "json": "SELECT count(*) FROM {v} WHERE disease::JSON IS NOT NULL",
    "overflow": "SELECT count(*) FROM {v} WHERE (age * 100000)::INT > 0",
    "join": "SELECT count(*) FROM {v} JOIN (VALUES (1), (2)) AS t(x) "
    "ON t.x = (CASE WHEN age > 200 THEN disease ELSE '1' END)::INT",
    "semi-join": "SELECT count(*) FROM {v} WHERE disease::INT IN (SELECT 1)",
    "lateral": "SELECT count(*) FROM {v}, LATERAL (SELECT disease::INT AS y) WHERE y = 1",
    "correlated": "SELECT (SELECT count(*) FROM {v} WHERE disease::INT = o.x) FROM (VALUES (1)) AS o(x)",
    "aggregate": "SELECT sum(disease::INT) FROM {v}",
    "aggregate filter": "SELECT count(*) FILTER (disease::INT > 0) FROM {v}",
    "window": "SELECT row_number() OVER (ORDER BY disease::INT) FROM {v} QUALIFY disease::INT > 0",
    "order": "SELECT age FROM {v} ORDER BY disease::INT LIMIT 1",
    "distinct": "SELECT DISTINCT disease::INT FROM {v}",
    "cte": "WITH x AS (FROM {v}) SELECT * FROM x WHERE disease::INT > 0",
    "union": "SELECT disease::INT FROM {v} UNION ALL SELECT 1",
    "statistics": "SELECT stats(age), stats(zip), stats(disease) FROM {v} LIMIT 1",
    "summary": "SUMMARIZE {v}",
    "extremes": "SELECT min(age), max(age), max(zip), max(disease), max(length(disease)) FROM {v}",
    "sample": "SELECT max(age), max(zip) FROM {v} USING SAMPLE 100%",
    "quantile": "SELECT approx_quantile(age, 1.0), approx_top_k(disease, 10) FROM {v}",
    "plan": "EXPLAIN SELECT * FROM {v} WHERE disease::INT > 0",
    "analyzed plan": "EXPLAIN ANALYZE SELECT * FROM {v} WHERE age > 30",
    "analyzed plan in json": "EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM {v} WHERE age > 30",
    "plan as sql": "EXPLAIN (SQL) SELECT * FROM {v}",
    "serialized plan": "SELECT json_serialize_plan('SELECT * FROM {v} WHERE age > 1')",
    "folded aggregate": "EXPLAIN SELECT max(age), min(zip) FROM {v}",
}
# Conditions that only the withheld row fulfils, each with one like it that no row fulfils.
ORACLES = [
    ("age > 900000000", "age > 950000000"),
    ("age = 918273645", "age = 918273646"),
    ("zip > 'YY'", "zip > 'aa'"),
    ("zip = 'ZQ***'", "zip = 'ZR***'"),
    ("disease = 'RAREDISEASE'", "disease = 'RAREDISEASX'"),
    ("disease LIKE 'RARE%'", "disease LIKE 'RARX%'"),
]
# What a session may set for itself, and what changes how a plan is made or shown.
SETTINGS = [
    "PRAGMA disable_optimizer",
    "SET explain_output = 'all'",
    "PRAGMA disable_optimizer; SET explain_output = 'all'",
    "SET disabled_optimizers = 'statistics_propagation,filter_pullup,expression_rewriter'",
    "SET threads = 1",
]


def answer(connection: Any, query: str) -> str:
    """All that an attacker sees: the rows, or the error."""
    try:
        return repr(connection.execute(query).fetchall())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def leaks(text: str) -> bool:
    return any(secret in text for secret in SECRETS)


@pytest.fixture(scope="module")
def views() -> Any:
    connection = sqlanon.connect()
    connection.sql(SOURCE)
    connection.sql("""
        CREATE HIERARCHY pz AS PREFIXES (2);
        CREATE HIERARCHY lz AS LEVELS (SELECT DISTINCT zip, left(zip, 2) || '***' FROM src);
    """)
    for name, body in BY_HAND.items():
        connection.sql(f"CREATE VIEW hand_{name} AS {body}")
    for name, attributes in POLICIES.items():
        connection.sql(f"""
            CREATE POLICY {name} ON src ({attributes}) REQUIRE k_anonymity(k => 5);
            CREATE ANONYMIZED VIEW live_{name} AS POLICY {name} METHOD generalization(suppression => 0.01);
        """)
    return connection.duckdb


def test_the_row_is_withheld_and_the_others_are_not(views: Any) -> None:
    for name in POLICIES:
        assert views.execute(f"SELECT count(*), max(age) FROM live_{name}").fetchall() == [(400, 32)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_shows_the_withheld_row(views: Any, attack: str, policy: str) -> None:
    seen = answer(views, ATTACKS[attack].format(v=f"live_{policy}"))
    assert not leaks(seen), seen


@pytest.mark.parametrize("hand", ["window", "join"])
@pytest.mark.parametrize(
    "attack", ["cast", "cast of a column", "error", "strptime", "json", "overflow", "cte", "statistics"]
)
def test_the_attacks_succeed_on_a_view_written_by_hand(views: Any, attack: str, hand: str) -> None:
    assert leaks(answer(views, ATTACKS[attack].format(v=f"hand_{hand}")))


def test_statistics_succeed_on_a_grouping_view_written_by_hand(views: Any) -> None:
    assert leaks(answer(views, ATTACKS["statistics"].format(v="hand_having")))


def plan(connection: Any, view: str, condition: str) -> str:
    text = answer(connection, f"EXPLAIN (FORMAT json) SELECT * FROM {view} WHERE {condition}")
    assert "Error" not in text, text
    constants = re.findall(r"'[^']*'|\d+", condition)
    return re.sub("|".join(re.escape(constant.strip("'%*")) for constant in constants), "?", text)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("true", "false"), ORACLES)
def test_a_plan_does_not_tell_whether_a_withheld_row_fulfils_a_condition(
    views: Any, policy: str, true: str, false: str
) -> None:
    """On a plain view the zone maps turn a condition that no row can fulfil into an empty result."""
    assert plan(views, f"live_{policy}", true) == plan(views, f"live_{policy}", false)


@pytest.mark.parametrize("hand", BY_HAND)
def test_the_plan_of_a_view_written_by_hand_tells(views: Any, hand: str) -> None:
    assert plan(views, f"hand_{hand}", "age > 900000000") != plan(views, f"hand_{hand}", "age > 950000000")


def test_profiling_output_holds_no_withheld_value(views: Any, tmp_path: Path) -> None:
    cursor = views.cursor()
    for policy in POLICIES:
        path = tmp_path / f"{policy}.json"
        cursor.execute("PRAGMA enable_profiling = 'json'")
        cursor.execute(f"SET profiling_output = '{path}'")
        answer(cursor, f"SELECT * FROM live_{policy} WHERE age > 30 ORDER BY zip")
        cursor.execute("PRAGMA disable_profiling")
        text = path.read_text()
        assert "SECURE_VIEW" in text
        assert not leaks(text)


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_setting_of_a_session_opens_a_channel(views: Any, settings: str) -> None:
    cursor = views.cursor()
    cursor.execute(settings)
    try:
        for policy in POLICIES:
            for attack in ATTACKS.values():
                assert not leaks(answer(cursor, attack.format(v=f"live_{policy}")))
    finally:
        for undo in ("RESET enable_optimizer", "RESET disabled_optimizers", "RESET explain_output", "RESET threads"):
            cursor.execute(undo)


def test_logs_hold_no_withheld_value(views: Any) -> None:
    cursor = views.cursor()
    cursor.execute("CALL enable_logging(level = 'trace')")
    for policy in POLICIES:
        answer(
            cursor, f"SELECT * FROM live_{policy} JOIN (VALUES (31), (32)) AS t(a) ON a = age WHERE length(disease) > 0"
        )
    cursor.execute("CALL disable_logging()")
    messages = [message for (message,) in cursor.execute("SELECT message FROM duckdb_logs").fetchall()]
    assert len(messages) > 10
    assert not any(leaks(message) for message in messages)


def test_texts_of_views_hold_no_value_of_the_source(views: Any) -> None:
    """Anybody can read duckdb_views(): no label, no key, no seed, no withheld value may stand there."""
    texts = views.execute(
        "SELECT sql FROM duckdb_views() WHERE view_name LIKE 'live_%' OR schema_name = 'anon'"
    ).fetchall()
    assert len(texts) == len(POLICIES) + 2  # and the report and the fingerprint of the policy that counts respondents
    for (text,) in texts:
        assert not leaks(text)
        quoted = set(re.findall(r"'((?:[^']|'')*)'", text))
        # Column names, the release's own identifier and what stands between the parts of a fingerprint are all, besides
        # what the columns and the session were when the view was made.
        own = {"*", "zip", "", ":", "text", "default_collation", "binary", "c", "posix", "VARCHAR", "INTEGER", "BIGINT"}
        said = r"sqlanon: (this session compares .*|the column (age|zip|disease|person) was [A-Z]+ when .*)"
        assert {word for word in quoted if not re.fullmatch(rf"[0-9a-f]{{32}}|{said}", word)} <= own
        assert "setseed" not in text.lower()


def test_the_live_view_has_no_row_identifier(views: Any) -> None:
    for policy in POLICIES:
        assert "not found" in answer(views, f"SELECT rowid FROM live_{policy}")


# One value a row, each alone in its class: whatever the body computes of it, nothing may be raised or shown.
EXTREMES: dict[str, tuple[str, list[Any]]] = {
    "TINYINT": ("INTERVALS (10, 100)", [-128, 127]),
    "SMALLINT": ("INTERVALS (10, 1000)", [-(2**15), 2**15 - 1]),
    "INTEGER": ("INTERVALS (10, 1000)", [-(2**31), 2**31 - 1]),
    "BIGINT": ("INTERVALS (10, 1000)", [-(2**63), 2**63 - 1]),
    "HUGEINT": ("INTERVALS (10, 1000)", [-(2**127), 2**127 - 1]),
    "UBIGINT": ("INTERVALS (10, 1000)", [2**64 - 1]),
    "UHUGEINT": ("INTERVALS (10, 1000)", [2**128 - 1]),
    "DECIMAL(38,10)": ("INTERVALS (0.5, 5)", [Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28)]),
    "DOUBLE": ("INTERVALS (0.5, 5)", [1.7e308, -1.7e308, 5e-324, float("inf"), float("-inf"), float("nan")]),
    "FLOAT": ("INTERVALS (0.5, 5)", [3.4e38, float("inf"), float("nan")]),
    "VARCHAR": (
        "PREFIXES (3, 2)",
        ["", "\0", "a\0b", "'", '"', "\\", "%s", "😀", "👨‍👩‍👧", "x" * 100_000, "שלום", "\u0301", "*"],
    ),
    "DATE": (
        "CALENDAR (MONTH, YEAR)",
        ["infinity", "-infinity", "5881580-07-10", "0001-01-01", "5877642-06-25 (BC)", date(9999, 12, 31)],
    ),
    "TIMESTAMP": (
        "CALENDAR (DAY, YEAR)",
        ["infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00", datetime(1, 1, 1)],
    ),
    "TIMESTAMP_S": ("CALENDAR (DAY, YEAR)", ["infinity", "-infinity"]),
    "TIMESTAMP_NS": ("CALENDAR (DAY, YEAR)", ["1677-09-22 00:12:44", "2262-04-11 23:47:16"]),
}


@pytest.mark.parametrize("kind", EXTREMES)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_extreme_values_raise_no_error_inside_the_body(kind: str, level: int) -> None:
    hierarchy, extremes = EXTREMES[kind]
    usual = "'2020-01-01'" if kind[:4] in ("DATE", "TIME") else "'2'"
    connection = sqlanon.connect()
    connection.sql(f"""
        CREATE TABLE src AS SELECT {usual}::{kind} AS q, i AS person FROM range(10) AS t(i);
        CREATE HIERARCHY h AS {hierarchy};
        CREATE POLICY p ON src (q QUASI IDENTIFIER USING h MIN LEVEL {level} MAX LEVEL {level})
        REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
    """)
    before = connection.execute("SELECT DISTINCT q FROM live").fetchall()
    assert len(before) == 1
    for extreme in [*extremes, None]:
        connection.duckdb.execute(f"INSERT INTO src SELECT ?::{kind}, 0", [extreme])
        assert connection.duckdb.execute("SELECT DISTINCT q FROM live").fetchall() == before
        connection.duckdb.execute("DELETE FROM src WHERE q IS NOT DISTINCT FROM ?::" + kind, [extreme])
    connection.duckdb.execute(f"INSERT INTO src SELECT unnest(?::{kind}[]), 0", [extremes])
    shown = connection.duckdb.execute("SELECT q, count(*) FROM live GROUP BY q").fetchall()
    assert all(n >= 5 for _, n in shown)


def test_values_that_no_hierarchy_lists_are_withheld_without_an_error(views: Any) -> None:
    connection = sqlanon.connect()
    connection.sql("""
        CREATE TABLE src AS SELECT i % 3 AS q FROM range(30) AS t(i);
        CREATE TABLE names AS
        SELECT * FROM (VALUES ('0', 'low'), ('1', 'low'), ('2', 'high'), ('no number', 'none')) AS t(v, l);
        CREATE HIERARCHY h AS LEVELS (SELECT * FROM names);
        CREATE POLICY p ON src (q QUASI IDENTIFIER USING h MIN LEVEL 1) REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
        INSERT INTO src SELECT 918273645 FROM range(100);
    """)
    assert connection.sql("SELECT q, count(*) FROM live GROUP BY q ORDER BY q").fetchall() == [
        ("high", 10),
        ("low", 20),
    ]
