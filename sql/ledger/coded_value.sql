-- The rows of classes, with a number for each different row (code) and for each value of the examined attribute
-- (shown): release, class, n, code, shown.
SELECT v.release, v.class, v.n, k.code, k.shown
FROM value_of_class AS v
JOIN (
  SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS code, dense_rank() OVER (ORDER BY shown ASC NULLS LAST) - 1 AS shown
  FROM (SELECT DISTINCT value, shown FROM value_of_class) AS each
) AS k ON k.value IS NOT DISTINCT FROM v.value
