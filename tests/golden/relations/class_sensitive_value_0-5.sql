SELECT
  (CAST("class_id" AS BIGINT) << 31) | "part_0" AS "class_id", "subject_0" AS "value", CAST(SUM("n") AS BIGINT) AS "n"
FROM "half_row"
GROUP BY (CAST("class_id" AS BIGINT) << 31) | "part_0", "subject_0"
