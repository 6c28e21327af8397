SELECT *
FROM (
  (SELECT 1 AS "round", "class_id" FROM "equivalence_class")
  UNION ALL
  (SELECT 1 AS "round", NULL AS "class_id")
) AS "first"
