-- The stated counterfeits, the values without a row, and the buckets that do not fit: stated, counterfeits, misfits;
-- one row.
--
-- A bucket does not fit if it has no number or no row, or if its stated counterfeits are not its values without a row.
SELECT coalesce(sum(stated), 0) AS stated, coalesce(sum(n - row_count), 0) AS counterfeits,
  coalesce(sum(CASE WHEN bucket IS NOT NULL AND row_count > 0 AND stated = n - row_count AND stated >= 0 THEN 0 ELSE 1 END), 0) AS misfits
FROM (
  SELECT bucket, sum(row_count) AS row_count, sum(n) AS n, sum(stated) AS stated
  FROM (
    SELECT bucket, 1 AS row_count, 0 AS n, 0 AS stated FROM row_of_bucket
    UNION ALL
    SELECT bucket, 0 AS row_count, count AS n, 0 AS stated FROM values_of_bucket
    UNION ALL
    SELECT bucket, 0 AS row_count, 0 AS n, counterfeits AS stated FROM counterfeits_of_bucket
  ) AS each
  GROUP BY bucket
) AS bucket_sums
