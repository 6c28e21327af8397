-- Bounds of the number of rows that satisfy, for each component, group (key) and aggregate (number).
--
-- bucket_limit has what bucket_limits.sql says of each bucket. In a bucket in which s of n values satisfy what is asked of
-- them, and of whose rows m may satisfy the rest, these are at least m + s - n and at most the lesser of m and s. The values of several
-- places are independent of each other, so the narrowest place bounds all of them, and where rows fail by single values,
-- these are no more than the failing values of all places added up (Frechet's bound).
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
