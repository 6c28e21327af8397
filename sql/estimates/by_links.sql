-- The count of each query on two tables of a release, its spread and its bounds, from sums over the links of their
-- groups.
--
-- For a link of groups of t and t' rows, `total` is t t', and s s' is the number of pairs of rows that satisfy: `hits`
-- is the sum of s s' over the links, and `squares` the sum of its square. Each table (place) has sums over its groups:
-- `possible`, the links that may satisfy; `open`, the links of these that are not certain; and how many of the open
-- links are at most the group's rows that satisfy (satisfying), that fail (apart), and that fail or satisfy where
-- others fail (failing). The bounds are computed as in by_table_groups.sql.
WITH counted AS (
  SELECT
    query,
    sum(CAST(hits AS DOUBLE) / total) AS hits,
    sum(CAST(CAST(total AS HUGEINT) * hits - squares AS DOUBLE) / (CAST(total AS DOUBLE) * total)) AS variance
  FROM summed
  WHERE total IS NOT NULL
  GROUP BY query
), placed AS (
  SELECT
    query, place,
    sum(possible) AS possible,
    sum(open) AS open,
    sum(satisfying) AS satisfying,
    sum(failing) AS failing,
    sum(apart) AS apart
  FROM summed
  WHERE total IS NULL
  GROUP BY query, place
), narrowest AS (
  SELECT
    query,
    any_value(possible) - least(any_value(open), min(failing), sum(apart)) AS low,
    any_value(possible) - any_value(open) + min(satisfying) AS high
  FROM placed
  GROUP BY query
)
SELECT
  asked.query,
  coalesce(hits, 0.0) AS estimate,
  coalesce(sqrt(greatest(variance, 0)), 0.0) AS spread,
  CAST(coalesce(low, 0) AS BIGINT) AS low,
  CAST(coalesce(high, 0) + withheld.rows AS BIGINT) AS high
FROM asked
LEFT JOIN counted ON asked.query = counted.query
LEFT JOIN narrowest ON asked.query = narrowest.query
CROSS JOIN withheld
