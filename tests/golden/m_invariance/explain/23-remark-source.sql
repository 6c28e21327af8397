-- Look for: what remarks count of a sample of the source, whatever the method.

WITH "hashed" AS MATERIALIZED ({hashed("dob", "temp", "__sqlanon_source_2")}), "values_0" AS MATERIALIZED ({values_0-3})
SELECT
  0 AS "number", COUNT(*) AS "values", COALESCE(SUM("n"), 0) AS "rows", COUNT(*) FILTER(WHERE "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE "n" > 1) AS "repeating", COUNT(*) FILTER(WHERE "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE "n" > 1 AND "same_1") AS "same_1", COUNT(*) FILTER(WHERE "n" > 1 AND "same_2") AS "same_2"
FROM "values_0";

WITH "hashed" AS MATERIALIZED ({hashed("dob", "temp", "__sqlanon_source_2")}), "values_0" AS MATERIALIZED ({values_0-3})
SELECT 0 AS "number", 1 AS "quasi", MAX("most"), SUM(POWER("most", "n" - 1))
FROM "values_0" AS "value"
CROSS JOIN (
  SELECT CAST(MAX("n") AS DOUBLE) / SUM("n") AS "most"
  FROM (SELECT SUM("n") AS "n" FROM "values_0" AS "value" WHERE "n" > 1 AND "same_1" GROUP BY "first_1") AS "agreeing"
) AS "frequent"
WHERE "n" > 1;

SELECT COUNT(*) FROM "temp"."main"."__sqlanon_source_2" WHERE "number" IS NULL;
