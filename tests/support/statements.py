"""A script with every statement and every method on a few rows, for tests of what holds of all of them."""

from __future__ import annotations

__all__ = ["SCRIPT", "SETUP"]

SETUP = """
CREATE TABLE people AS SELECT
    i AS person, 20 + (i * 7919) % 40 AS age, ['a', 'b', 'c', NULL][1 + i % 4] AS ward,
    DATE '2020-01-01' + CAST(i % 50 AS INTEGER) AS day, (i % 9) / 2.0 AS score,
    ['flu', 'cold', 'ulcer', 'gout', NULL][1 + (i * 31) % 5] AS disease,
    CASE WHEN i % 6 > 0 THEN i % 7 END AS degree, ['flu', NULL, 'inner'][1 + i % 3] AS wish
FROM range(160) AS n(i);
CREATE TABLE voters AS SELECT age, ward FROM people UNION ALL SELECT age, ward FROM people WHERE person % 2 = 0;
CREATE TABLE kinds AS
FROM (VALUES ('flu', 'inner'), ('cold', 'inner'), ('ulcer', 'outer'), ('gout', 'outer')) AS t(d, k);
"""
_AGE = "age QUASI IDENTIFIER USING bands"
_WARD = "ward QUASI IDENTIFIER USING wards"
_BUDGET = "METHOD generalization(suppression => 1)"
SCRIPT = (
    "CREATE HIERARCHY bands AS INTERVALS (10, 20)",
    "CREATE HIERARCHY weeks AS CALENDAR (DAY, WEEK)",
    "CREATE HIERARCHY wards AS LEVELS (FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y'), ('d', 'y')) AS w (ward, wing))",
    "CREATE HIERARCHY diseases AS PARENTS "
    "(SELECT d, k FROM kinds UNION ALL FROM (VALUES ('inner', NULL), ('outer', NULL)))",
    f"CREATE POLICY basic ON people ({_AGE} MIN LEVEL 1, {_WARD}, disease SENSITIVE, score INSENSITIVE) "
    "REQUIRE k_anonymity(k => 9), l_diversity(l => 2)",
    "CREATE POLICY exact ON people (age QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, disease SENSITIVE, "
    "score INSENSITIVE) REQUIRE l_diversity(l => 2)",
    f"CREATE POLICY every ON people ({_AGE} MIN LEVEL 2, {_WARD} MIN LEVEL 1, disease SENSITIVE USING diseases, "
    "degree SENSITIVE) AGAINST voters REQUIRE k_anonymity(k => 4), "
    "t_closeness(t => 0.4, distance => 'ordered', attribute => degree), "
    "t_closeness(t => 0.9, distance => 'hierarchical', attribute => disease), "
    "l_diversity(l => 2, c => 9, variant => 'recursive', attribute => degree), "
    "personalized(p => 0.9, guarding => wish, attribute => disease), k_map(k => 3)",
    f"CREATE POLICY cut ON people (age QUASI IDENTIFIER, day QUASI IDENTIFIER USING weeks, {_WARD}, "
    "disease SENSITIVE) REQUIRE k_anonymity(k => 9), l_diversity(l => 2)",
    "CREATE POLICY counted ON people (person ENTITY, age QUASI IDENTIFIER USING bands) REQUIRE k_anonymity(k => 5)",
    "CREATE POLICY apart ON people (age QUASI IDENTIFIER, ward INSENSITIVE, disease SENSITIVE, degree SENSITIVE) "
    "CONFIDENTIAL (disease, ward), (degree, age) VISIBLE (age, ward)",
    "CREATE POLICY pair ON people (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)",
    f"EXPLAIN ANONYMIZED VIEW live AS POLICY basic {_BUDGET}",
    f"CREATE ANONYMIZED VIEW live AS POLICY basic {_BUDGET}",
    f"CREATE ANONYMIZED TABLE made AS POLICY basic {_BUDGET}",
    f"CREATE ANONYMIZED VIEW live_every AS POLICY every {_BUDGET}",
    f"CREATE ANONYMIZED TABLE made_counted AS POLICY counted {_BUDGET}",
    "CREATE ANONYMIZED VIEW live_local AS POLICY basic METHOD generalization(suppression => 1, recoding => 'local')",
    "CREATE ANONYMIZED TABLE made_cut AS POLICY cut METHOD mondrian(split => 'information_gain', target => disease)",
    "CREATE ANONYMIZED VIEW live_cut AS POLICY cut METHOD mondrian(publish => 'ancestor', hierarchy => 'tree')",
    "CREATE ANONYMIZED TABLE made_relaxed AS POLICY cut METHOD mondrian(mode => 'relaxed', publish => 'none')",
    "CREATE ANONYMIZED TABLE dealt AS POLICY exact METHOD anatomy(l => 2)",
    "CREATE ANONYMIZED TABLE dealt_near AS POLICY exact METHOD anatomy(l => 2, grouping => 'near')",
    "CREATE ANONYMIZED TABLE parted AS POLICY apart METHOD fragments",
    "CREATE ANONYMIZED TABLE loosened AS POLICY pair METHOD loose(k => 3, suppression => 0.5)",
    "CREATE ANONYMIZED TABLE loosened_near AS POLICY pair METHOD loose(k => 2, suppression => 0.5, near => true)",
    "CREATE ANONYMIZED STREAM streamed AS POLICY counted ORDER BY person METHOD stream(k => 5, delay => 20)",
    "ADVANCE streamed",
    "ADVANCE streamed TO END",
    "CHECK streamed",
    "SHOW STREAMS",
    *(f"CHECK {name}" for name in ("live", "made", "live_every", "made_cut", "dealt", "loosened")),
    "CHECK people (ward) SENSITIVE disease USING diseases, degree AGAINST voters REQUIRE k_anonymity(k => 4), "
    "t_closeness(t => 0.1, distance => 'ordered', attribute => degree), k_map(k => 3), "
    "l_diversity(l => 2, c => 2, variant => 'recursive', attribute => degree)",
    "ATTACK made SENSITIVE disease USING diseases WITH similarity(level => 1)",
    "ATTACK made_cut WITH linkage(against => people)",
    "ATTACK dealt WITH definetti(rounds => 2)",
    "ATTACK people (ward) SENSITIVE degree WITH similarity(within => 2)",
    "CREATE WORKLOAD asked ON POLICY basic (queries => 20, dimensions => 2, selectivity => 0.3, seed => 7)",
    *(f"MEASURE {name} WITH WORKLOAD asked" for name in ("made", "dealt")),
    *(f"MEASURE {name} WITH FIGURES (membership)" for name in ("dealt", "parted", "loosened")),
    *(
        f"ESTIMATE SELECT ward, count(*), sum(score), avg(score), min(score) FROM people WHERE age < 37 GROUP BY ward "
        f"FROM RELEASE {name}"
        for name in ("made", "dealt")
    ),
    "ESTIMATE SELECT count(*) FROM people WHERE ward = 'a' FROM RELEASE parted",
    "EXPORT made TO 'made.parquet' (FORMAT parquet)",
    "EXPORT dealt TO 'dealt' (FORMAT duckdb)",
    "DROP ANONYMIZED VIEW live_cut",
    "DROP WORKLOAD asked",
)
