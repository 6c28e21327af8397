SELECT "item_0"."class", "item_0"."code" AS "code_0", "item_1"."code" AS "code_1", COUNT(*) AS "n"
FROM {#1} AS "item_0"
JOIN {#1} AS "item_1" ON "item_1"."list_id" = "item_0"."list_id" AND "item_1"."code" > "item_0"."code"
GROUP BY "item_0"."class", "item_0"."code", "item_1"."code"
