-- What may hide the schema anon of the current database: how many databases are attached under the name anon, the
-- current database, and the search path, in which a schema anon of another database would come first.
SELECT
    system.main.count(*) FILTER (WHERE system.main.lower(database_name) = 'anon'),
    system.main.current_database(),
    system.main.current_setting('search_path')
FROM system.main.duckdb_databases()
