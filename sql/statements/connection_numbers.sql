-- How far the sequences have come by which DuckDB numbers what is made in a catalog, and queries: the number of the
-- temporary database of this connection, which is new, and that of this query. And how many extensions are loaded.
SELECT
    database_oid,
    system.main.current_query_id(),
    (SELECT system.main.count(*) FROM system.main.duckdb_extensions() WHERE loaded)
FROM system.main.duckdb_databases()
WHERE database_name = 'temp'
