-- Look for: both fragments have the same number of rows, as one bucket 0: asked of each fragment before anything is
-- estimated.

SELECT
  COUNT(*)
FROM (
  SELECT
    "bucket",
    SUM("n") AS "n"
  FROM (
    SELECT
      0 AS "bucket",
      1 AS "n"
    FROM (
      SELECT
        *
      FROM "memory"."main"."hospital_release_1"
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
        0 AS "bucket",
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
      0 AS "bucket",
      1 AS "n"
    FROM (
      SELECT
        *
      FROM "memory"."main"."hospital_release_1"
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
        0 AS "bucket",
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
