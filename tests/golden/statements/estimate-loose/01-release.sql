-- Look for: the association has as many rows in a group as the fragment has: asked of each fragment by its own groups.

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket",
    SUM("n") AS "n"
  FROM (
    SELECT
      "group_1" AS "bucket",
      1 AS "n"
    FROM (
      SELECT
        *
      FROM "memory"."main"."hospital_release_association"
    ) AS "released"
  ) AS "rows"
  GROUP BY
    "bucket"
) AS "rows"
FULL JOIN (
  SELECT
    "label",
    SUM("weight") AS "n"
  FROM (
    SELECT
      "bucket" AS "label",
      "weight"
    FROM (
      SELECT
        "group_id" AS "bucket",
        "dob" AS "bucketed_0",
        "sex" AS "bucketed_1",
        "zip" AS "bucketed_2",
        CAST(1 AS DOUBLE) AS "weight"
      FROM (
        SELECT
          *
        FROM "memory"."main"."hospital_release_1"
      ) AS "published"
    ) AS "value"
  ) AS "values"
  GROUP BY
    "label"
) AS "values"
  ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE
  NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket",
    SUM("n") AS "n"
  FROM (
    SELECT
      "group_2" AS "bucket",
      1 AS "n"
    FROM (
      SELECT
        *
      FROM "memory"."main"."hospital_release_association"
    ) AS "released"
  ) AS "rows"
  GROUP BY
    "bucket"
) AS "rows"
FULL JOIN (
  SELECT
    "label",
    SUM("weight") AS "n"
  FROM (
    SELECT
      "bucket" AS "label",
      "weight"
    FROM (
      SELECT
        "group_id" AS "bucket",
        "disease" AS "bucketed_0",
        CAST(1 AS DOUBLE) AS "weight"
      FROM (
        SELECT
          *
        FROM "memory"."main"."hospital_release_2"
      ) AS "published"
    ) AS "value"
  ) AS "values"
  GROUP BY
    "label"
) AS "values"
  ON "rows"."bucket" IS NOT DISTINCT FROM "values"."label"
WHERE
  NOT "rows"."n" IS NOT DISTINCT FROM "values"."n";
