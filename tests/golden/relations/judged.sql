SELECT "class_id"
FROM (
  SELECT "equivalence_class"."class_id", "equivalence_class"."size", CAST(0 AS DOUBLE) AS "excess"
  FROM {#1} AS "equivalence_class"
  INNER JOIN ({violating-7({#1})}) AS "violating" ON "violating"."class_id" = "equivalence_class"."class_id"
) AS "violations"
