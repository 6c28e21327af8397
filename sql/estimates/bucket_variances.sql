-- The variances of sums over rows in buckets, for each group (key) and aggregate (number).
--
-- A bucket assigns its N values to its rows without repetition. Say row i adds f(i, j) if it has the value j. The sum
-- over all rows then has N / (N - 1) times the variance of independent rows, less the squared differences of the means
-- over rows, f(j), from their own mean (Hoeffding, A combinatorial central limit theorem, 1951, theorem 2); covariances
-- likewise. A value that no row has belongs to a row that adds nothing.
--
-- combination: the rows of bucket_limits.sql, with one place and no labels; dealt: the aggregates that add up the
-- values of the bucket themselves; alike: bucket and copies, the number of equal buckets that a bucket represents.
WITH class AS (
  SELECT
    any_value(drawn[1].bucket) AS bucket,
    any_value(drawn[1].total) AS total,
    id, key, number,
    any_value(n) AS n,
    sum(share) AS p,
    sum(share * mean) AS first,
    sum(share * square) AS second
  FROM combination
  WHERE holds
  GROUP BY id, key, number
), independent AS (
  SELECT
    bucket, key, number,
    any_value(total) AS total,
    sum(n * p) / any_value(total) AS hit,
    sum(n * first) / any_value(total) AS value,
    sum(n * p * (1 - p)) AS hits_variance,
    sum(n * first * (1 - p)) AS covariance,
    sum(n * (second - first * first)) AS value_variance,
    sum(n * second) AS magnitude
  FROM class
  GROUP BY bucket, key, number
), signature AS (
  SELECT
    drawn[1].bucket AS bucket,
    key, number,
    any_value(drawn[1].weight) AS weight,
    any_value(drawn[1].total) AS total,
    sum(n) AS hits,
    sum(n * mean) AS value,
    sum(n * square) AS second
  FROM combination
  WHERE holds
  GROUP BY drawn[1].bucket, drawn[1].signature, key, number
), mean AS (
  SELECT
    bucket, key, number,
    sum(weight * (hits / total) * (hits / total)) AS hits_square,
    sum(weight * (hits / total) * (value / total)) AS product,
    sum(weight * CASE WHEN number IN (SELECT number FROM dealt) THEN (hits / total) * (second / total)
      ELSE (value / total) * (value / total) END) AS value_square
  FROM signature
  GROUP BY bucket, key, number
), varied AS (
  SELECT
    independent.key, independent.number, magnitude,
    total / nullif(total - coalesce(copies, 1), 0) AS factor,
    hits_variance - (hits_square - total * hit * hit) AS hits_variance,
    covariance - (product - total * hit * value) AS covariance,
    value_variance - (value_square - total * value * value) AS value_variance
  FROM independent
  JOIN mean ON independent.bucket IS NOT DISTINCT FROM mean.bucket
    AND independent.key IS NOT DISTINCT FROM mean.key AND independent.number = mean.number
  LEFT JOIN alike ON independent.bucket IS NOT DISTINCT FROM alike.bucket
)
SELECT
  key, number,
  -- What is left by rounding alone is no variance.
  sum(CASE WHEN hits_variance > 1e-12 THEN factor * hits_variance ELSE 0 END) AS hits_variance,
  sum(coalesce(factor * covariance, 0)) AS covariance,
  sum(CASE WHEN value_variance > 1e-12 * magnitude THEN factor * value_variance ELSE 0 END) AS value_variance
FROM varied
GROUP BY key, number
