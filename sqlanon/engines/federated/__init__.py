"""Two engines as one: rows on Spark, the catalog and summaries in DuckDB."""
