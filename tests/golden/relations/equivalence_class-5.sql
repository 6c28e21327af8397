SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS BIGINT) AS "entities"
FROM (
  SELECT "class_id" AS "class_id", "value" AS "value_0", CAST("count" AS BIGINT) AS "n"
  FROM (SELECT "bucket" AS "class_id", "value", "count" FROM "memory"."main"."__sqlanon_candidate_2") AS "bucket_row"
) AS "class_value_0"
GROUP BY "class_id"
