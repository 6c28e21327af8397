SELECT "class_id", COUNT(*) AS "size", COUNT(*) AS "entities" FROM {#1} GROUP BY "class_id"
