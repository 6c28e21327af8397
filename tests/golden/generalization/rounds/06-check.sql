-- Look for: one pass over the candidate for both requirements; sensitive values are coded anew from what is published;
-- `achieved` is no excess, and has a text of its own.

SELECT
  "place",
  "achieved",
  "violating"
FROM (
  WITH "class_value_0" AS (
    SELECT
      {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id",
      "disease" AS "value_0",
      COUNT(*) AS "n"
    FROM "memory"."main"."__sqlanon_candidate_1"
    GROUP BY
      "dob",
      "sex",
      "zip",
      "disease"
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
            "entities" < 2
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
              MAX("w"."farthest") - CAST(0.5 AS DOUBLE) AS "most",
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
                ) / NULLIF("scale", 0) - CAST(0.5 AS DOUBLE)) / NULLIF("most", 0)
              )
              ELSE CAST(0 AS DOUBLE)
            END AS "excess"
          FROM "class"
          WHERE
            CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST('1' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
        ) AS "violations"
      ) AS "violating"
  ) AS "report"
) AS "reported";
