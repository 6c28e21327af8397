-- The columns of the tables in the schema anon of the current database.
SELECT lower(table_name), lower(column_name) FROM duckdb_columns()
WHERE database_name = current_database() AND lower(schema_name) = 'anon'
