-- Look for: what remarks count of a sample of the source, whatever the method.

WITH "hashed" AS MATERIALIZED (
  SELECT
    CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0",
    hash("dob") AS "quasi_0",
    hash("sex") AS "quasi_1",
    hash("zip") AS "quasi_2"
  FROM "temp"."main"."__sqlanon_source_2"
  LIMIT 20000
), "values_0" AS MATERIALIZED (
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
    "n" > 1 AND "same_2") AS "same_2"
FROM "values_0";

WITH "hashed" AS MATERIALIZED (
  SELECT
    CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0",
    hash("dob") AS "quasi_0",
    hash("sex") AS "quasi_1",
    hash("zip") AS "quasi_2"
  FROM "temp"."main"."__sqlanon_source_2"
  LIMIT 20000
), "values_0" AS MATERIALIZED (
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
)
SELECT
  0 AS "number",
  1 AS "quasi",
  MAX("most"),
  SUM(power("most", "n" - 1))
FROM "values_0"
CROSS JOIN (
  SELECT
    CAST(MAX("n") AS DOUBLE) / SUM("n") AS "most"
  FROM (
    SELECT
      SUM("n") AS "n"
    FROM "values_0"
    WHERE
      "n" > 1 AND "same_1"
    GROUP BY
      "first_1"
  ) AS "agreeing"
) AS "frequent"
WHERE
  "n" > 1;

SELECT
  COUNT(*)
FROM "temp"."main"."__sqlanon_source_2"
WHERE
  "number" IS NULL;
