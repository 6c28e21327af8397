-- The rows of each group of a table that satisfy a query, and all its rows: query, bucket, satisfying, total.
--
-- table_values: bucket, weight (the number of rows with equal values) and the columns of the table; satisfied: query,
-- bucket and weight of the rows of `value` that satisfy a query.
WITH value AS MATERIALIZED (
  SELECT * FROM table_values
), satisfying AS (
  SELECT query, bucket, CAST(sum(weight) AS BIGINT) AS satisfying
  FROM satisfied
  GROUP BY query, bucket
), whole AS (
  SELECT bucket, CAST(sum(weight) AS BIGINT) AS total
  FROM value
  GROUP BY bucket
)
SELECT satisfying.query, satisfying.bucket, satisfying.satisfying, whole.total
FROM satisfying
JOIN whole ON satisfying.bucket IS NOT DISTINCT FROM whole.bucket
