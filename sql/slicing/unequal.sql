-- The number of buckets whose number of rows in some of $count tables differs, or whose number is NULL: one row.
--
-- counted: bucket, n, a row for each table in which the bucket has rows. With (1, 2), (1, 2), (2, 3) and two tables: 1.
SELECT count(*)
FROM (
  SELECT bucket FROM counted GROUP BY bucket HAVING min(n) <> max(n) OR count(*) <> $count OR bucket IS NULL
) AS broken
