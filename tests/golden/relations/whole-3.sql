SELECT
  CAST(SUM("n") AS DOUBLE) AS "total", 1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
FROM {#1} AS "sensitive_value"
