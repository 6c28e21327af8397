-- Look for: the values of each bucket, counterfeits among them; known_0 says that some are NULL and the others are
-- the same.

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n", MIN(hash("value")) = MAX(hash("value")) AS "same_0",
    MIN(CASE WHEN NOT "value" IS NULL THEN hash("value") END) = MAX(CASE WHEN NOT "value" IS NULL THEN hash("value") END)
    AND COUNT("value") < COUNT(*) AS "known_0"
  FROM (
    SELECT "counted"."bucket" AS "bucket", "coded"."value" AS "value"
    FROM (SELECT "bucket", "code", CAST(1 AS BIGINT) AS "n" FROM "__sqlanon_in_bucket_1") AS "counted"
    JOIN "__sqlanon_value_code_1" AS "coded" ON "counted"."code" = "coded"."code"
    ORDER BY "counted"."bucket" ASC NULLS LAST, "counted"."code" ASC NULLS LAST
  ) AS "planned"
  GROUP BY "bucket"
) AS "class";
