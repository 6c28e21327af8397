-- The SHA-256 of the text of a view of the current database, as DuckDB keeps it. parameters: its schema and name
SELECT sha256(sql)
FROM system.main.duckdb_views()
WHERE database_name = system.main.current_database() AND schema_name = ? AND view_name = ?
