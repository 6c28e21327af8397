-- Look for: rows of an older policy of that name go first, from all four tables; the source is stored as a name, and
-- nothing of its rows.

DELETE FROM "anon"."policy" WHERE translate("policy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."policy_attribute"
WHERE translate("policy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."policy_requirement"
WHERE translate("policy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."policy_constraint"
WHERE translate("policy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."policy_related_table"
WHERE translate("policy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

INSERT INTO "anon"."policy" (
  "policy", "source", "query", "against", "against_query", "bound", "against_bound", "pivoted", "sample", "joined"
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

INSERT INTO "anon"."policy_attribute" (
  "policy", "position", "attribute", "role", "hierarchy", "min_level", "max_level", "weight", "pseudonym",
  "key_variable", "sampling_weight", "mask", "hide", "related_table"
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

INSERT INTO "anon"."policy_requirement" ("policy", "position", "model", "arguments") VALUES (?, ?, ?, ?);
