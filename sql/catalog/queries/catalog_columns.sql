-- The columns of the tables in the schema anon of the current database.
SELECT system.main.lower(table_name), system.main.lower(column_name) FROM system.main.duckdb_columns()
WHERE database_name = system.main.current_database() AND system.main.lower(schema_name) = 'anon'
