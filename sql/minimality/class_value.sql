-- The values of each class: class_no, code, n (its rows), place (its number in the class, from 1), size (the rows of
-- the class), numbers (the n of all values of the class).
SELECT class_no, code, n,
  row_number() OVER (PARTITION BY class_no ORDER BY code ASC NULLS LAST) AS place,
  CAST(sum(n) OVER (PARTITION BY class_no) AS BIGINT) AS size,
  list(n) OVER (PARTITION BY class_no ORDER BY code ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS numbers
FROM (SELECT class_no, code, count(*) AS n FROM published_row GROUP BY class_no, code) AS counted
