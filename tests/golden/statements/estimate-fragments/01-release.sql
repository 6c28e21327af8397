-- Look for: both fragments have the same number of rows, as one bucket 0: asked of each fragment before anything is
-- estimated.

SELECT COUNT(*)
FROM ({rows(0, "hospital_release_1")}) AS "rows"
FULL JOIN ({values-2(0)}) AS "values" ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";

SELECT COUNT(*)
FROM ({rows(0, "hospital_release_1")}) AS "rows"
FULL JOIN ({values(0)}) AS "values" ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";
