-- Look for: buckets with as many rows and values of each kind are one, with `copies`: 10 bits for each kind, true, false
-- or NULL; the last query counts all rows again from the codes, and would differ if a field had overflowed.

CREATE TEMPORARY TABLE "__sqlanon_alike_1" AS
SELECT "code", MIN("bucket") AS "bucket", COUNT(*) AS "copies"
FROM (
  SELECT "bucket", SUM("code") AS "code"
  FROM (
    SELECT
      "content"."bucket" AS "bucket",
      CAST(1 AS BIGINT) * CASE
        WHEN "content"."part_0" THEN CAST(1 AS BIGINT)
        WHEN NOT "content"."part_0" THEN CAST(1024 AS BIGINT)
        ELSE CAST(1048576 AS BIGINT)
      END AS "code"
    FROM (
      SELECT "row"."bucket" AS "bucket", CAST(("row"."sex" = 'F') AS BOOLEAN) AS "part_0"
      FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "row"
    ) AS "content"
    UNION ALL
    SELECT
      "content"."label" AS "bucket",
      CAST("content"."weight" AS BIGINT) * CAST(1073741824 AS BIGINT) * CASE
        WHEN "content"."part_0" THEN CAST(1 AS BIGINT)
        WHEN NOT "content"."part_0" THEN CAST(1024 AS BIGINT)
        ELSE CAST(1048576 AS BIGINT)
      END AS "code"
    FROM ({content}) AS "content"
  ) AS "code"
  GROUP BY "bucket"
) AS "bucket"
GROUP BY "code";

SELECT
  CAST(SUM(
    (
      ((CAST("code" AS INT128) >> CAST(0 AS INT128)) & CAST(1023 AS INT128)) + (
        (CAST("code" AS INT128) >> CAST(10 AS INT128)) & CAST(1023 AS INT128)
      ) + ((CAST("code" AS INT128) >> CAST(20 AS INT128)) & CAST(1023 AS INT128)) + (
        (CAST("code" AS INT128) >> CAST(30 AS INT128)) & CAST(1023 AS INT128)
      ) + ((CAST("code" AS INT128) >> CAST(40 AS INT128)) & CAST(1023 AS INT128)) + (
        (CAST("code" AS INT128) >> CAST(50 AS INT128)) & CAST(1023 AS INT128)
      )
    ) * "copies"
  ) AS BIGINT)
FROM "__sqlanon_alike_1" AS "alike";
