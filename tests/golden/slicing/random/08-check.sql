-- Look for: four tables with the same buckets; a class is a bucket, since nothing stands beside the disease.

SELECT
  COALESCE(COUNT(*), 0)
FROM (
  SELECT
    "bucket"
  FROM (
    SELECT
      "bucket",
      0 AS "table_index",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY
      "bucket"
    UNION ALL
    SELECT
      "bucket",
      1 AS "table_index",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_2"
    GROUP BY
      "bucket"
    UNION ALL
    SELECT
      "bucket",
      2 AS "table_index",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_3"
    GROUP BY
      "bucket"
    UNION ALL
    SELECT
      "bucket",
      3 AS "table_index",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_4"
    GROUP BY
      "bucket"
  ) AS "counted"
  GROUP BY
    "bucket"
  HAVING
    MIN("n") <> MAX("n") OR COUNT(*) <> 4 OR "bucket" IS NULL
) AS "broken";

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT
      "class_id",
      "value" AS "value_0",
      COUNT(*) AS "n"
    FROM (
      SELECT
        "bucket" AS "class_id",
        "disease" AS "value"
      FROM "memory"."main"."__sqlanon_candidate_4"
    ) AS "bucket_row"
    GROUP BY
      "class_id",
      "value"
  ), "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM "class_value_0"
    GROUP BY
      "class_id"
  ), "sensitive_code_0" AS (
    SELECT
      "value_0",
      ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (
      SELECT DISTINCT
        "value_0"
      FROM "class_value_0"
    ) AS "occurring"
  ), "class_sensitive_value_0" AS (
    SELECT
      "counted"."class_id",
      "coded"."code" AS "value",
      "counted"."n"
    FROM "class_value_0" AS "counted"
    JOIN "sensitive_code_0" AS "coded"
      ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
  )
  SELECT
    *
  FROM (
    SELECT
      0 AS "place",
      CAST((
        SELECT
          MIN("entities") AS "achieved"
        FROM "equivalence_class"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "equivalence_class"
          WHERE
            "entities" < 10
        ) AS "violations"
      ) AS "violating"
    UNION ALL
    SELECT
      1 AS "place",
      CAST((
        SELECT
          MIN(CAST("equivalence_class"."size" AS DOUBLE) / "most") AS "achieved"
        FROM "equivalence_class"
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
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
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
          FROM "equivalence_class"
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
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
