-- Look for: figures are in a table of their own, which no certificate reads.

DELETE FROM "anon"."release_figure"
WHERE "release_id" = ? AND translate("figure", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

INSERT INTO "anon"."release_figure" ("release_id", "figure", "attribute", "value") VALUES (?, ?, ?, ?);
