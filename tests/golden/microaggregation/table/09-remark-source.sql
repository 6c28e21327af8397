-- Look for: which numbers of the source determine another column, asked in one pass.

WITH "hashed" AS MATERIALIZED ({hashed("born", "temp", "__sqlanon_source_2")}), "values_0" AS MATERIALIZED (
  {values_0-3}
)
SELECT
  0 AS "number", COUNT(*) AS "values", COALESCE(SUM("n"), 0) AS "rows", COUNT(*) FILTER(WHERE "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE "n" > 1) AS "repeating", COUNT(*) FILTER(WHERE "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE "n" > 1 AND "same_1") AS "same_1", COUNT(*) FILTER(WHERE "n" > 1 AND "same_2") AS "same_2"
FROM "values_0";
