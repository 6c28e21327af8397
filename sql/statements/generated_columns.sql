-- How many columns of a table are generated, so that reading them twice may give different rows.
-- parameters: its database, schema and name
SELECT count(*) FROM duckdb_columns() WHERE database_name = ? AND schema_name = ? AND table_name = ? AND is_generated
