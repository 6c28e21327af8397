SELECT
  "bucket_0"."label", "bucket_0"."weight", TRUE AS "listed",
  CAST(("bucket_0"."bucketed_0" = 'Pneumonia') AS BOOLEAN) AS "part_0"
FROM (
  SELECT "bucket" AS "label", "bucketed_0", "weight"
  FROM (
    SELECT "bucket" AS "bucket", "value" AS "bucketed_0", CAST("count" AS DOUBLE) AS "weight"
    FROM (SELECT * FROM "memory"."main"."hospital_release_sensitive") AS "published"
  ) AS "bucket"
) AS "bucket_0"
