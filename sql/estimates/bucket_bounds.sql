-- Bounds of the number of rows that satisfy a query, for each component, group (key) and aggregate (number).
--
-- bucket_limit: the rows of bucket_limits.sql. Say m rows of a bucket may satisfy the conditions on other columns, and
-- s of its n values satisfy the conditions on values: then at least m + s - n and at most min(m, s) rows satisfy all
-- conditions. The values of several places are independent of each other, so the narrowest place bounds all of them.
-- Where rows fail by single values, at most as many rows fail as values of all places fail (Frechet's bound).
WITH placed AS (
  SELECT
    component, place, key, number,
    sum(possible) AS possible,
    sum(open) AS open,
    sum(least(open, satisfying)) AS satisfying,
    sum(least(open, failing)) AS failing,
    sum(least(open, apart)) AS apart,
    bool_and(whole) AS whole
  FROM bucket_limit
  GROUP BY component, place, key, number
)
SELECT
  component, key, number,
  any_value(possible) - least(
    any_value(open), min(failing), CASE WHEN bool_and(whole) THEN sum(apart) ELSE any_value(open) END
  ) AS low,
  any_value(possible) - any_value(open) + min(satisfying) AS high
FROM placed
GROUP BY component, key, number
