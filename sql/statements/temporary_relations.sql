-- The temporary tables and views of this session, registered data frames among them.
SELECT table_name AS name FROM system.main.duckdb_tables() WHERE database_name = 'temp'
UNION ALL
SELECT view_name FROM system.main.duckdb_views() WHERE database_name = 'temp'
