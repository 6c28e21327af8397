-- Look for: sql/estimates/estimate.sql in count_figures.sql, with their names put in: a class is certain if all its
-- leaves hold, possible if any; hits and their variance by p, bounds from certain and possible rows; nothing of sums.

CREATE TEMPORARY TABLE "__sqlanon_estimate_1" AS
SELECT *
FROM (
  WITH "total" AS ({total}), "figure" AS (
    SELECT
      "total"."key", "total"."number", "possible_rows" > 0 AS "possible", CAST("hits" AS DOUBLE) AS "count",
      CASE WHEN NOT "hits" IS NULL THEN SQRT(GREATEST(CAST("hits_variance" AS DOUBLE), 0)) END AS "count_spread",
      CAST(COALESCE("bound"."low", "certain_rows") AS BIGINT) AS "count_low",
      CAST(COALESCE("bound"."high", "possible_rows") + "withheld"."rows" AS BIGINT) AS "count_high"
    FROM "total"
    LEFT JOIN (
      SELECT "key", "number", 0 AS "low", 0 AS "high"
      FROM "__sqlanon_combination_1" AS "combination"
      WHERE FALSE
    ) AS "bound" ON "total"."key" IS NOT DISTINCT FROM "bound"."key" AND "total"."number" = "bound"."number"
    CROSS JOIN (SELECT CAST(1 AS BIGINT) AS "rows") AS "withheld"
  )
  SELECT
    "key", "number", "possible",
    CASE
      WHEN NOT "count" IS NULL
      THEN LEAST(GREATEST("count", "count_low"), COALESCE(CAST("count_high" AS DOUBLE), "count"))
    END AS "count",
    "count_spread", "count_low", "count_high"
  FROM "figure"
) AS "figures";
