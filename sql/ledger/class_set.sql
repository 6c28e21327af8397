-- The number of the set of values of each class, computed as in sql/catalog/0016_value_sets.sql. value_of_class:
-- class_no, attribute, value, n. The bits of a value with one row in a class are computed once for all such classes,
-- which are most classes or all. parameter: $1 the series, $2 the sensitive attribute
SELECT v.class_no, $2 AS attribute,
  CAST(xor(
    bit_xor(CASE WHEN v.n = 1 THEN k.key ELSE md5_number(concat_ws(':', $1, hex($2), v.n, v.value)) END),
    CAST(count(*) AS UHUGEINT)
  ) AS UUID) AS value_set
FROM value_of_class AS v
JOIN (
  SELECT value, md5_number(concat_ws(':', $1, hex($2), 1, value)) AS key
  FROM (SELECT DISTINCT value FROM value_of_class WHERE attribute = $2) AS each
) AS k ON k.value IS NOT DISTINCT FROM v.value
WHERE v.attribute = $2
GROUP BY v.class_no
