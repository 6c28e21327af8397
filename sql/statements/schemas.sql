-- The schemas of a database. parameter: its name
SELECT schema_name FROM system.main.duckdb_schemas() WHERE database_name = ?
