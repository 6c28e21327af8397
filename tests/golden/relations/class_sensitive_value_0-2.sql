SELECT "counted"."class_id", "coded"."code" AS "value", "counted"."n"
FROM "class_value_0" AS "counted"
JOIN "sensitive_code_0" AS "coded" ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
