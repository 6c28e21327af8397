-- The count of each query, its spread and its bounds, from sums over buckets.
--
-- summed has for each query sums over some of the buckets: the expected number of rows that satisfy (hits), its variance,
-- and its bounds, low and high. A query that reads nothing but the values of one set is `alone`: it is known exactly.
WITH counted AS (
  SELECT
    query,
    sum(hits) AS hits,
    sum(variance) AS variance,
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
