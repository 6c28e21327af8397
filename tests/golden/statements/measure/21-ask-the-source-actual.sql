-- Look for: a query without rows counts 0, and its sums are NULL; avg divides once, at the end.

INSERT INTO "__sqlanon_actual_1" ("query_id", "groups", "result", "value")
SELECT "query_id", "groups", "result", "value"
FROM (
  SELECT
    "asked"."query_id", '[]' AS "groups", "asked"."result",
    CASE "asked"."function"
      WHEN 'count' THEN COALESCE("counted"."rows", 0)
      WHEN 'sum' THEN "counted"."total"
      WHEN 'avg' THEN "counted"."total" / NULLIF("counted"."rows", 0)
      WHEN 'min' THEN "counted"."least"
      WHEN 'max' THEN "counted"."greatest"
    END AS "value"
  FROM "__sqlanon_asked_2" AS "asked"
  LEFT JOIN (
    SELECT
      "query", CAST("rows" AS DOUBLE) AS "rows", CAST(NULL AS DOUBLE) AS "total", CAST(NULL AS DOUBLE) AS "least",
      CAST(NULL AS DOUBLE) AS "greatest"
    FROM "__sqlanon_counts_1"
  ) AS "counted" USING ("query")
) AS "results";
