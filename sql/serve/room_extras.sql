-- The objects of a file that no room has: views, macros, types, sequences, and indexes.
SELECT view_name AS extra FROM system.main.duckdb_views() WHERE NOT internal
UNION ALL
SELECT function_name FROM system.main.duckdb_functions() WHERE NOT internal
UNION ALL
SELECT type_name FROM system.main.duckdb_types() WHERE NOT internal
UNION ALL
SELECT sequence_name FROM system.main.duckdb_sequences()
UNION ALL
SELECT index_name FROM system.main.duckdb_indexes()
