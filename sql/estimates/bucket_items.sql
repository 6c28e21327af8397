-- What a sum over rows in buckets adds up, of which bucket_ends.sql takes as many as may satisfy.
--
-- value has, where an aggregate (number) is of values of buckets, each of them with the signature that it belongs to:
-- a bucket's rows have each of its values as often as the bucket does, and no signature is that of more rows than may
-- satisfy with it (room). The numbers of other aggregates are those of the rows themselves, of which some have to
-- satisfy (must). combination is that of bucket_limits.sql; what is bounded by itself is called `component`.
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
