-- Look for: a calendar is one row, its arguments as they were written: labels are computed from values, and no value
-- is stored; names are compared in lower case of ASCII letters only.

DELETE FROM "anon"."hierarchy"
WHERE translate("hierarchy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

INSERT INTO "anon"."hierarchy" ("hierarchy", "kind", "arguments", "options", "query", "height")
VALUES (?, ?, ?, ?, ?, ?);
