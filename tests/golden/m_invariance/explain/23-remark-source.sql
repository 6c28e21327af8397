-- Look for: what remarks count of a sample of the source, whatever the method.

WITH "hashed" AS MATERIALIZED (
  SELECT
    CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0",
    hash("dob") AS "quasi_0",
    hash("sex") AS "quasi_1",
    hash("zip") AS "quasi_2"
  FROM "temp"."main"."__sqlanon_source_2"
  LIMIT 20000
)
SELECT
  0 AS "number",
  COUNT(*) AS "values",
  COALESCE(SUM("n"), 0) AS "rows",
  COUNT(*) FILTER(WHERE
    "n" = 1) AS "alone",
  COUNT(*) FILTER(WHERE
    "n" > 1) AS "repeating",
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_0") AS "same_0",
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_1") AS "same_1",
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_2") AS "same_2",
  COALESCE(entropy("first_0") FILTER(WHERE
    "n" > 1), 0) AS "entropy_0",
  COALESCE(entropy("first_1") FILTER(WHERE
    "n" > 1), 0) AS "entropy_1",
  COALESCE(entropy("first_2") FILTER(WHERE
    "n" > 1), 0) AS "entropy_2"
FROM (
  SELECT
    COUNT(*) AS "n",
    MIN("quasi_0") = MAX("quasi_0") AS "same_0",
    MIN("quasi_1") = MAX("quasi_1") AS "same_1",
    MIN("quasi_2") = MAX("quasi_2") AS "same_2",
    MIN("quasi_0") AS "first_0",
    MIN("quasi_1") AS "first_1",
    MIN("quasi_2") AS "first_2"
  FROM "hashed"
  WHERE
    NOT "value_0" IS NULL
  GROUP BY
    "value_0"
) AS "counted";

SELECT
  COUNT(*)
FROM "temp"."main"."__sqlanon_source_2"
WHERE
  "number" IS NULL;
