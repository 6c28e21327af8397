-- Look for: what a definition has beside its own row: the queries of a workload and their errors, the values of a
-- hierarchy; releases keep what they were made of.

DELETE FROM "anon"."workload"
WHERE translate("workload", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."query_error"
WHERE translate("workload", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;

DELETE FROM "anon"."hierarchy_value"
WHERE translate("hierarchy", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?;
