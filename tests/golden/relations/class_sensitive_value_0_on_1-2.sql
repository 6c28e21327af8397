SELECT "class"."set_class" AS "class_id", "part"."value", CAST(SUM("part"."n") AS BIGINT) AS "n"
FROM {#1} AS "part"
JOIN {#2} AS "class" ON "part"."class_id" = "class"."class_id"
GROUP BY "class"."set_class", "part"."value"
