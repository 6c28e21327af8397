SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS BIGINT) AS "entities"
FROM {#1} AS {#2}
GROUP BY "class_id"
