-- The user's macros that have the name of a built-in function or operator: calls in a release would run them instead.
SELECT system.main.min(function_name)
FROM system.main.duckdb_functions()
GROUP BY system.main.lower(function_name)
HAVING system.main.bool_or(internal) AND system.main.bool_or(NOT internal AND function_type IN ('macro', 'table_macro'))
ORDER BY 1 ASC NULLS LAST
