-- Where the Parquet files of a release are, by its schema and its name: the comment of the view that stands for it.
SELECT comment
FROM system.main.duckdb_views()
WHERE database_name = system.main.current_database() AND schema_name = $1 AND view_name = $2
  AND system.main.starts_with(comment, 'sqlanon: rows in Parquet at ')
