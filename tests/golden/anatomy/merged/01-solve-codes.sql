-- Look for: three models of the whole table as one bucket, joined by UNION ALL; t-closeness compares the table with
-- itself there, so only the other two can fail.

SELECT COUNT(*)
FROM (
  SELECT "class_id" AS "class_id"
  FROM (
    WITH "class_value_0" AS ({class_value_0-2}), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
      SELECT
        "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
      FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
    ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2}), "sensitive_value_0" AS (
      {sensitive_value_0("class_sensitive_value_0")}
    )
    SELECT "class_id"
    FROM ({violation-7}) AS "violation"
  ) AS "broken"
) AS "broken";
