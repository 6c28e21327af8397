-- The size of the smallest bucket, and whether no bucket has a value twice.
SELECT min(size) AS least, coalesce(bool_and(once), true) AS once
FROM (
  SELECT bucket, sum(count) AS size,
    bool_and(count = 1) AND count(*) = count(DISTINCT value) + max(CASE WHEN value IS NULL THEN 1 ELSE 0 END) AS once
  FROM values_of_bucket
  GROUP BY bucket
) AS each
