-- The number of buckets whose number of values differs from their number of rows.
--
-- class: bucket, n (a number of rows); value: label (a bucket), weight (how often it has a value).
WITH of_rows AS (
  SELECT bucket, sum(n) AS n FROM class GROUP BY bucket
), of_values AS (
  SELECT label, sum(weight) AS n FROM value GROUP BY label
)
SELECT count(*)
FROM of_rows
FULL JOIN of_values ON of_rows.bucket IS NOT DISTINCT FROM of_values.label
WHERE of_rows.n IS DISTINCT FROM of_values.n
