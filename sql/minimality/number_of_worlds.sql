-- The natural logarithm of the number of worlds, the ways to assign the values of each class to its rows: ways; one
-- row.
SELECT coalesce(sum(ways), 0.0) AS ways
FROM (
  SELECT lgamma(any_value(size) + 1.0) - sum(lgamma(n + 1.0)) AS ways
  FROM class_value
  GROUP BY class_no
) AS class
