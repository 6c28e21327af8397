-- The streams and what each is made from. The timestamp and the number of the row put them in order, the oldest first.
SELECT created_at, rowid, schema_name, object_name, sources FROM anon.stream
