SELECT "class_id" AS "class_id", "subject_0" AS "value", CAST(SUM("n") AS BIGINT) AS "n"
FROM "half_row"
GROUP BY "class_id", "subject_0"
