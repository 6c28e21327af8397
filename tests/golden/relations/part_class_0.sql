SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS BIGINT) AS "entities"
FROM {#1}
GROUP BY "class_id"
