-- Look for: sensitive values in value order with NULL last; before a row is dealt the whole table is asked as one
-- bucket (class_id 0): what violates there can be satisfied by no dealing.

CREATE TEMPORARY TABLE "__sqlanon_codes_1" AS
SELECT
  "value",
  "n",
  ROW_NUMBER() OVER (ORDER BY "value" IS NULL ASC NULLS LAST, "value" ASC NULLS LAST) AS "code"
FROM (
  SELECT
    "disease" AS "value",
    COUNT(*) AS "n"
  FROM "memory"."main"."patients"
  GROUP BY
    "disease"
) AS "counted";

SELECT
  MAX("n")
FROM "__sqlanon_codes_1";

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
