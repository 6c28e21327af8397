-- Counts the buckets that have another number of rows in one table (exact) than of values in the other (sensitive), and
-- whose rows are all in order.
--
-- Rows count 1 and values minus their count, so that one grouping counts both.
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
