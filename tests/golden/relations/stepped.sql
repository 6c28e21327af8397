SELECT
  "value",
  (
    CAST(SUM("n") OVER (ORDER BY "value" ASC NULLS LAST) AS BIGINT) - "n"
  ) * 1048576 // CAST(SUM("n") OVER () AS BIGINT) AS "step"
FROM (SELECT {#1} AS "value", COUNT(*) AS "n" FROM ({rows-2}) AS "rows" GROUP BY {#1}) AS "counted"
