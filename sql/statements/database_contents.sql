-- The objects that a user made in the databases of this connection: schema, kind and name.
SELECT schema_name, 'table' AS kind, table_name AS name FROM system.main.duckdb_tables() WHERE NOT internal
UNION ALL
SELECT schema_name, 'view', view_name FROM system.main.duckdb_views() WHERE NOT internal
UNION ALL
SELECT schema_name, 'function', function_name FROM system.main.duckdb_functions() WHERE NOT internal
UNION ALL
SELECT schema_name, 'type', type_name FROM system.main.duckdb_types() WHERE NOT internal
UNION ALL
SELECT schema_name, 'sequence', sequence_name FROM system.main.duckdb_sequences()
UNION ALL
SELECT schema_name, 'index', index_name FROM system.main.duckdb_indexes()
UNION ALL
SELECT schema_name, 'schema', schema_name FROM system.main.duckdb_schemas() WHERE NOT internal AND schema_name <> 'main'
