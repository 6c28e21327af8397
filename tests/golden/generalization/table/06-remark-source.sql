-- Look for: hashes, never values; one step that all columns are counted from, with a LIMIT, made once; a column's NULLs are
-- left out, those of a quasi-identifier are a value.

WITH "hashed" AS MATERIALIZED ({hashed("dob", "memory", "patients")}), "values_0" AS MATERIALIZED ({values_0-3})
SELECT
  0 AS "number", COUNT(*) AS "values", COALESCE(SUM("n"), 0) AS "rows", COUNT(*) FILTER(WHERE "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE "n" > 1) AS "repeating", COUNT(*) FILTER(WHERE "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE "n" > 1 AND "same_1") AS "same_1", COUNT(*) FILTER(WHERE "n" > 1 AND "same_2") AS "same_2"
FROM "values_0";
