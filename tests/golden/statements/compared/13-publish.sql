-- Look for: the methods that were compared are kept with the release, a row each, and REFRESH keeps the chosen one.

INSERT INTO "anon"."release_comparison" (
  "release_id", "position", "method", "arguments", "chosen", "reason", "loss", "error", "suppressed_rows",
  "sampled_rows", "compared_at"
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
