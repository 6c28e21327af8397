SELECT CAST(0 AS BIGINT) AS "index", "class_id", "size"
FROM "equivalence_class"
WHERE NOT "class_id" IN (SELECT "class_id" FROM "kept")
