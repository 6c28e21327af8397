SELECT MIN("distinct_values") AS "achieved"
FROM (SELECT COUNT(*) AS "distinct_values" FROM {#1} AS "class_sensitive_value" GROUP BY "class_id") AS "class"
