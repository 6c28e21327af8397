-- Who may make something in a catalog while a statement runs: the number of this query and of its transaction, how many
-- connections there are, how many databases whose catalog is not DuckDB's, and how many extensions are loaded.
SELECT
    system.main.current_query_id(),
    system.main.txid_current(),
    connections.count,
    (SELECT system.main.count(*) FROM system.main.duckdb_databases() WHERE type <> 'duckdb'),
    (SELECT system.main.count(*) FROM system.main.duckdb_extensions() WHERE loaded)
FROM system.main.duckdb_connection_count() AS connections
