-- How many columns of a table are generated, so that reading them twice may give different rows.
-- parameters: its database, schema and name
SELECT system.main.count(*)
FROM system.main.duckdb_columns()
WHERE database_name = ? AND schema_name = ? AND table_name = ? AND is_generated
