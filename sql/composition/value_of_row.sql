-- The rows of classes by the compared columns: release, class, n, code (a number for each such row), shown (a number
-- for each value of the attribute).
SELECT release, class, sum(n) AS n, code, shown
FROM (
  SELECT release, class, n, dense_rank() OVER (ORDER BY whole ASC NULLS LAST) AS code,
    dense_rank() OVER (ORDER BY value ASC NULLS LAST) AS shown
  FROM counted_row
) AS coded
GROUP BY release, class, code, shown
