SELECT
  {#1} AS "bucket", "dob" AS "bucketed_0", "sex" AS "bucketed_1", "zip" AS "bucketed_2", CAST(1 AS DOUBLE) AS "weight"
FROM (SELECT * FROM "memory"."main"."hospital_release_1") AS "published"
