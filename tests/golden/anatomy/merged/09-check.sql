-- Look for: a bucket has as many rows as its counts add up to, since rows and counts do not pair one to one any more;
-- three models over one set of classes.

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket"
  FROM (
    SELECT
      "bucket",
      CAST(1 AS BIGINT) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1"
    UNION ALL
    SELECT
      "bucket",
      -"count" AS "n"
    FROM "memory"."main"."__sqlanon_candidate_2"
  ) AS "either"
  GROUP BY
    "bucket"
  HAVING
    SUM("n") <> 0
) AS "bucket";

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "equivalence_class" AS (
    SELECT
      "class_id",
      CAST(SUM("n") AS BIGINT) AS "size",
      CAST(SUM("n") AS BIGINT) AS "entities"
    FROM (
      SELECT
        "class_id" AS "class_id",
        "value" AS "value_0",
        CAST("count" AS BIGINT) AS "n"
      FROM (
        SELECT
          "bucket" AS "class_id",
          "value",
          "count"
        FROM "memory"."main"."__sqlanon_candidate_2"
      ) AS "bucket_row"
    ) AS "class_value_0"
    GROUP BY
      "class_id"
  ), "sensitive_code_0" AS (
    SELECT
      "value_0",
      ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (
      SELECT DISTINCT
        "value_0"
      FROM (
        SELECT
          "class_id" AS "class_id",
          "value" AS "value_0",
          CAST("count" AS BIGINT) AS "n"
        FROM (
          SELECT
            "bucket" AS "class_id",
            "value",
            "count"
          FROM "memory"."main"."__sqlanon_candidate_2"
        ) AS "bucket_row"
      ) AS "class_value_0"
    ) AS "occurring"
  ), "class_sensitive_value_0" AS (
    SELECT
      "counted"."class_id",
      "coded"."code" AS "value",
      "counted"."n"
    FROM (
      SELECT
        "class_id" AS "class_id",
        "value" AS "value_0",
        CAST("count" AS BIGINT) AS "n"
      FROM (
        SELECT
          "bucket" AS "class_id",
          "value",
          "count"
        FROM "memory"."main"."__sqlanon_candidate_2"
      ) AS "bucket_row"
    ) AS "counted"
    JOIN "sensitive_code_0" AS "coded"
      ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
  ), "sensitive_value_0" AS (
    SELECT
      "value",
      CAST(SUM("n") AS BIGINT) AS "n"
    FROM "class_sensitive_value_0"
    GROUP BY
      "value"
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
            "entities" < 3
        ) AS "violations"
      ) AS "violating"
    UNION ALL
    SELECT
      1 AS "place",
      CAST((
        WITH "whole" AS (
          SELECT
            CAST(SUM("n") AS DOUBLE) AS "total"
          FROM "sensitive_value_0" AS "sensitive_value"
        ), "class" AS (
          SELECT
            "s"."class_id",
            MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
            SUM(
              LEAST(
                CAST("s"."n" AS DOUBLE) * "w"."total",
                CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
              )
            ) AS "common"
          FROM "class_sensitive_value_0" AS "s"
          JOIN "equivalence_class" AS "c"
            ON "c"."class_id" = "s"."class_id"
          CROSS JOIN "whole" AS "w"
          LEFT JOIN "sensitive_value_0" AS "v"
            ON "v"."value" = "s"."value"
          GROUP BY
            "s"."class_id"
        )
        SELECT
          MAX((
            "scale" - "common"
          ) / NULLIF("scale", 0)) AS "achieved"
        FROM "class"
      ) AS DOUBLE) AS "achieved",
      (
        SELECT
          COUNT(*)
        FROM (
          WITH "whole" AS (
            SELECT
              CAST(SUM("n") AS DOUBLE) AS "total",
              1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
            FROM "sensitive_value_0" AS "sensitive_value"
          ), "class" AS (
            SELECT
              "s"."class_id",
              MAX("c"."size") AS "size",
              MAX("w"."total") AS "total",
              MAX("w"."farthest") - CAST(0.4 AS DOUBLE) AS "most",
              MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
              SUM(
                LEAST(
                  CAST("s"."n" AS DOUBLE) * "w"."total",
                  CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
                )
              ) AS "common"
            FROM "class_sensitive_value_0" AS "s"
            JOIN "equivalence_class" AS "c"
              ON "c"."class_id" = "s"."class_id"
            CROSS JOIN "whole" AS "w"
            LEFT JOIN "sensitive_value_0" AS "v"
              ON "v"."value" = "s"."value"
            GROUP BY
              "s"."class_id"
          )
          SELECT
            "class_id",
            "size",
            CASE
              WHEN "most" > 1e-9
              THEN CAST("size" AS DOUBLE) * LEAST(
                1,
                GREATEST(0, (
                  "scale" - "common"
                ) / NULLIF("scale", 0) - CAST(0.4 AS DOUBLE)) / NULLIF("most", 0)
              )
              ELSE CAST(0 AS DOUBLE)
            END AS "excess"
          FROM "class"
          WHERE
            CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('5' AS DECIMAL(38, 0)) > CAST('2' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
        ) AS "violations"
      ) AS "violating"
    UNION ALL
    SELECT
      2 AS "place",
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
              WHEN CAST("distinct_values" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0)) < CAST('3' AS DECIMAL(38, 0))
              THEN CAST("equivalence_class"."size" AS DOUBLE)
              ELSE (
                "most" * CAST('3' AS DECIMAL(38, 0)) - CAST("equivalence_class"."size" AS DOUBLE) * CAST('1' AS DECIMAL(38, 0))
              ) / NULLIF(CAST('3' AS DECIMAL(38, 0)) - CAST('1' AS DECIMAL(38, 0)), 0)
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
            CAST("most" AS DECIMAL(38, 0)) * CAST('3' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
