SELECT "class_id", "size", CAST("size" AS DOUBLE) AS "excess" FROM {#1} AS "equivalence_class" WHERE ("entities" < {#2})
