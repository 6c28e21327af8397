-- The number of groups of each region, and the number of groups in the regions before it (base).
--
-- counts: region, code, n, the rows of each value. Groups get $least rows or more, if the region has them, and can have
-- $different values each. A value with n rows is in at most min(n, g) of g groups, so g is at most the greatest number
-- with g (different - j) <= the rows without the j most frequent values, for each j < different. Returns region, rows,
-- most (the rows of the most frequent value), groups, base.
SELECT *, CAST(sum(groups) OVER (ORDER BY region ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT)
  - groups AS base
FROM (
  SELECT region, max(rows) AS rows, max(n) AS most,
    CAST(greatest(1, least(max(rows) // $least, max(rows) // $different,
      min(CASE WHEN rank < $different THEN (rows - top) // ($different - rank) END))) AS BIGINT) AS groups
  FROM (
    SELECT region, n, row_number() OVER (PARTITION BY region ORDER BY n DESC NULLS LAST, code ASC NULLS LAST) AS rank,
      CAST(sum(n) OVER (PARTITION BY region ORDER BY n DESC NULLS LAST, code ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS top,
      CAST(sum(n) OVER (PARTITION BY region) AS BIGINT) AS rows
    FROM counts
  ) AS ranked
  GROUP BY region
) AS by_region
