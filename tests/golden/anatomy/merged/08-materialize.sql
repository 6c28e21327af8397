-- Look for: values of a bucket are counted: one that was put together may hold a value more than once.

CREATE TABLE "main"."__sqlanon_candidate_2" AS
SELECT
  "held"."bucket" AS "bucket",
  "coded"."value" AS "value",
  "held"."n" AS "count"
FROM (
  SELECT
    "bucket",
    "code_0" AS "code",
    CAST(COUNT(*) AS BIGINT) AS "n"
  FROM "__sqlanon_places_1"
  GROUP BY
    "bucket",
    "code_0"
) AS "held"
JOIN "__sqlanon_codes_1" AS "coded"
  ON "held"."code" = "coded"."code"
ORDER BY
  "held"."bucket" ASC NULLS LAST,
  "held"."code" ASC NULLS LAST;
