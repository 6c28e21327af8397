-- Look for: three models of the whole table as one bucket, joined by UNION ALL; t-closeness compares the table with
-- itself there, so only the other two can fail.

SELECT
  COUNT(*)
FROM (
  SELECT
    "class_id" AS "class_id"
  FROM (
    WITH "class_value_0" AS (
      SELECT
        0 AS "class_id",
        "value" AS "value_0",
        CAST(SUM("n") AS BIGINT) AS "n"
      FROM "__sqlanon_codes_1"
      GROUP BY
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
    ), "sensitive_value_0" AS (
      SELECT
        "value",
        CAST(SUM("n") AS BIGINT) AS "n"
      FROM "class_sensitive_value_0"
      GROUP BY
        "value"
    )
    SELECT
      "class_id"
    FROM (
      SELECT
        "class_id",
        MAX("size") AS "size",
        MAX("excess") AS "excess"
      FROM (
        (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "equivalence_class"
          WHERE
            "entities" < 3
        )
        UNION ALL
        (
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
        )
        UNION ALL
        (
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
        )
      ) AS "violation"
      GROUP BY
        "class_id"
    ) AS "violation"
  ) AS "broken"
) AS "broken";
