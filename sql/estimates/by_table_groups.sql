-- The count of each query, its spread and its bounds, from the groups of the tables that may satisfy it.
--
-- matched: rows of the release by their groups: of n rows `known` satisfy the condition that is decided exactly (all of
-- them if there is none), and each of these satisfies the rest with the probability p. grouped: for each group of each
-- table (place) how many of its `total` values satisfy, how many rows may satisfy, and how many of these are `open`,
-- not certain. Bounds and components are those of bucket_bounds.sql.
WITH counted AS (
  SELECT query, sum(known * p) AS hits, sum(known * p * (1 - p)) AS variance
  FROM matched
  GROUP BY query
), placed AS (
  SELECT
    query, component, place,
    sum(possible) AS possible,
    sum(open) AS open,
    sum(least(open, satisfying)) AS satisfying,
    sum(least(open, total - satisfying + least(satisfying, possible - always))) AS failing,
    sum(least(open, total - satisfying)) AS apart
  FROM grouped
  GROUP BY query, component, place
), narrowest AS (
  SELECT
    query,
    CASE WHEN count(*) = 1 THEN any_value(possible) - any_value(open) + any_value(satisfying)
      ELSE any_value(possible) - least(any_value(open), min(failing), sum(apart)) END AS low,
    any_value(possible) - any_value(open) + min(satisfying) AS high
  FROM placed
  GROUP BY query, component
), bounded AS (
  SELECT query, sum(low) AS low, sum(high) AS high
  FROM narrowest
  GROUP BY query
)
SELECT
  asked.query,
  coalesce(CAST(hits AS DOUBLE), 0.0) AS estimate,
  coalesce(sqrt(greatest(CAST(variance AS DOUBLE), 0)), 0.0) AS spread,
  CAST(coalesce(low, 0) AS BIGINT) AS low,
  CAST(coalesce(high, 0) + withheld.rows AS BIGINT) AS high
FROM asked
LEFT JOIN counted ON asked.query = counted.query
LEFT JOIN bounded ON asked.query = bounded.query
CROSS JOIN withheld
