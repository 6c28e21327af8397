-- Macros of the user's that have the name of a built-in function or operator: calls in a
-- release would mean them instead.
SELECT DISTINCT own.function_name
FROM duckdb_functions() AS own
WHERE NOT own.internal
  AND own.function_type IN ('macro', 'table_macro')
  AND EXISTS (
      SELECT 1 FROM duckdb_functions() AS built_in
      WHERE built_in.internal AND lower(built_in.function_name) = lower(own.function_name)
  )
ORDER BY own.function_name
