-- The current numbers of the sequences by which DuckDB numbers entries of a catalog, and queries: the number of this
-- connection's temporary database, which is new, the number of this query, and the number of loaded extensions.
SELECT
    database_oid,
    system.main.current_query_id(),
    (SELECT system.main.count(*) FROM system.main.duckdb_extensions() WHERE loaded)
FROM system.main.duckdb_databases()
WHERE database_name = 'temp'
