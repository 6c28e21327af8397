-- Look for: the cells turned back into rows, with their numbers; labels only of values that occur; a class_id of two
-- words, since three codes of 31 bits do not fit one; the classes that the model's own violations leave; then the rows,
-- joined with both: no column but those of the policy, and sorted by a drawn number.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT
  *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT
      "dob",
      "sex",
      "zip",
      "disease"
    FROM "memory"."main"."patients"
  ), "recode_0" AS (
    SELECT
      "value",
      "label" AS "label",
      CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
    FROM (
      SELECT
        "value",
        CASE
          WHEN "value" = CAST('infinity' AS DATE)
          THEN 'infinity'
          WHEN "value" = CAST('-infinity' AS DATE)
          THEN '-infinity'
          ELSE CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
            REPEAT('0', 4 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT)
          )
        END AS "label"
      FROM (
        SELECT DISTINCT
          "dob" AS "value"
        FROM "source"
      ) AS "occurring"
    ) AS "labelled"
  ), "recode_1" AS (
    SELECT
      "value",
      "label" AS "label",
      CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
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
  ), "recode_2" AS (
    SELECT
      "value",
      "label" AS "label",
      CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
    FROM (
      SELECT
        "value",
        LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "label"
      FROM (
        SELECT DISTINCT
          "zip" AS "value"
        FROM "source"
      ) AS "occurring"
    ) AS "labelled"
  ), "recoded" AS MATERIALIZED (
    SELECT
      {'key_0': (
        "recode_0"."code" << 0
      ) + (
        "recode_1"."code" << 31
      ), 'key_1': (
        "recode_2"."code" << 0
      )} AS "class_id",
      "recode_0"."label" AS "label_0",
      "recode_1"."label" AS "label_1",
      "recode_2"."label" AS "label_2",
      "source"."disease" AS "column_3"
    FROM "source"
    JOIN "recode_0"
      ON "source"."dob" IS NOT DISTINCT FROM "recode_0"."value"
      AND "recode_0"."code" < 2147483648
    JOIN "recode_1"
      ON "source"."sex" IS NOT DISTINCT FROM "recode_1"."value"
      AND "recode_1"."code" < 2147483648
    JOIN "recode_2"
      ON "source"."zip" IS NOT DISTINCT FROM "recode_2"."value"
      AND "recode_2"."code" < 2147483648
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
            "entities" < 4
        ) AS "violations"
      )
  )
  SELECT
    "recoded"."label_0" AS "dob",
    "recoded"."label_1" AS "sex",
    "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept"
    ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY
  udf(0) ASC NULLS LAST;
