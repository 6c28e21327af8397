-- Look for: rows are those of the association, counted by their pair of groups; nothing else is known of them.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT ROW_NUMBER() OVER () AS "id", *
FROM (
  SELECT "bucket_0", "bucket_1", COUNT(*) AS "n"
  FROM (
    SELECT "row"."group_1" AS "bucket_0", "row"."group_2" AS "bucket_1"
    FROM (SELECT * FROM "memory"."main"."hospital_release_association") AS "row"
  ) AS "labelled"
  GROUP BY "bucket_0", "bucket_1"
) AS "counted";

SELECT COALESCE(SUM(CAST(2 AS DOUBLE) * "values_0"."n" * "values_1"."n"), 0)
FROM "__sqlanon_class_1" AS "class"
JOIN ({values_0("__sqlanon_signature_1")}) AS "values_0" ON "class"."bucket_0" IS NOT DISTINCT FROM "values_0"."label"
JOIN ({values_0("__sqlanon_signature_2")}) AS "values_1" ON "class"."bucket_1" IS NOT DISTINCT FROM "values_1"."label";
