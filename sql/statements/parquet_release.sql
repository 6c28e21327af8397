-- The path of the Parquet files of a release, by the release's schema and name: the comment of the view that represents
-- it.
SELECT comment
FROM system.main.duckdb_views()
WHERE database_name = system.main.current_database() AND schema_name = $1 AND view_name = $2
  AND system.main.starts_with(comment, 'sqlanon: rows in Parquet at ')
