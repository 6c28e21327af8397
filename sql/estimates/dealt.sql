-- Bounds of the counts of each group (key) and aggregate (number) where values were dealt out in buckets.
--
-- A value of a bucket belongs to as many of its rows as it is frequent there, and to no others. So of the m rows that
-- may satisfy no more do than there are values that satisfy with one of them, and no more fail than there are
-- values that fail with one: with s of n values that satisfy, at least m + s - n and at most s. Rows that satisfy with
-- every value are counted first, and leave the values to the others.
WITH counted AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY id, number) AS combinations,
    sum(CASE WHEN holds THEN 1 ELSE 0 END) OVER (PARTITION BY bucket, id, key, number) AS holding
  FROM combination
), bucketed AS (
  SELECT *, holding = combinations AS certain FROM counted
), class AS (
  SELECT
    bucket, id, key, number,
    any_value(n) AS n,
    any_value(combinations) AS combinations,
    any_value(certain) AS certain
  FROM bucketed
  GROUP BY bucket, id, key, number
  HAVING count_if(holds) > 0
), asked AS (
  SELECT
    bucket, key, number,
    sum(n) AS possible,
    sum(CASE WHEN certain THEN n ELSE 0 END) AS certain,
    sum(combinations) AS combinations
  FROM class
  GROUP BY bucket, key, number
), size AS (
  SELECT bucket, place, count(*) AS signatures, sum(weight) AS n
  FROM (
    SELECT DISTINCT bucket, place, signature, weight
    FROM (SELECT bucket, unnest(drawn, recursive := true) FROM combination) AS taken
  ) AS every
  GROUP BY bucket, place
), held AS (
  SELECT bucket, key, number, place, signature, any_value(weight) AS weight,
    count(*) AS hits, count_if(NOT certain) AS open_hits
  FROM (SELECT bucket, key, number, certain, unnest(drawn, recursive := true) FROM bucketed WHERE holds) AS taken
  GROUP BY bucket, key, number, place, signature
), bounded AS (
  SELECT
    asked.bucket, asked.key, asked.number, held.place,
    any_value(asked.certain) AS certain,
    any_value(asked.possible) AS possible,
    any_value(size.n) AS n,
    sum(CASE WHEN held.open_hits > 0 THEN held.weight ELSE 0 END) AS satisfying,
    -- A value that satisfies in every combination cannot fail.
    sum(CASE WHEN held.hits * size.signatures = asked.combinations THEN held.weight ELSE 0 END) AS never_failing
  FROM asked
  JOIN held ON asked.bucket = held.bucket AND asked.key IS NOT DISTINCT FROM held.key AND asked.number = held.number
  JOIN size ON held.bucket = size.bucket AND held.place = size.place
  GROUP BY asked.bucket, asked.key, asked.number, held.place
), narrowest AS (
  SELECT
    key, number,
    greatest(any_value(certain), max(possible + never_failing - n)) AS low,
    any_value(certain) + least(any_value(possible) - any_value(certain), min(satisfying)) AS high
  FROM bounded
  GROUP BY bucket, key, number
)
SELECT key, number, sum(low) AS low, sum(high) AS high
FROM narrowest
GROUP BY key, number
