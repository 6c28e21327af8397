-- The databases of this connection.
SELECT database_name FROM duckdb_databases()
