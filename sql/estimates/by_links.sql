-- The count of each query on two tables of a release, its spread and its bounds, from sums over the links of
-- their groups.
--
-- Of links between groups of t and t' rows, t t' being `total`, s s' is how many pairs of rows satisfy: `hits` is its
-- sum, and `squares` that of its square. Each table (place) has sums over its groups: how many links may satisfy, how
-- many of these are `open`, not certain, and how many of the open ones are no more than the group's rows that satisfy,
-- than those that fail (apart), and than those that fail and those that satisfy where others fail (failing). The
-- bounds are those of by_table_groups.sql.
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
