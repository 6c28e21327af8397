-- Look for: values of a bucket are counted: one that was put together may hold a value more than once.

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "counted"."bucket" AS "bucket", "coded"."value" AS "value", "counted"."n" AS "count"
FROM (
  SELECT "bucket", "code_0" AS "code", CAST(COUNT(*) AS BIGINT) AS "n"
  FROM "__sqlanon_rows_in_buckets_1"
  GROUP BY "bucket", "code_0"
) AS "counted"
JOIN "__sqlanon_codes_1" AS "coded" ON "counted"."code" = "coded"."code"
ORDER BY "counted"."bucket" ASC NULLS LAST, "counted"."code" ASC NULLS LAST;
