-- The databases of this connection that are DuckDB files.
SELECT database_name FROM system.main.duckdb_databases() WHERE type = 'duckdb' AND path IS NOT NULL
