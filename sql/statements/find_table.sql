-- The table with exactly this full name: its kind, database, schema and name, in the columns of find_relation.sql.
-- parameters: $1 the name, $2 the schema, $3 the database
SELECT NULL AS lasts, NULL AS elsewhere, 'table' AS kind, database_name, schema_name, table_name AS name
FROM system.main.duckdb_tables()
WHERE table_name = $1 AND schema_name = $2 AND database_name = $3
