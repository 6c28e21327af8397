-- Look for: buckets with as many rows and values of each kind are one, with `copies`: a number of 15 bits a kind; the
-- last query counts all rows again from the codes, and would differ if a field had overflowed.

CREATE TEMPORARY TABLE "__sqlanon_alike_1" AS
SELECT "code", MIN("bucket") AS "bucket", COUNT(*) AS "copies"
FROM (
  SELECT "bucket", SUM("code") AS "code"
  FROM (
    SELECT "content"."bucket" AS "bucket", "kind"."unit" AS "code"
    FROM "__sqlanon_labelled_1" AS "content"
    JOIN (
      SELECT CAST(1 AS BIGINT) << CAST(("kind" + 0) * 15 AS BIGINT) AS "unit", "part_0"
      FROM "__sqlanon_kind_1" AS "kinds"
    ) AS "kind" ON "content"."part_0" IS NOT DISTINCT FROM "kind"."part_0"
    UNION ALL
    SELECT "content"."label" AS "bucket", CAST("content"."weight" AS BIGINT) * "kind"."unit" AS "code"
    FROM "__sqlanon_value_1" AS "content"
    JOIN (
      SELECT CAST(1 AS BIGINT) << CAST(("kind" + 2) * 15 AS BIGINT) AS "unit", "listed", "part_0"
      FROM "__sqlanon_kind_2" AS "kinds"
    ) AS "kind"
      ON "content"."listed" IS NOT DISTINCT FROM "kind"."listed"
      AND "content"."part_0" IS NOT DISTINCT FROM "kind"."part_0"
  ) AS "code"
  GROUP BY "bucket"
) AS "bucket"
GROUP BY "code";

SELECT
  CAST(SUM(
    (
      ((CAST("code" AS INT128) >> CAST(0 AS INT128)) & CAST(32767 AS INT128)) + (
        (CAST("code" AS INT128) >> CAST(15 AS INT128)) & CAST(32767 AS INT128)
      ) + ((CAST("code" AS INT128) >> CAST(30 AS INT128)) & CAST(32767 AS INT128)) + (
        (CAST("code" AS INT128) >> CAST(45 AS INT128)) & CAST(32767 AS INT128)
      )
    ) * "copies"
  ) AS BIGINT)
FROM "__sqlanon_alike_1" AS "alike";
