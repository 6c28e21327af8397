-- Look for: dates as one of ten intervals, all else as a hash, NULL as a value; one grouping by all pairs, and phi2 as a sum over
-- pairs that occur.

CREATE TEMPORARY TABLE "__sqlanon_contingency_1" AS
SELECT
  CAST(CASE
    WHEN NOT date_diff('day', CAST('1970-01-01' AS DATE), "source"."dob") IS NULL
    THEN LEAST(
      COALESCE(
        FLOOR(
          (CAST((date_diff('day', CAST('1970-01-01' AS DATE), "source"."dob") - "range"."low_0") AS DOUBLE) * 10) / (
            NULLIF(CAST(("range"."high_0" - "range"."low_0") AS DOUBLE), 0)
          )
        ),
        0
      ),
      9
    ) + 4
    WHEN "source"."dob" IS NULL THEN 0
    WHEN "source"."dob" = CAST('infinity' AS DATE) THEN 1
    WHEN "source"."dob" = CAST('-infinity' AS DATE) THEN 2
    ELSE 3
  END AS UBIGINT) AS "code_0",
  hash("source"."sex") AS "code_1", hash("source"."zip") AS "code_2", hash("source"."disease") AS "code_3",
  COUNT(*) AS "n"
FROM "memory"."main"."patients" AS "source"
CROSS JOIN (
  SELECT
    MIN(date_diff('day', CAST('1970-01-01' AS DATE), "source"."dob")) AS "low_0",
    MAX(date_diff('day', CAST('1970-01-01' AS DATE), "source"."dob")) AS "high_0"
  FROM "memory"."main"."patients" AS "source"
) AS "range"
GROUP BY 1, 2, 3, 4;

WITH "marginal" AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      CASE
        WHEN NOT "code_0" IS NULL THEN 0
        WHEN NOT "code_1" IS NULL THEN 1
        WHEN NOT "code_2" IS NULL THEN 2
        WHEN NOT "code_3" IS NULL THEN 3
      END AS "first",
      CASE
        WHEN NOT "code_3" IS NULL THEN 3
        WHEN NOT "code_2" IS NULL THEN 2
        WHEN NOT "code_1" IS NULL THEN 1
        WHEN NOT "code_0" IS NULL THEN 0
      END AS "second",
      COALESCE("code_0", "code_1", "code_2", "code_3") AS "first_code",
      COALESCE("code_3", "code_2", "code_1", "code_0") AS "second_code", "n"
    FROM (
      SELECT "code_0", "code_1", "code_2", "code_3", CAST(SUM("n") AS DOUBLE) AS "n"
      FROM "__sqlanon_contingency_1" AS "cells"
      GROUP BY GROUPING SETS (("code_0"), ("code_1"), ("code_2"), ("code_3"))
    ) AS "grouped"
  ) AS "marginals"
)
SELECT "pair"."first", "pair"."second", CAST(COUNT(*) AS DOUBLE) AS "total"
FROM "marginal" AS "pair"
GROUP BY "pair"."first", "pair"."second"
UNION ALL
SELECT
  "pair"."first", "pair"."second", CAST(SUM("pair"."n" / "row"."n" * "pair"."n" / "other"."n") AS DOUBLE) AS "total"
FROM (
  SELECT
    CASE
      WHEN NOT "code_0" IS NULL THEN 0
      WHEN NOT "code_1" IS NULL THEN 1
      WHEN NOT "code_2" IS NULL THEN 2
      WHEN NOT "code_3" IS NULL THEN 3
    END AS "first",
    CASE
      WHEN NOT "code_3" IS NULL THEN 3
      WHEN NOT "code_2" IS NULL THEN 2
      WHEN NOT "code_1" IS NULL THEN 1
      WHEN NOT "code_0" IS NULL THEN 0
    END AS "second",
    COALESCE("code_0", "code_1", "code_2", "code_3") AS "first_code",
    COALESCE("code_3", "code_2", "code_1", "code_0") AS "second_code", "n"
  FROM (
    SELECT "code_0", "code_1", "code_2", "code_3", CAST(SUM("n") AS DOUBLE) AS "n"
    FROM "__sqlanon_contingency_1" AS "cells"
    GROUP BY
      GROUPING SETS (
        ("code_0", "code_1"), ("code_0", "code_2"), ("code_0", "code_3"), ("code_1", "code_2"), ("code_1", "code_3"),
        ("code_2", "code_3")
      )
  ) AS "grouped"
) AS "pair"
JOIN "marginal" AS "row" ON "pair"."first" = "row"."first" AND "pair"."first_code" = "row"."first_code"
JOIN "marginal" AS "other" ON "pair"."second" = "other"."second" AND "pair"."second_code" = "other"."second_code"
GROUP BY "pair"."first", "pair"."second";
