-- Look for: what each round chose, level by level, as rows of release_round; all else is written as for one round.

INSERT INTO "anon"."release_round" ("release_id", "round", "attribute", "level", "rows") VALUES (?, ?, ?, ?, ?);
