-- NULL as a leaf of each label that may represent it.
--
-- null_label: label and weight, 1 if NULL is one more value below the label, 0 if it is merely possible. $nothing is
-- NULL in the column's type. The moments of a value are NULL: a query's argument is evaluated on the value itself.
SELECT
  label,
  $nothing AS value,
  max(weight) AS weight,
  CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, NULL AS least, NULL AS greatest
FROM null_label
GROUP BY label
