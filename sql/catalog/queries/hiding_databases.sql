-- How many databases are attached under the name anon, which hides the schema anon of the current one.
SELECT count(*) FROM duckdb_databases() WHERE lower(database_name) = 'anon'
