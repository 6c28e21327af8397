SELECT
  "equivalence_class"."class_id", "equivalence_class"."size",
  CASE
    WHEN CAST("distinct_values" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0)) < CAST('2' AS DECIMAL(38, 0))
    THEN CAST("equivalence_class"."size" AS DOUBLE)
    ELSE (
      "most" * CAST('2' AS DECIMAL(38, 0)) - CAST("equivalence_class"."size" AS DOUBLE) * CAST('1' AS DECIMAL(38, 0))
    ) / NULLIF(CAST('2' AS DECIMAL(38, 0)) - CAST('1' AS DECIMAL(38, 0)), 0)
  END AS "excess"
FROM "part_class_0" AS "equivalence_class"
INNER JOIN ({class}) AS "class" ON "class"."class_id" = "equivalence_class"."class_id"
WHERE
  CAST("most" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST("equivalence_class"."size" AS DECIMAL(38, 0)) * CAST('1' AS DECIMAL(38, 0))
