-- The columns of a relation in their order. parameters: its database, schema and name
SELECT column_name FROM system.main.duckdb_columns() WHERE database_name = ? AND schema_name = ? AND table_name = ?
ORDER BY column_index ASC NULLS LAST
