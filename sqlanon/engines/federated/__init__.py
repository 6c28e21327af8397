"""Two engines as one: rows are on Spark, the catalog and summaries in DuckDB."""
