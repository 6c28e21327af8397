-- Counts the rows that, in the order of reading, do not have a greater bucket and value than the row before; NULL is
-- the last value.
--
-- Rows with a count below 1 are counted, too, and rows that cannot be compared.
SELECT count(*)
FROM (
  SELECT bucket, value, "count" AS n, lag(bucket) OVER () AS former_bucket, lag(value) OVER () AS former_value,
    row_number() OVER () AS number
  FROM sensitive
) AS read
WHERE NOT coalesce(
  (number = 1 OR former_bucket < bucket OR (former_bucket = bucket
    AND (former_value < value OR (NOT former_value IS NULL AND value IS NULL))))
  AND n >= 1, false)
