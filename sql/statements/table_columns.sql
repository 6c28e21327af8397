-- The columns of a table in their order, with their types, and whether each is generated: reading that twice may give
-- different rows. parameters: its database, schema and name
SELECT column_name, data_type, is_generated
FROM system.main.duckdb_columns()
WHERE database_name = ? AND schema_name = ? AND table_name = ?
ORDER BY column_index ASC NULLS LAST
