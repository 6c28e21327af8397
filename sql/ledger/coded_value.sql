-- The values of classes, each value with a number.
SELECT v.release, v.class, v.value, v.n, k.code
FROM value_of_class AS v
JOIN (
  SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS code
  FROM (SELECT DISTINCT value FROM value_of_class) AS each
) AS k ON k.value IS NOT DISTINCT FROM v.value
