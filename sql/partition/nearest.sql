-- The first part of each region that belongs to the upper half of the cut nearest to the median: region, first_upper.
--
-- parts: label (3 region + 0 below the cut value, 1 at it, 2 above) and rows. Fewer than half of the rows are below the
-- median, and at least half at it or below. So the cuts before and after the median leave the same difference between
-- the halves if as many rows are above the median as below it.
SELECT region, CASE WHEN below = 0 OR above > below THEN 2 ELSE 1 END AS first_upper
FROM (
  SELECT CAST(label // 3 AS BIGINT) AS region,
    CAST(sum(CASE WHEN label % 3 = 0 THEN rows ELSE 0 END) AS BIGINT) AS below,
    CAST(sum(CASE WHEN label % 3 = 2 THEN rows ELSE 0 END) AS BIGINT) AS above
  FROM parts
  GROUP BY CAST(label // 3 AS BIGINT)
) AS sums
