SELECT "class_id", CAST(MAX("n") AS DOUBLE) AS "most", CAST(COUNT(*) AS DOUBLE) AS "distinct_values"
FROM "class_sensitive_value_0" AS "class_sensitive_value"
GROUP BY "class_id"
