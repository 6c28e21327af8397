-- Counts the buckets with other numbers of rows in one table than of values in the other, whose rows are all in order.
--
-- Rows are added and values subtracted, so that one grouping counts both.
SELECT count(*)
FROM (
  SELECT bucket
  FROM (
    SELECT bucket, CAST(1 AS BIGINT) AS n FROM exact
    UNION ALL
    SELECT bucket, -"count" AS n FROM sensitive
  ) AS either
  GROUP BY bucket
  HAVING sum(n) <> 0
) AS bucket
