-- The streams with the source of each, the oldest first, in the order of the timestamp and the number of the row.
SELECT created_at, rowid, schema_name, object_name, sources FROM anon.stream
