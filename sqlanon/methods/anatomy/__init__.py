"""METHOD anatomy: rows in buckets, sensitive values in tables of their own."""
