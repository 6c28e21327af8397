-- Look for: the first and the last number of a bucket.

SELECT MIN("bucket"), MAX("bucket")
FROM (
  SELECT "dealt"."bucket" AS "bucket"
  FROM "__sqlanon_rows_in_buckets_1" AS "dealt"
  JOIN "__sqlanon_value_code_1" AS "coded" ON "dealt"."code" = "coded"."code"
  JOIN "__sqlanon_ranges_1" AS "shown" ON "dealt"."bucket" = "shown"."region"
) AS "planned";

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n", MIN(hash("disease")) = MAX(hash("disease")) AS "same_0",
    MIN(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END) = MAX(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END)
    AND COUNT("disease") < COUNT(*) AS "known_0"
  FROM (
    SELECT "coded"."value" AS "disease", "dealt"."bucket" AS "bucket"
    FROM "__sqlanon_rows_in_buckets_1" AS "dealt"
    JOIN "__sqlanon_value_code_1" AS "coded" ON "dealt"."code" = "coded"."code"
    JOIN "__sqlanon_ranges_1" AS "shown" ON "dealt"."bucket" = "shown"."region"
  ) AS "planned"
  GROUP BY "bucket"
) AS "class";
