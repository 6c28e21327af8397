-- The count of each query, its spread and its bounds, from sums over buckets.
--
-- Say m of a bucket's n rows satisfy the conditions on exact columns, and s of its values the conditions on values.
-- `hits` is the sum of m s over the buckets, `squares` the sum of m s^2, and low and high are the sums of the bounds of
-- bucket_bounds.sql. A query with conditions on values only is `alone`, and its count is exact.
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
