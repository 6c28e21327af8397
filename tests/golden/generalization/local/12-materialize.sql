-- Look for: recode_1 with a label and a code for each level that a round shows; kept_2 asks only rows that kept_1 does
-- not have (-1 is no class); the guard `kept` at the end asks the classes of all rounds together.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (SELECT "sex", "zip", "disease" FROM "memory"."main"."patients"), "recode_0" AS (
    {recode_0}
  ), "recode_1" AS (
    WITH "labelled" AS (
      SELECT "value", CAST("value" AS TEXT) AS "label_0", "level_1" AS "label_1"
      FROM (
        SELECT
          "value", LEFT(CAST("value" AS TEXT), 4) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 4) AS "level_1",
          LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "level_2",
          LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "level_3"
        FROM (SELECT DISTINCT "zip" AS "value" FROM "source") AS "occurring"
      ) AS "generalized"
    )
    SELECT
      "value", MAX(CASE WHEN "level" = 0 THEN "label" END) AS "label_0",
      MAX(CASE WHEN "level" = 0 THEN "code" END) AS "code_0", MAX(CASE WHEN "level" = 1 THEN "label" END) AS "label_1",
      MAX(CASE WHEN "level" = 1 THEN "code" END) AS "code_1"
    FROM ({numbers}) AS "numbers"
    GROUP BY "value"
  ), "labelled" AS NOT MATERIALIZED (
    SELECT
      CASE
        WHEN "recode_0"."code" < 2147483648 AND "recode_1"."code_0" < 2147483648 THEN ("recode_0"."code" << 0) + (
          "recode_1"."code_0" << 31
        )
        ELSE CAST(-1 AS BIGINT)
      END AS "class_1",
      CASE
        WHEN "recode_0"."code" < 2147483648 AND "recode_1"."code_1" < 2147483648 THEN ("recode_0"."code" << 0) + (
          "recode_1"."code_1" << 31
        )
        ELSE CAST(-1 AS BIGINT)
      END AS "class_2",
      "recode_0"."label" AS "label_0", "recode_1"."label_0" AS "label_1_0", "recode_1"."label_1" AS "label_1_1",
      "source"."disease" AS "column_2"
    FROM "source"
    LEFT JOIN "recode_0" ON "source"."sex" IS NOT DISTINCT FROM "recode_0"."value"
    LEFT JOIN "recode_1" ON "source"."zip" IS NOT DISTINCT FROM "recode_1"."value"
  ), "kept_1" AS (
    WITH "round_row" AS (SELECT "class_1" AS "class_id" FROM "labelled"), "equivalence_class" AS (
      {equivalence_class-6("round_row")}
    )
    SELECT "class_id"
    FROM "equivalence_class"
    WHERE "class_id" <> CAST(-1 AS BIGINT) AND NOT "class_id" IN ({equivalence_class(2)})
  ), "kept_2" AS (
    WITH "round_row" AS (
      SELECT
        CASE WHEN "class_1" IN (SELECT "class_id" FROM "kept_1") THEN CAST(-1 AS BIGINT) ELSE "class_2"
        END AS "class_id"
      FROM "labelled"
    ), "equivalence_class" AS ({equivalence_class-6("round_row")})
    SELECT "class_id"
    FROM "equivalence_class"
    WHERE "class_id" <> CAST(-1 AS BIGINT) AND NOT "class_id" IN ({equivalence_class(2)})
  ), "recoded" AS MATERIALIZED (
    SELECT
      CASE WHEN "round" = 1 THEN "class_1" WHEN "round" = 2 THEN "class_2" END AS "class_id", "label_0" AS "label_0",
      CASE WHEN "round" = 1 THEN "label_1_0" WHEN "round" = 2 THEN "label_1_1" END AS "label_1", "column_2"
    FROM (
      SELECT
        *,
        CASE
          WHEN "class_1" IN (SELECT "class_id" FROM "kept_1") THEN 1
          WHEN "class_2" IN (SELECT "class_id" FROM "kept_2") THEN 2
        END AS "round"
      FROM "labelled"
    ) AS "placed"
    WHERE NOT "round" IS NULL
  ), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(2)})
  SELECT "recoded"."label_0" AS "sex", "recoded"."label_1" AS "zip", "recoded"."column_2" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
