-- Look for: hashes, never values; one step that all columns are counted from, with a LIMIT, made once; a column's NULLs are
-- left out, those of a quasi-identifier are a value.

WITH "hashed" AS MATERIALIZED (
  SELECT
    CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0",
    CASE WHEN NOT "dob" IS NULL THEN hash("dob") END AS "value_1", hash("sex") AS "quasi_0", hash("zip") AS "quasi_1"
  FROM "memory"."main"."patients"
  LIMIT 20000
), "values_0" AS MATERIALIZED ({values_0-2("value_0")}), "values_1" AS MATERIALIZED ({values_0-2("value_1")})
SELECT
  0 AS "number", COUNT(*) AS "values", COALESCE(SUM("n"), 0) AS "rows", COUNT(*) FILTER(WHERE "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE "n" > 1) AS "repeating", COUNT(*) FILTER(WHERE "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE "n" > 1 AND "same_1") AS "same_1"
FROM "values_0"
UNION ALL
SELECT
  1 AS "number", COUNT(*) AS "values", COALESCE(SUM("n"), 0) AS "rows", COUNT(*) FILTER(WHERE "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE "n" > 1) AS "repeating", COUNT(*) FILTER(WHERE "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE "n" > 1 AND "same_1") AS "same_1"
FROM "values_1";
