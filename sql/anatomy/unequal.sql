-- Counts the buckets that have another number of rows in one table (exact) than of values in the other (sensitive),
-- that repeat a value, or that have a value with a count below 1.
SELECT count(*)
FROM (SELECT bucket, count(*) AS n FROM exact GROUP BY bucket) AS exact
FULL JOIN (
  SELECT bucket, CAST(sum(n) AS BIGINT) AS n, max(times) AS times, min(least) AS least
  FROM (
    SELECT bucket, value, CAST(sum("count") AS BIGINT) AS n, count(*) AS times, min(coalesce("count", 0)) AS least
    FROM sensitive
    GROUP BY bucket, value
  ) AS each
  GROUP BY bucket
) AS summed ON exact.bucket IS NOT DISTINCT FROM summed.bucket
WHERE NOT exact.n IS NOT DISTINCT FROM summed.n OR summed.times > 1 OR summed.least < 1
