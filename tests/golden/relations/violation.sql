SELECT "class_id", "size", CAST("size" AS DOUBLE) AS "excess" FROM "equivalence_class" WHERE "entities" < {#1}
