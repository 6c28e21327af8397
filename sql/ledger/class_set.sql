-- The set of values of each class, as sql/catalog/0016_value_sets.sql knows it. value_of_class has class_no, attribute, value and n. The bits
-- of a value are computed once where it has one row, which is most of the time or always.
-- parameter: $1 the series, $2 the sensitive attribute
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
