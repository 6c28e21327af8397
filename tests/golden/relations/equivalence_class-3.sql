SELECT
  "class_id", CAST("system"."main".sum("n") AS BIGINT) AS "size", CAST("system"."main".sum("n") AS BIGINT) AS "entities"
FROM "class_value_0"
GROUP BY "class_id"
