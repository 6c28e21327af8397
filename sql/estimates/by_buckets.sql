-- The count of each query, its spread and its bounds, from sums over buckets.
--
-- In the buckets of n rows, m of which satisfy what is asked of rows, and s of whose values what is asked of these,
-- `hits` is the sum of m s, `squares` that of m s^2, and low and high are those of the bounds of m rows with s values
-- (bucket_bounds.sql). A query that asks of nothing but values is `alone`: it is known exactly.
WITH counted AS (
  SELECT
    query,
    sum(CAST(hits AS DOUBLE) / n) AS hits,
    sum(CAST(CAST(n AS HUGEINT) * hits - squares AS DOUBLE) / (CAST(n AS DOUBLE) * n)) AS variance,
    sum(low) AS low,
    sum(high) AS high
  FROM summed
  GROUP BY query
)
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  coalesce(hits, 0.0) AS estimate,
  CASE WHEN alone THEN 0.0 ELSE coalesce(sqrt(greatest(variance, 0)), 0.0) END AS spread,
  CAST(coalesce(low, 0) AS BIGINT) AS low,
  CAST(coalesce(high, 0) + withheld.rows AS BIGINT) AS high
FROM asked
LEFT JOIN counted USING (query)
CROSS JOIN withheld
