-- Look for:

DELETE FROM "anon"."hierarchy"
WHERE
  translate("hierarchy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

INSERT INTO "anon"."hierarchy" (
  "hierarchy",
  "kind",
  "arguments",
  "options",
  "query",
  "height"
)
VALUES
  (?, ?, ?, ?, ?, ?);
