-- Look for: the association has as many rows in a group as the fragment has: asked of each fragment by its own groups.

WITH "of_rows" AS ({of_rows("group_1", "hospital_release_association")}), "of_values" AS ({of_values-2("group_id")})
SELECT COUNT(*)
FROM "of_rows"
FULL JOIN "of_values" ON "of_rows"."bucket" IS NOT DISTINCT FROM "of_values"."label"
WHERE "of_rows"."n" IS DISTINCT FROM "of_values"."n";

WITH "of_rows" AS ({of_rows("group_2", "hospital_release_association")}), "of_values" AS ({of_values("group_id")})
SELECT COUNT(*)
FROM "of_rows"
FULL JOIN "of_values" ON "of_rows"."bucket" IS NOT DISTINCT FROM "of_values"."label"
WHERE "of_rows"."n" IS DISTINCT FROM "of_values"."n";
