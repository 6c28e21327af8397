-- Look for: one recode_i per column that is not '*', each from the distinct values of the column; the ENUM cast
-- to text; no column but those named; the guard `kept` built from the model's own violations; '*' as a constant.

WITH "source" AS NOT MATERIALIZED (
  SELECT
    "day",
    "sex",
    "zip",
    "disease"
  FROM "main"."visits"
), "recode_0" AS (
  SELECT
    "value",
    "label",
    CAST(DENSE_RANK() OVER (ORDER BY "label") - 1 AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      CASE
        WHEN "value" = CAST('infinity' AS DATE)
        THEN 'infinity'
        WHEN "value" = CAST('-infinity' AS DATE)
        THEN '-infinity'
        ELSE (
          CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
            REPEAT('0', 4 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT)
          )
        ) || '-' || (
          REPEAT('0', 2 - LENGTH(CAST(EXTRACT(MONTH FROM "value") AS TEXT))) || CAST(EXTRACT(MONTH FROM "value") AS TEXT)
        )
      END AS "label"
    FROM (
      SELECT DISTINCT
        "day" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recode_2" AS (
  SELECT
    "value",
    "label",
    CAST(DENSE_RANK() OVER (ORDER BY "label") - 1 AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "label"
    FROM (
      SELECT DISTINCT
        "zip" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    (
      "recode_0"."code" << 0
    ) + (
      "recode_2"."code" << 9
    ) AS "class_id",
    "recode_0"."label" AS "label_0",
    "recode_2"."label" AS "label_2",
    CAST("source"."disease" AS TEXT) AS "column_3"
  FROM "source"
  JOIN "recode_0"
    ON "source"."day" IS NOT DISTINCT FROM "recode_0"."value"
    AND "recode_0"."code" < 512
  JOIN "recode_2"
    ON "source"."zip" IS NOT DISTINCT FROM "recode_2"."value"
    AND "recode_2"."code" < 512
), "equivalence_class" AS (
  SELECT
    "class_id",
    COUNT(*) AS "size",
    COUNT(*) AS "entities"
  FROM "recoded"
  GROUP BY
    "class_id"
), "kept" AS (
  SELECT
    "class_id"
  FROM "equivalence_class"
  WHERE
    NOT "class_id" IN (
      SELECT
        "class_id"
      FROM (
        SELECT
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "equivalence_class"
        WHERE
          "entities" < 3
      ) AS "violations"
    )
)
SELECT
  "recoded"."label_0" AS "day",
  '*' AS "sex",
  "recoded"."label_2" AS "zip",
  "recoded"."column_3" AS "disease"
FROM "recoded"
JOIN "kept"
  ON "recoded"."class_id" = "kept"."class_id"
