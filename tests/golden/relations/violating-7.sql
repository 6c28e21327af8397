SELECT "class_id"
FROM {#1} AS "class_itemset_value"
WHERE
  "items" <= 2
  AND (
    "n" < 2
    OR CAST("most" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST("n" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
  )
GROUP BY "class_id"
