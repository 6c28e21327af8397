SELECT "class"."class_id", "class"."size", LEAST("violation"."excess", "class"."size") AS "excess"
FROM {#1} AS "class"
JOIN ({violation-4({#2}, 3)}) AS "violation" ON "class"."set_class" = "violation"."class_id"
