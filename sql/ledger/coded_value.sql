-- The rows of classes, those that are alike with a number, code; of the value that is looked at the number is shown.
SELECT v.release, v.class, v.n, k.code, k.shown
FROM value_of_class AS v
JOIN (
  SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS code, dense_rank() OVER (ORDER BY shown ASC NULLS LAST) - 1 AS shown
  FROM (SELECT DISTINCT value, shown FROM value_of_class) AS each
) AS k ON k.value IS NOT DISTINCT FROM v.value
