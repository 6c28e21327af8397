-- Look for: the figures are sums over classes already; high has the rows withheld.

INSERT INTO "__sqlanon_estimated_1" ("query_id", "groups", "result", "estimate", "spread", "low", "high", "kept")
SELECT "query_id", "groups", "result", "estimate", "spread", "low", "high", TRUE AS "kept"
FROM (
  SELECT
    "asked"."query_id", '[]' AS "groups", "asked"."result", "summed"."hits" AS "estimate",
    CASE WHEN NOT "summed"."hits" IS NULL THEN SQRT(GREATEST("summed"."variance", 0)) END AS "spread",
    "summed"."low" AS "low", "summed"."high" + "withheld"."rows" AS "high"
  FROM "__sqlanon_asked_1" AS "asked"
  JOIN "__sqlanon_summed_1" AS "summed" USING ("query")
  CROSS JOIN (SELECT CAST(1 AS BIGINT) AS "rows") AS "withheld"
) AS "results";
