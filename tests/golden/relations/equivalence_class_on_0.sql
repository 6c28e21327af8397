SELECT
  "set_class" AS "class_id", CAST("system"."main".sum("size") AS BIGINT) AS "size",
  CAST("system"."main".sum("entities") AS BIGINT) AS "entities"
FROM {#1}
GROUP BY "set_class"
