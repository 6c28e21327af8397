-- What DuckDB says of the text of a query that it cannot bind or parse, without running it and without an error, which
-- would end the transaction. NULL where it can.
SELECT
  CASE
    WHEN json_extract_string(plan, '$.error_type') IN ('binder', 'catalog', 'parser')
    THEN json_extract_string(plan, '$.error_message')
  END AS message
FROM (SELECT CAST(json_serialize_plan($1) AS JSON) AS plan) AS bound
