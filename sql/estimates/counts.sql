-- The count of each query, its spread and its bounds, from the classes that may satisfy it.
--
-- matched: the classes with n rows each, p, the probability that a row satisfies (NULL if unknown), and whether all
-- rows satisfy for certain; the certain rows of a bucket are one class. In a bucket, `satisfying` of its `total` values
-- satisfy, and each value belongs to one row: of m rows that may satisfy at most `satisfying` do, and at most as many
-- fail as values fail (bucket_bounds.sql).
WITH bucketed AS (
  SELECT
    query,
    sum(CASE WHEN certain THEN n * 1.0 ELSE n * p END) AS hits,
    sum(CASE WHEN certain THEN 0.0 ELSE n * p * (1 - p) END) AS variance,
    bool_or(p IS NULL AND NOT certain) AS unknown,
    sum(CASE WHEN certain THEN n ELSE 0 END) AS certain_rows,
    sum(n) AS possible_rows,
    any_value(satisfying) AS satisfying,
    any_value(total) AS total
  FROM matched
  GROUP BY query, bucket
), counted AS (
  SELECT
    query,
    sum(hits) AS hits,
    sum(variance) AS variance,
    bool_or(unknown) AS unknown,
    sum(greatest(certain_rows, coalesce(possible_rows + satisfying - total, 0))) AS low,
    sum(least(possible_rows, coalesce(satisfying, possible_rows))) AS high
  FROM bucketed
  GROUP BY query
)
SELECT
  asked.query_id,
  '[]' AS groups,
  asked.result,
  CASE WHEN NOT coalesce(unknown, false) THEN coalesce(CAST(hits AS DOUBLE), 0.0) END AS estimate,
  CASE WHEN NOT coalesce(unknown, false) THEN coalesce(sqrt(greatest(CAST(variance AS DOUBLE), 0)), 0.0) END AS spread,
  CAST(coalesce(low, 0) AS BIGINT) AS low,
  CAST(coalesce(high, 0) + withheld.rows AS BIGINT) AS high
FROM asked
LEFT JOIN counted USING (query)
CROSS JOIN withheld
