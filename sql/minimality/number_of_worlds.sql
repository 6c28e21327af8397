-- How many ways there are to deal the values of each class out among its rows: the natural logarithm.
SELECT coalesce(sum(ways), 0.0) AS ways
FROM (
  SELECT lgamma(any_value(size) + 1.0) - sum(lgamma(n + 1.0)) AS ways
  FROM class_value
  GROUP BY class_no
) AS class
