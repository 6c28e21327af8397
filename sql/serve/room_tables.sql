-- The tables of a room with their columns, in the order of both.
SELECT schema_name, table_name, column_name, data_type
FROM system.main.duckdb_columns()
WHERE NOT internal AND database_name = system.main.current_database()
ORDER BY schema_name ASC NULLS LAST, table_name ASC NULLS LAST, column_index ASC NULLS LAST
