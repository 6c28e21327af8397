-- The databases of this connection.
SELECT database_name FROM system.main.duckdb_databases()
