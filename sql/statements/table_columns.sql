-- The columns of a table, each with its position, its type, and whether it is generated: a generated column may have
-- different values at each reading. parameters: the database, the schema and the name of the table
SELECT column_index, column_name, data_type, is_generated
FROM system.main.duckdb_columns()
WHERE database_name = ? AND schema_name = ? AND table_name = ?
