-- Look for: halves of a region are attempted as Mondrian does it; a class is a half and a part, in one number, and a half fails
-- with any of its classes.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_failed_1" AS
WITH "half_row" AS (
  SELECT
    CAST((
      "attempt"."number" * 2
    ) + CASE
      WHEN CAST((
        (
          "point"."key_0" >> "attempt"."shift"
        ) & "attempt"."mask"
      ) AS INT) > "attempt"."median"
      THEN 1
      ELSE 0
    END AS BIGINT) AS "class_id",
    (
      (
        "point"."key_0" & 15360
      ) >> 10
    ) AS "subject_0",
    CAST((
      (
        "point"."key_0" & 32
      ) >> 5
    ) AS INT) AS "part_0",
    (
      (
        "point"."key_0" & 15360
      ) >> 10
    ) AS "other_0",
    CAST(1 AS BIGINT) AS "n"
  FROM "__sqlanon_points_1" AS "point"
  JOIN (
    SELECT
      "turn"."number",
      "turn"."label",
      "turn"."dim",
      "turn"."median",
      list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
      list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
    FROM (
      SELECT
        "number",
        "label",
        STRUCT_EXTRACT("best", 'dim') AS "dim",
        STRUCT_EXTRACT("best", 'median') AS "median"
      FROM "__sqlanon_candidates_1"
    ) AS "turn"
  ) AS "attempt"
    ON "point"."label" = "attempt"."label"
), "class_sensitive_value_0" AS (
  SELECT
    (
      CAST("class_id" AS BIGINT) << 31
    ) | "part_0" AS "class_id",
    "subject_0" AS "value",
    CAST(SUM("n") AS BIGINT) AS "n"
  FROM "half_row"
  GROUP BY
    (
      CAST("class_id" AS BIGINT) << 31
    ) | "part_0",
    "subject_0"
), "part_class_0" AS (
  SELECT
    "class_id",
    CAST(SUM("n") AS BIGINT) AS "size",
    CAST(SUM("n") AS BIGINT) AS "entities"
  FROM "class_sensitive_value_0"
  GROUP BY
    "class_id"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST(SUM("n") AS BIGINT) AS "size",
    CAST(SUM("n") AS BIGINT) AS "entities"
  FROM "half_row"
  GROUP BY
    "class_id"
), "sensitive_value_0" AS (
  SELECT
    *
  FROM "__sqlanon_sensitive_value_0_1"
)
SELECT DISTINCT
  "number"
FROM (
  SELECT DISTINCT
    "class_id" // 2 AS "number"
  FROM (
    SELECT
      "class_id",
      "size",
      CAST("size" AS DOUBLE) AS "excess"
    FROM "equivalence_class"
    WHERE
      "entities" < 3
  ) AS "violation"
  UNION ALL
  SELECT DISTINCT
    (
      "class_id" >> 31
    ) // 2 AS "number"
  FROM (
    SELECT
      "equivalence_class"."class_id",
      "equivalence_class"."size",
      CASE
        WHEN CAST("distinct_values" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0)) < CAST('2' AS DECIMAL(38, 0))
        THEN CAST("equivalence_class"."size" AS DOUBLE)
        ELSE (
          "most" * CAST('2' AS DECIMAL(38, 0)) - CAST("equivalence_class"."size" AS DOUBLE) * CAST('1' AS DECIMAL(38, 0))
        ) / NULLIF(CAST('2' AS DECIMAL(38, 0)) - CAST('1' AS DECIMAL(38, 0)), 0)
      END AS "excess"
    FROM "part_class_0" AS "equivalence_class"
    INNER JOIN (
      SELECT
        "class_id",
        CAST(MAX("n") AS DOUBLE) AS "most",
        CAST(COUNT(*) AS DOUBLE) AS "distinct_values"
      FROM "class_sensitive_value_0" AS "class_sensitive_value"
      GROUP BY
        "class_id"
    ) AS "class"
      ON "class"."class_id" = "equivalence_class"."class_id"
    WHERE
      CAST("most" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
  ) AS "violation"
) AS "violating";
