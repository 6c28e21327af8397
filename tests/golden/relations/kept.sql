SELECT "class_id"
FROM "equivalence_class"
WHERE
  (NOT ("class_id" = ANY (
    SELECT "class_id"
    FROM (
      SELECT "class_id", "size", CAST("size" AS DOUBLE) AS "excess"
      FROM "equivalence_class"
      WHERE ("entities" < {#1})
    ) AS "violations"
  )))
