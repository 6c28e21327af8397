-- Look for: SECURE VIEW; WHERE refuses a session with a collation or a column of another type; texts under COLLATE
-- "binary"; what is published goes through a STRUCT, which takes the collation off again; no value of the source.

CREATE SECURE VIEW "main"."__sqlanon_candidate_1" AS
WITH "source" AS NOT MATERIALIZED (
  SELECT
    "dob",
    CAST("sex" AS TEXT) COLLATE "binary" AS "sex",
    CAST("zip" AS TEXT) COLLATE "binary" AS "zip",
    CAST("disease" AS TEXT) COLLATE "binary" AS "disease"
  FROM "main"."patients"
  WHERE
    NOT current_setting(
      CASE
        WHEN NOT LOWER(current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
        THEN 'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
        WHEN typeof("dob") <> 'DATE'
        THEN 'sqlanon: the column dob was DATE when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN typeof("sex") <> 'VARCHAR'
        THEN 'sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN typeof("zip") <> 'VARCHAR'
        THEN 'sqlanon: the column zip was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN typeof("disease") <> 'VARCHAR'
        THEN 'sqlanon: the column disease was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        ELSE 'default_collation'
      END
    ) IS NULL
), "recode_0" AS (
  SELECT
    "value",
    struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
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
    struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
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
    struct_extract(CAST(row("label") AS STRUCT("text" TEXT)), 'text') AS "label",
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
), "recoded" AS NOT MATERIALIZED (
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
  struct_extract(CAST(row("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM "recoded"
JOIN "kept"
  ON "recoded"."class_id" = "kept"."class_id";
