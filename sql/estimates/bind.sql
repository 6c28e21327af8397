-- DuckDB's message about the text of a query that it cannot bind or parse, NULL if it can. The query is not run, and no
-- error is raised, because an error would end the transaction.
SELECT
  CASE
    WHEN json_extract_string(plan, '$.error_type') IN ('binder', 'catalog', 'parser')
    THEN json_extract_string(plan, '$.error_message')
  END AS message
FROM (SELECT CAST(json_serialize_plan($1) AS JSON) AS plan) AS bound
