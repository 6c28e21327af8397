SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
FROM (
  SELECT DISTINCT "value_0"
  FROM (
    SELECT "class_id" AS "class_id", "value" AS "value_0", CAST("count" AS BIGINT) AS "n"
    FROM (SELECT "bucket" AS "class_id", "value", "count" FROM "memory"."main"."__sqlanon_candidate_2") AS "bucket_row"
  ) AS "class_value_0"
) AS "occurring"
