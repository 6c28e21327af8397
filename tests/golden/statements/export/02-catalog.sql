-- Look for: that the release has left, and in which format; not where to.

INSERT INTO "anon"."release_export" (
  "release_id", "schema_name", "object_name", "method", "sources", "format", "exported_at"
)
VALUES (?, ?, ?, ?, ?, ?, ?);
