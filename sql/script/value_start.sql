-- The row numbers at which the rows of each value begin, by trial: trial, buckets, base, value, spread, first, behind.
--
-- value_count: value, n, draw; trial: trial, buckets, base. spread counts the rows that are in buckets of their own, at
-- most one in each bucket; they are numbered from first, and the value's other rows from behind, after the spread rows
-- of all values. With 2 buckets, the first value has 3 rows and the other 1: spread 2 and 1, first 0 and 2, behind 3
-- and 4.
SELECT trial, buckets, base, value, spread,
  CAST(sum(spread) OVER (PARTITION BY trial ORDER BY draw ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - spread AS first,
  CAST(sum(spread) OVER (PARTITION BY trial) AS BIGINT)
    + CAST(sum((n - spread)) OVER (PARTITION BY trial ORDER BY draw ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - (n - spread) AS behind
FROM (
  SELECT tried.trial, tried.buckets, tried.base, counted.value, counted.n, counted.draw,
    CASE WHEN counted.n < tried.buckets THEN counted.n ELSE tried.buckets END AS spread
  FROM value_count AS counted
  CROSS JOIN trial AS tried
) AS spread_value
