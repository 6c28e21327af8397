-- The definitions of the macros that a user made: a query, or an expression that may contain queries.
SELECT function_type, database_name, schema_name, function_name, macro_definition
FROM system.main.duckdb_functions()
WHERE NOT internal AND function_type IN ('macro', 'table_macro')
