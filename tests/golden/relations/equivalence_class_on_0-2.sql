SELECT "set_class" AS "class_id", CAST(SUM("size") AS BIGINT) AS "size", CAST(SUM("entities") AS BIGINT) AS "entities"
FROM {#1}
GROUP BY "set_class"
