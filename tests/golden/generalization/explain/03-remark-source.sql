-- Look for: the rows that a release would have, from its own SELECT, since a dry run has no candidate; grouped by all keys;
-- the least and the greatest hash, which are one where all rows of a class agree.

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n", MIN(hash("disease")) = MAX(hash("disease")) AS "same_0",
    MIN(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END) = MAX(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END)
    AND COUNT("disease") < COUNT(*) AS "known_0"
  FROM (
    WITH "source" AS NOT MATERIALIZED (
      SELECT "dob", "sex", "zip", "disease"
      FROM "memory"."main"."patients"
    ), "recode_0" AS ({recode_0-2}), "recode_1" AS ({recode_0}), "recode_2" AS (
      {recode_2}
    ), "recoded" AS NOT MATERIALIZED ({recoded-2}), "equivalence_class" AS (
      {equivalence_class-6("recoded")}
    ), "kept" AS ({kept-2(4)})
    SELECT
      "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
      "recoded"."column_3" AS "disease"
    FROM "recoded"
    JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
  ) AS "released"
  GROUP BY "dob", "sex", "zip"
) AS "class";
