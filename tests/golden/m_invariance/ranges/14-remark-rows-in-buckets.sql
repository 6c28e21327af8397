-- Look for: the first and the last number of a bucket.

SELECT
  MIN("bucket"),
  MAX("bucket")
FROM (
  SELECT
    "dealt"."bucket" AS "bucket"
  FROM "__sqlanon_rows_in_buckets_1" AS "dealt"
  JOIN "__sqlanon_value_code_1" AS "coded"
    ON "dealt"."code" = "coded"."code"
  JOIN "__sqlanon_ranges_1" AS "shown"
    ON "dealt"."bucket" = "shown"."region"
) AS "planned";
