-- Look for: hashes, never values; one step that all columns are counted from, with a LIMIT, made once; a column's NULLs are
-- left out, those of a quasi-identifier are a value.

WITH "hashed" AS MATERIALIZED (
  SELECT
    CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0",
    hash("dob") AS "quasi_0",
    hash("sex") AS "quasi_1",
    hash("zip") AS "quasi_2"
  FROM "memory"."main"."patients"
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
