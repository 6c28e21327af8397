-- The numbers of buckets that are tried: trial, buckets, base, the number of buckets in the trials before.
--
-- trial_size: trial, size, the rows of a bucket; value_count: n, the rows of each value. 100 rows in buckets of 2, 4
-- and 8 rows make 50, 25 and 12 buckets, of the bases 0, 50 and 75.
SELECT trial, buckets,
  CAST(sum(buckets) OVER (ORDER BY trial ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT)
    - buckets AS base
FROM (
  SELECT trial_size.trial,
    CAST(CASE WHEN total.rows < trial_size.size THEN 1 ELSE total.rows // trial_size.size END AS BIGINT) AS buckets
  FROM trial_size
  CROSS JOIN (SELECT coalesce(CAST(sum(n) AS BIGINT), 0) AS rows FROM value_count) AS total
) AS sized
