-- The comments on the columns of a table or view, by its database, schema and name.
SELECT column_name, comment
FROM system.main.duckdb_columns()
WHERE database_name = ? AND schema_name = ? AND table_name = ? AND comment IS NOT NULL
