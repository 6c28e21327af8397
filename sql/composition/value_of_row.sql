-- The rows of classes by what is compared of a row, each such row and each value of the attribute with a number.
SELECT release, class, sum(n) AS n, code, shown
FROM (
  SELECT release, class, n, dense_rank() OVER (ORDER BY whole ASC NULLS LAST) AS code,
    dense_rank() OVER (ORDER BY value ASC NULLS LAST) AS shown
  FROM counted_row
) AS coded
GROUP BY release, class, code, shown
