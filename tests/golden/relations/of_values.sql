SELECT "label", SUM("weight") AS "n"
FROM (
  SELECT "bucket" AS "label", "weight"
  FROM (
    SELECT {#1} AS "bucket", "disease" AS "bucketed_0", CAST(1 AS DOUBLE) AS "weight"
    FROM (SELECT * FROM "memory"."main"."hospital_release_2") AS "published"
  ) AS "value"
) AS "value"
GROUP BY "label"
