SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS BIGINT) AS "entities"
FROM "class_value_0"
GROUP BY "class_id"
