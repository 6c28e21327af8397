-- The size of the smallest bucket, and whether no bucket has a value twice: least, once; one row.
SELECT min(size) AS least, coalesce(bool_and(once) AND sum(n) = max(pairs), true) AS once
FROM (
  SELECT bucket, count(*) AS n, sum(count) AS size, bool_and(count = 1) AS once FROM values_of_bucket GROUP BY bucket
) AS each
CROSS JOIN (
  SELECT count(*) AS pairs FROM (SELECT DISTINCT bucket, value FROM values_of_bucket) AS pair
) AS counted
