SELECT DISTINCT "of_class"."class", "listed"."list_id", "coded"."code"
FROM {#1} AS "listed"
JOIN "list_class_0" AS "of_class" ON "listed"."class_id" IS NOT DISTINCT FROM "of_class"."class_id"
JOIN {#2} AS "coded" ON "listed"."item" IS NOT DISTINCT FROM "coded"."item"
