-- Look for: both fragments have the same number of rows, as one bucket 0: asked of each fragment before anything is
-- estimated.

WITH "of_rows" AS ({of_rows(0, "hospital_release_1")}), "of_values" AS ({of_values-2(0)})
SELECT COUNT(*)
FROM "of_rows"
FULL JOIN "of_values" ON "of_rows"."bucket" IS NOT DISTINCT FROM "of_values"."label"
WHERE "of_rows"."n" IS DISTINCT FROM "of_values"."n";

WITH "of_rows" AS ({of_rows(0, "hospital_release_1")}), "of_values" AS ({of_values(0)})
SELECT COUNT(*)
FROM "of_rows"
FULL JOIN "of_values" ON "of_rows"."bucket" IS NOT DISTINCT FROM "of_values"."label"
WHERE "of_rows"."n" IS DISTINCT FROM "of_values"."n";
