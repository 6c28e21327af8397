-- The errors of a workload's results, by the number of columns in the conditions and by the share of the source's rows
-- that a query counts: under 0.1 % (1), under 1 % (2), under 10 % (3), and more (4); NULL for queries that count no
-- rows.
SELECT
  CAST(shape.dimensions AS BIGINT) AS dimensions,
  CASE
    WHEN NOT shape.counts OR query_error.actual IS NULL THEN NULL
    WHEN query_error.actual < 0.001 * source_size.row_count THEN 1
    WHEN query_error.actual < 0.01 * source_size.row_count THEN 2
    WHEN query_error.actual < 0.1 * source_size.row_count THEN 3
    ELSE 4
  END AS share,
  count(*) AS results,
  count(relative_error) AS compared,
  avg(relative_error) AS mean_error,
  quantile_cont(relative_error, 0.5) AS median_error,
  quantile_cont(relative_error, 0.95) AS error_95,
  count_if(outcome = 'refused' OR (outcome = 'unknown' AND actual IS NOT NULL)) AS not_estimated
FROM query_error
LEFT JOIN shape ON query_error.query_id = shape.query_id AND query_error.result = shape.result
CROSS JOIN source_size
GROUP BY 1, 2
ORDER BY 1 ASC NULLS LAST, 2 ASC NULLS LAST
