-- The streams, the oldest first, and what each is made from.
SELECT schema_name, object_name, sources FROM anon.stream ORDER BY created_at ASC NULLS LAST, rowid ASC NULLS LAST
