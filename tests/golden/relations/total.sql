SELECT
  "key", "number", CASE WHEN BOOL_OR(CAST("p" IS NULL AS BOOLEAN)) THEN NULL ELSE SUM("n" * "p") END AS "hits",
  CASE WHEN BOOL_OR(CAST("p" IS NULL AS BOOLEAN)) THEN NULL ELSE SUM("n" * "p" * (1 - "p")) END AS "hits_variance",
  COALESCE(SUM("n") FILTER(WHERE "certain"), 0) AS "certain_rows",
  COALESCE(SUM("n") FILTER(WHERE "possible"), 0) AS "possible_rows"
FROM (
  WITH "counted" AS (
    SELECT
      *, COUNT(*) OVER (PARTITION BY "id", "number") AS "combinations",
      BOOL_OR(CAST("share" IS NULL AS BOOLEAN)) OVER (PARTITION BY "id", "number") AS "unknown"
    FROM "__sqlanon_combination_1" AS "combination"
  )
  SELECT
    "id", "key", "number", ANY_VALUE("unit") AS "unit", ANY_VALUE("n") AS "n",
    COUNT_IF("holds") = ANY_VALUE("combinations") AS "certain", COUNT_IF("holds") > 0 AS "possible",
    COUNT_IF("holds") > 0 AS "below", COUNT_IF("holds") > 0 AS "above",
    CASE
      WHEN COUNT_IF("holds") = ANY_VALUE("combinations") THEN 1.0
      WHEN COUNT_IF("holds") = 0 THEN 0.0
      WHEN ANY_VALUE("unknown") THEN NULL
      ELSE LEAST(1.0, SUM("share") FILTER(WHERE "holds"))
    END AS "p",
    CASE
      WHEN COUNT_IF("holds") = 0 THEN 0.0
      WHEN ANY_VALUE("unknown") OR COUNT_IF("holds" AND "share" > 0 AND "mean" IS NULL) > 0 THEN NULL
      ELSE COALESCE(SUM("share" * "mean") FILTER(WHERE "holds" AND "share" > 0), 0.0)
    END AS "first",
    CASE
      WHEN COUNT_IF("holds") = 0 THEN 0.0
      WHEN ANY_VALUE("unknown") OR COUNT_IF("holds" AND "share" > 0 AND "mean" IS NULL) > 0 THEN NULL
      ELSE COALESCE(SUM("share" * "square") FILTER(WHERE "holds" AND "share" > 0), 0.0)
    END AS "second",
    CASE WHEN COUNT_IF("holds" AND "least" IS NULL) = 0 THEN MIN("least") FILTER(WHERE "holds") END AS "least",
    CASE WHEN COUNT_IF("holds" AND "greatest" IS NULL) = 0 THEN MAX("greatest") FILTER(WHERE "holds") END AS "greatest"
  FROM "counted"
  GROUP BY "id", "key", "number"
) AS "class"
GROUP BY "key", "number"
