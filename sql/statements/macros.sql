-- What the macros that somebody made stand for: a query, or an expression that may hold queries.
SELECT function_type, database_name, schema_name, function_name, macro_definition
FROM system.main.duckdb_functions()
WHERE NOT internal AND function_type IN ('macro', 'table_macro')
