-- Look for:

INSERT INTO "anon"."release_round" (
  "release_id",
  "round",
  "attribute",
  "level",
  "rows"
)
VALUES
  (?, ?, ?, ?, ?);
