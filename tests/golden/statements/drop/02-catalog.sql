-- Look for: every table of the schema anon that has rows of a release; release_export is not among them: what has left
-- stays known.

DELETE FROM "anon"."release" WHERE "release_id" = ?;
DELETE FROM "anon"."release_attribute" WHERE "release_id" = ?;
DELETE FROM "anon"."release_object" WHERE "release_id" = ?;
DELETE FROM "anon"."release_recoding" WHERE "release_id" = ?;
DELETE FROM "anon"."release_taxonomy" WHERE "release_id" = ?;
DELETE FROM "anon"."release_value_range" WHERE "release_id" = ?;
DELETE FROM "anon"."release_known_triple" WHERE "release_id" = ?;
DELETE FROM "anon"."release_round" WHERE "release_id" = ?;
DELETE FROM "anon"."release_comparison" WHERE "release_id" = ?;
DELETE FROM "anon"."release_choice" WHERE "release_id" = ?;
DELETE FROM "anon"."measurement" WHERE "release_id" = ?;
DELETE FROM "anon"."query_error" WHERE "release_id" = ?;
DELETE FROM "anon"."release_figure" WHERE "release_id" = ?;
