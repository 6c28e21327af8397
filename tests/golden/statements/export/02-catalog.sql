-- Look for:

INSERT INTO "anon"."release_export" (
  "release_id",
  "schema_name",
  "object_name",
  "method",
  "sources",
  "format",
  "exported_at"
)
VALUES
  (?, ?, ?, ?, ?, ?, ?);
