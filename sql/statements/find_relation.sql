-- The tables and views that a name of one to three parts may mean. The name means the least row: temporary relations
-- come before others, then those of the current schema, then those of main. $1 is the name, $2 the schema, $3 the
-- database, NULL if not given. A view that represents Parquet files, which do not change, is a table: nobody reads its
-- rows through it. Names are equal if they differ only in the case of A to Z: to DuckDB, É and é are two tables.
SELECT database_name <> 'temp' AS lasts, schema_name <> system.main.current_schema() AS elsewhere, kind, database_name,
    schema_name, name
FROM (
    SELECT 'table' AS kind, database_name, schema_name, table_name AS name FROM system.main.duckdb_tables()
    UNION ALL
    SELECT CASE WHEN system.main.starts_with(comment, 'sqlanon: rows in Parquet at ') THEN 'table' ELSE 'view' END,
        database_name, schema_name, view_name
    FROM system.main.duckdb_views()
), (SELECT 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' AS upper, 'abcdefghijklmnopqrstuvwxyz' AS lower)
WHERE system.main.translate(name, upper, lower) = system.main.translate($1, upper, lower)
  AND CASE WHEN $2 IS NULL THEN schema_name IN (system.main.current_schema(), 'main')
           ELSE system.main.translate(schema_name, upper, lower) = system.main.translate($2, upper, lower) END
  AND CASE WHEN $3 IS NULL THEN database_name IN (system.main.current_database(), 'temp')
           ELSE system.main.translate(database_name, upper, lower) = system.main.translate($3, upper, lower) END
