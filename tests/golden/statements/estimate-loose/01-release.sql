-- Look for: the association has as many rows in a group as the fragment has: asked of each fragment by its own groups.

SELECT COUNT(*)
FROM ({rows("group_1", "hospital_release_association")}) AS "rows"
FULL JOIN ({values-2("group_id")}) AS "values" ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";

SELECT COUNT(*)
FROM ({rows("group_2", "hospital_release_association")}) AS "rows"
FULL JOIN ({values("group_id")}) AS "values" ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";
