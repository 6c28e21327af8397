-- The tables and views of a database file that a user made, those of its main schema first.
SELECT made.schema_name, made.table_name
FROM (
  SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal
  UNION ALL
  SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal
) AS made
WHERE made.schema_name <> 'anon'
ORDER BY
  made.schema_name <> 'main' ASC NULLS LAST,
  made.schema_name ASC NULLS LAST,
  made.table_name ASC NULLS LAST
