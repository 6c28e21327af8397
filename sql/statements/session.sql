-- The state of a session when a statement begins: the settings that determine what the text of a query means; the
-- search path for names; the numbers of its transaction and of this query; the number of connections; the databases,
-- and how many of them have a catalog other than DuckDB's; the schemas of the current database; the number of columns
-- of its schema anon, and the number of columns of the table of applied migrations.
SELECT
    system.main.current_setting('default_collation'),
    system.main.current_setting('integer_division'),
    system.main.current_setting('preserve_identifier_case'),
    system.main.current_setting('current_dialect'),
    system.main.current_setting('dialect_compatibility_mode'),
    CAST(system.main.current_setting('active_grammar_extensions') AS VARCHAR),
    system.main.current_setting('allow_parser_override_extension'),
    system.main.current_setting('max_expression_depth'),
    system.main.current_database(),
    system.main.current_schema(),
    system.main.current_setting('search_path'),
    system.main.txid_current(),
    system.main.current_query_id(),
    connections.count,
    databases.database_names,
    databases.foreign_databases,
    schemas.schema_names,
    catalog_columns.of_anon,
    catalog_columns.of_migrations
FROM system.main.duckdb_connection_count() AS connections,
    (
        SELECT system.main.list(database_name) AS database_names,
            system.main.count(*) FILTER (WHERE type <> 'duckdb') AS foreign_databases
        FROM system.main.duckdb_databases()
    ) AS databases,
    (
        SELECT system.main.list(schema_name) AS schema_names FROM system.main.duckdb_schemas()
        WHERE database_name = system.main.current_database()
    ) AS schemas,
    (
        SELECT system.main.count(*) AS of_anon,
            system.main.count(*) FILTER (
                WHERE system.main.lower(table_name) = 'schema_version'
                    AND system.main.lower(column_name) IN ('version', 'slug', 'sha256')
            ) AS of_migrations
        FROM system.main.duckdb_columns()
        WHERE database_name = system.main.current_database() AND system.main.lower(schema_name) = 'anon'
    ) AS catalog_columns
