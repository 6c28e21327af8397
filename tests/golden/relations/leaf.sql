SELECT
  "bucket_1"."label", "bucket_1"."weight", TRUE AS "listed",
  CAST(("bucket_1"."bucketed_0" = 'Pneumonia') AS BOOLEAN) AS "part_0"
FROM (
  SELECT "bucket" AS "label", "bucketed_0", "weight"
  FROM (
    SELECT {#1} AS "bucket", "disease" AS "bucketed_0", CAST(1 AS DOUBLE) AS "weight"
    FROM (SELECT * FROM "memory"."main"."hospital_release_2") AS "published"
  ) AS "bucket"
) AS "bucket_1"
