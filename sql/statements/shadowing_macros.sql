-- Macros of the user's that have the name of a built-in function or operator: calls in a
-- release would mean them instead.
SELECT min(function_name)
FROM duckdb_functions()
GROUP BY lower(function_name)
HAVING bool_or(internal) AND bool_or(NOT internal AND function_type IN ('macro', 'table_macro'))
ORDER BY 1 ASC NULLS LAST
