SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS DOUBLE) AS "excess"
FROM {#1} AS "class_sensitive_value"
GROUP BY "class_id"
HAVING COUNT(*) < {#2}
