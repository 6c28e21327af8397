-- Look for: what each round chose, level by level, as rows of release_round; all else is written as for one round.

DELETE FROM "anon"."release_taxonomy" WHERE "release_id" = 'the release id' AND "attribute" = 'zip';
INSERT INTO "anon"."release_round" ("release_id", "round", "attribute", "level", "rows") VALUES (?, ?, ?, ?, ?);
