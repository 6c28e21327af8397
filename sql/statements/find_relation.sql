-- The table or view that a name of one to three parts means: the temporary ones first, then the
-- current schema, then main. $1 is the name, $2 the schema, $3 the database; NULL where not given.
SELECT kind, database_name, schema_name, name FROM (
    SELECT 'table' AS kind, database_name, schema_name, table_name AS name FROM duckdb_tables()
    UNION ALL
    SELECT 'view', database_name, schema_name, view_name FROM duckdb_views()
)
WHERE lower(name) = lower($1)
  AND CASE WHEN $2 IS NULL THEN schema_name IN (current_schema(), 'main') ELSE lower(schema_name) = lower($2) END
  AND CASE WHEN $3 IS NULL THEN database_name IN (current_database(), 'temp') ELSE lower(database_name) = lower($3) END
ORDER BY database_name <> 'temp', schema_name <> current_schema()
LIMIT 1
