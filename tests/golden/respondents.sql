-- Look for: respondents counted with NULL as one of them, in equivalence_class; the guard asks for entities, not
-- rows; the respondent is not among the columns of the outermost SELECT.

WITH "source" AS NOT MATERIALIZED (
  SELECT
    "sex",
    "disease",
    "person"
  FROM "main"."visits"
), "recode_0" AS (
  SELECT
    "value",
    "label",
    CAST(DENSE_RANK() OVER (ORDER BY "label") - 1 AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      "value" AS "label"
    FROM (
      SELECT DISTINCT
        "sex" AS "value"
      FROM "source"
    ) AS "occurring"
  ) AS "labelled"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    (
      "recode_0"."code" << 0
    ) AS "class_id",
    "recode_0"."label" AS "label_0",
    CAST("source"."disease" AS TEXT) AS "column_1",
    "source"."person" AS "__sqlanon_entity"
  FROM "source"
  JOIN "recode_0"
    ON "source"."sex" IS NOT DISTINCT FROM "recode_0"."value"
    AND "recode_0"."code" < 512
), "equivalence_class" AS (
  SELECT
    "class_id",
    COUNT(*) AS "size",
    COUNT(DISTINCT "__sqlanon_entity") + MAX(CASE WHEN "__sqlanon_entity" IS NULL THEN 1 ELSE 0 END) AS "entities"
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
  "recoded"."label_0" AS "sex",
  "recoded"."column_1" AS "disease"
FROM "recoded"
JOIN "kept"
  ON "recoded"."class_id" = "kept"."class_id"
