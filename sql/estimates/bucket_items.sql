-- The numbers that a sum over rows in buckets may add up; bucket_ends.sql takes as many of them as rows may satisfy.
--
-- value: for each aggregate (number) of values of buckets, the values of each signature. A bucket's rows have each
-- value as often as the bucket has it, and at most as many rows take the values of a signature as may satisfy with it
-- (room). The numbers of other aggregates belong to the rows themselves, some of which must satisfy (must).
-- combination: the rows of bucket_limits.sql. The rows that are bounded together are a `component`.
WITH held AS (
  SELECT key, number, place, bucket, signature, any_value(unit) AS unit, sum(n) AS room
  FROM (
    SELECT DISTINCT id, key, number, unit, n, place, bucket, signature
    FROM (SELECT id, key, number, unit, n, unnest(drawn, recursive := true) FROM combination WHERE holds) AS taken
  ) AS class
  GROUP BY key, number, place, bucket, signature
)
SELECT
  CAST(held.bucket AS VARCHAR) AS component,
  held.key, held.number, held.unit,
  held.signature AS part,
  CAST(held.room AS HUGEINT) AS room,
  false AS must,
  CAST(value.weight AS HUGEINT) AS n,
  value.value AS least,
  value.value AS greatest
FROM held
JOIN value USING (number, place, signature)
UNION ALL
SELECT
  CAST(component AS VARCHAR) AS component,
  key, number,
  any_value(unit) AS unit,
  id AS part,
  CAST(any_value(n) AS HUGEINT) AS room,
  count(*) = any_value(ways) AS must,
  CAST(any_value(n) AS HUGEINT) AS n,
  CASE WHEN count(*) = count(least) THEN min(least) END AS least,
  CASE WHEN count(*) = count(greatest) THEN max(greatest) END AS greatest
FROM combination
WHERE holds AND number NOT IN (SELECT number FROM value)
GROUP BY component, key, number, id
