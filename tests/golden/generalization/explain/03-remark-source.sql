-- Look for: the rows that a release would have, from its own SELECT, since a dry run has no candidate; grouped by all keys;
-- the least and the greatest hash, which are one where all rows of a class agree.

SELECT
  COUNT(*),
  COUNT(*) FILTER(WHERE
    "n" = 1),
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n",
    MIN(hash("disease")) = MAX(hash("disease")) AS "same_0",
    MIN(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END) = MAX(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END)
    AND COUNT("disease") < COUNT(*) AS "known_0"
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
      "recoded"."column_3" AS "disease"
    FROM "recoded"
    JOIN "kept"
      ON "recoded"."class_id" = "kept"."class_id"
  ) AS "released"
  GROUP BY
    "dob",
    "sex",
    "zip"
) AS "class";
