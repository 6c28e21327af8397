-- Look for: how many rows and values there are, and that each has a bucket, before the codes are added up.

SELECT
  BOOL_AND(CAST(COALESCE(1 >= 0 AND 1 = TRUNC(1) AND NOT "content"."bucket" IS NULL, FALSE) AS BOOLEAN)),
  CAST(SUM(1) AS BIGINT)
FROM (
  SELECT "row"."bucket" AS "bucket", CAST(("row"."sex" = 'F') AS BOOLEAN) AS "part_0"
  FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "row"
) AS "content";

SELECT
  BOOL_AND(
    CAST(COALESCE(
      "content"."weight" >= 0 AND "content"."weight" = TRUNC("content"."weight") AND NOT "content"."label" IS NULL,
      FALSE
    ) AS BOOLEAN)
  ),
  CAST(SUM("content"."weight") AS BIGINT)
FROM ({content}) AS "content";
