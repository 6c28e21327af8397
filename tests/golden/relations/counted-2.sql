SELECT "item_0"."class", "item_0"."code" AS "code_0", COUNT(*) AS "n"
FROM {#1} AS "item_0"
GROUP BY "item_0"."class", "item_0"."code"
