SELECT "counted"."class_id", "coded"."code" AS "value", "counted"."n"
FROM (
  SELECT "class_id" AS "class_id", "value" AS "value_0", CAST("count" AS BIGINT) AS "n"
  FROM (SELECT "bucket" AS "class_id", "value", "count" FROM "memory"."main"."__sqlanon_candidate_2") AS "bucket_row"
) AS "counted"
JOIN "sensitive_code_0" AS "coded" ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0"
