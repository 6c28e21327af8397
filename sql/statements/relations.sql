-- Every table and view that this connection sees, and the text of the views that a user made.
SELECT 'table' AS kind, database_name, schema_name, table_name AS name, NULL AS text
FROM system.main.duckdb_tables()
UNION ALL
SELECT 'view', database_name, schema_name, view_name, CASE WHEN NOT internal THEN sql END
FROM system.main.duckdb_views()
