SELECT "class_id" >> {#1} AS "index", COUNT(*) AS "classes", SUM("size" * "size") AS "squares"
FROM "equivalence_class"
GROUP BY "class_id" >> {#1}
